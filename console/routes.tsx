// All pages and their paths. Each page's folder parses its query parameters.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { readAgentSearch, readAgentsSearch } from './agents/search.ts'
import { readAlertsSearch, readNewRuleSearch } from './alerts/search.ts'
import { api } from './api/client.ts'
import { Fault } from './api/fault.ts'
import { queryClient } from './api/queries.ts'
import { meOptions } from './api/session.ts'
import { readBoardSearch } from './boards/search.ts'
import { readBucketSearch, readBucketsSearch } from './buckets/search.ts'
import { readCompareSearch } from './compare/search.ts'
import { readConversationSearch, readConversationsSearch } from './conversations/search.ts'
import { readExperimentSearch } from './experiments/search.ts'
import { readExportSearch } from './exports/search.ts'
import { readRangeSearch } from './filters/range-search.ts'
import { readFindingsSearch } from './findings/search.ts'
import { readStartSearch } from './first-run/search.ts'
import { App } from './layout/app.tsx'
import { NotFound, PageFault } from './layout/not-found.tsx'
import { monitorOptions } from './monitors/queries.ts'
import { readMonitorSearch, readNewMonitorSearch, readTemplatesSearch } from './monitors/search.ts'
import { readNotificationsSearch } from './notifications/search.ts'
import { readRoomSearch } from './review/search.ts'
import { readSettingsSearch } from './settings/search.ts'
import { readInvitationsSearch, readSignInSearch } from './sign-in/search.ts'
import { readTopicsSearch } from './topics/search.ts'
import { Loading } from './ui/states.tsx'

const root = createRootRoute({ notFoundComponent: NotFound })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: readSignInSearch,
  component: lazyRouteComponent(() => import('./sign-in/sign-in.tsx'), 'SignIn'),
})

const welcome = createRoute({
  getParentRoute: () => root,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./sign-in/welcome.tsx'), 'Welcome'),
})

const outside = createRoute({
  getParentRoute: () => root,
  path: '/outside',
  component: lazyRouteComponent(() => import('./sign-in/no-access.tsx'), 'NoAccess'),
})

const invitations = createRoute({
  getParentRoute: () => root,
  path: '/invitations',
  validateSearch: readInvitationsSearch,
  component: lazyRouteComponent(() => import('./sign-in/invitations.tsx'), 'Invitations'),
})

const confirmAddress = createRoute({
  getParentRoute: () => root,
  path: '/confirm-address',
  component: lazyRouteComponent(() => import('./sign-in/confirm-address.tsx'), 'ConfirmAddress'),
})

const shared = createRoute({
  getParentRoute: () => root,
  path: '/shared',
  component: lazyRouteComponent(() => import('./shared/shared-board.tsx'), 'SharedBoard'),
})

const isSignedIn = (): Promise<boolean> =>
  api.GET('/auth/organizations').then(
    () => true,
    () => false,
  )

/** All pages that require a session. */
const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: App,
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(meOptions)
    } catch (error) {
      const status = error instanceof Fault ? error.status : 0
      // This page explains why a signed-in person has no access.
      if (status === 403 || (status === 401 && (await isSignedIn()))) throw redirect({ to: '/outside' })
      if (status === 401) throw redirect({ to: '/sign-in', search: { to: location.href } })
      throw error
    }
  },
})

const page = <const Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => app, path, component })

const overview = createRoute({
  getParentRoute: () => app,
  path: '/',
  validateSearch: readRangeSearch,
  component: lazyRouteComponent(() => import('./overview/overview.tsx'), 'Overview'),
})
const start = createRoute({
  getParentRoute: () => app,
  path: '/start',
  validateSearch: readStartSearch,
  component: lazyRouteComponent(() => import('./first-run/start.tsx'), 'Start'),
})
const conversations = createRoute({
  getParentRoute: () => app,
  path: '/conversations',
  validateSearch: readConversationsSearch,
  component: lazyRouteComponent(() => import('./conversations/conversations.tsx'), 'Conversations'),
})
const conversation = createRoute({
  getParentRoute: () => app,
  path: '/conversations/$id',
  validateSearch: readConversationSearch,
  component: lazyRouteComponent(() => import('./conversations/conversation.tsx'), 'Conversation'),
})
const topics = createRoute({
  getParentRoute: () => app,
  path: '/topics',
  validateSearch: readTopicsSearch,
  component: lazyRouteComponent(() => import('./topics/topics.tsx'), 'Topics'),
})
const topic = page(
  '/topics/$id',
  lazyRouteComponent(() => import('./topics/topic.tsx'), 'Topic'),
)
const boards = page(
  '/boards',
  lazyRouteComponent(() => import('./boards/boards.tsx'), 'Boards'),
)
const board = createRoute({
  getParentRoute: () => app,
  path: '/boards/$id',
  validateSearch: readBoardSearch,
  component: lazyRouteComponent(() => import('./boards/board.tsx'), 'Board'),
})
const boardChart = page(
  '/boards/$id/charts/$chartId',
  lazyRouteComponent(() => import('./boards/chart-editor.tsx'), 'ChartEditor'),
)
const compare = createRoute({
  getParentRoute: () => app,
  path: '/compare',
  validateSearch: readCompareSearch,
  component: lazyRouteComponent(() => import('./compare/compare.tsx'), 'Compare'),
})
const monitors = page(
  '/monitors',
  lazyRouteComponent(() => import('./monitors/monitors.tsx'), 'Monitors'),
)
const newMonitor = createRoute({
  getParentRoute: () => app,
  path: '/monitors/new',
  validateSearch: readNewMonitorSearch,
  component: lazyRouteComponent(() => import('./monitors/editor.tsx'), 'NewMonitor'),
})
const monitorTemplates = createRoute({
  getParentRoute: () => app,
  path: '/monitors/templates',
  validateSearch: readTemplatesSearch,
  component: lazyRouteComponent(() => import('./monitors/templates.tsx'), 'Templates'),
})
const monitor = createRoute({
  getParentRoute: () => app,
  path: '/monitors/$id',
  validateSearch: readMonitorSearch,
  component: lazyRouteComponent(() => import('./monitors/monitor.tsx'), 'Monitor'),
  // Visiting a page requests its first data before it is rendered. Hovering over a link only preloads the page's code.
  loader: ({ params: { id }, preload }) => {
    if (!preload) void queryClient.prefetchQuery(monitorOptions(id))
  },
})
const editMonitor = page(
  '/monitors/$id/edit',
  lazyRouteComponent(() => import('./monitors/editor.tsx'), 'EditMonitor'),
)
const exportsList = page(
  '/exports',
  lazyRouteComponent(() => import('./exports/exports.tsx'), 'Exports'),
)
const exportSchedules = page(
  '/exports/schedules',
  lazyRouteComponent(() => import('./export-schedules/schedules.tsx'), 'Schedules'),
)
const newExportSchedule = createRoute({
  getParentRoute: () => app,
  path: '/exports/schedules/new',
  validateSearch: readExportSearch,
  component: lazyRouteComponent(() => import('./export-schedules/schedule-form.tsx'), 'NewSchedule'),
})
const exportSchedule = page(
  '/exports/schedules/$id',
  lazyRouteComponent(() => import('./export-schedules/schedule.tsx'), 'Schedule'),
)
const editExportSchedule = page(
  '/exports/schedules/$id/edit',
  lazyRouteComponent(() => import('./export-schedules/schedule-form.tsx'), 'EditSchedule'),
)
const newExport = createRoute({
  getParentRoute: () => app,
  path: '/exports/new',
  validateSearch: readExportSearch,
  component: lazyRouteComponent(() => import('./exports/new-export.tsx'), 'NewExport'),
})
const findings = createRoute({
  getParentRoute: () => app,
  path: '/findings',
  validateSearch: readFindingsSearch,
  component: lazyRouteComponent(() => import('./findings/findings.tsx'), 'Findings'),
})
const finding = page(
  '/findings/$id',
  lazyRouteComponent(() => import('./findings/finding.tsx'), 'Finding'),
)
const alerts = createRoute({
  getParentRoute: () => app,
  path: '/alerts',
  validateSearch: readAlertsSearch,
  component: lazyRouteComponent(() => import('./alerts/alerts.tsx'), 'Alerts'),
})
const newAlertRule = createRoute({
  getParentRoute: () => app,
  path: '/alerts/rules/new',
  validateSearch: readNewRuleSearch,
  component: lazyRouteComponent(() => import('./alerts/rule-form.tsx'), 'NewRule'),
})
const alertRule = page(
  '/alerts/rules/$id',
  lazyRouteComponent(() => import('./alerts/rule.tsx'), 'AlertRule'),
)
const editAlertRule = page(
  '/alerts/rules/$id/edit',
  lazyRouteComponent(() => import('./alerts/rule-form.tsx'), 'EditRule'),
)
const alertIncident = page(
  '/alerts/incidents/$id',
  lazyRouteComponent(() => import('./alerts/incident.tsx'), 'AlertIncident'),
)
const notifications = createRoute({
  getParentRoute: () => app,
  path: '/notifications',
  validateSearch: readNotificationsSearch,
  component: lazyRouteComponent(() => import('./notifications/notifications.tsx'), 'Notifications'),
})
const review = page(
  '/review',
  lazyRouteComponent(() => import('./review/review.tsx'), 'Review'),
)
const room = createRoute({
  getParentRoute: () => app,
  path: '/review/$bucketId',
  validateSearch: readRoomSearch,
  component: lazyRouteComponent(() => import('./review/room.tsx'), 'Room'),
})
const buckets = createRoute({
  getParentRoute: () => app,
  path: '/buckets',
  validateSearch: readBucketsSearch,
  component: lazyRouteComponent(() => import('./buckets/buckets.tsx'), 'Buckets'),
})
const bucket = createRoute({
  getParentRoute: () => app,
  path: '/buckets/$id',
  validateSearch: readBucketSearch,
  component: lazyRouteComponent(() => import('./buckets/bucket.tsx'), 'Bucket'),
})
const experiments = page(
  '/experiments',
  lazyRouteComponent(() => import('./experiments/experiments.tsx'), 'Experiments'),
)
const newExperiment = page(
  '/experiments/new',
  lazyRouteComponent(() => import('./experiments/launch.tsx'), 'Launch'),
)
const experiment = createRoute({
  getParentRoute: () => app,
  path: '/experiments/$id',
  validateSearch: readExperimentSearch,
  component: lazyRouteComponent(() => import('./experiments/experiment.tsx'), 'Experiment'),
})
const agents = createRoute({
  getParentRoute: () => app,
  path: '/agents',
  validateSearch: readAgentsSearch,
  component: lazyRouteComponent(() => import('./agents/agents.tsx'), 'Agents'),
})
const agent = createRoute({
  getParentRoute: () => app,
  path: '/agents/$id',
  validateSearch: readAgentSearch,
  component: lazyRouteComponent(() => import('./agents/agent.tsx'), 'Agent'),
})
const companies = page(
  '/companies',
  lazyRouteComponent(() => import('./companies/companies.tsx'), 'Companies'),
)
const company = page(
  '/companies/$id',
  lazyRouteComponent(() => import('./companies/company.tsx'), 'Company'),
)
const settings = page(
  '/settings',
  lazyRouteComponent(() => import('./settings/settings.tsx'), 'Settings'),
)
const settingsPart = createRoute({
  getParentRoute: () => app,
  path: '/settings/$part',
  validateSearch: readSettingsSearch,
  component: lazyRouteComponent(() => import('./settings/settings.tsx'), 'Settings'),
})

const nowhere = createRoute({ getParentRoute: () => app, path: '$', component: NotFound })

const routeTree = root.addChildren([
  signIn,
  welcome,
  outside,
  invitations,
  confirmAddress,
  shared,
  app.addChildren([
    overview,
    start,
    conversations,
    conversation,
    topics,
    topic,
    boards,
    board,
    boardChart,
    compare,
    monitors,
    monitorTemplates,
    newMonitor,
    monitor,
    editMonitor,
    exportsList,
    newExport,
    exportSchedules,
    newExportSchedule,
    exportSchedule,
    editExportSchedule,
    findings,
    finding,
    alerts,
    newAlertRule,
    alertRule,
    editAlertRule,
    alertIncident,
    notifications,
    review,
    room,
    buckets,
    bucket,
    experiments,
    newExperiment,
    experiment,
    agents,
    agent,
    companies,
    company,
    settings,
    settingsPart,
    nowhere,
  ]),
])

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  // Loaders run again on each visit.
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 200,
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageFault,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
  // Pages only see the query parameters that their folder parses.
  search: { strict: true },
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
