import { setTimeout as pause } from 'node:timers/promises'
import { agentGroups } from './agent-groups/routes.ts'
import { agents } from './agents/routes.ts'
import { monitorAgreement } from './agreement/routes.ts'
import { alertIncidents } from './alert-incidents/routes.ts'
import { alertRules } from './alert-rules/routes.ts'
import { monitorAlignments } from './alignments/routes.ts'
import { analytics } from './analytics/routes.ts'
import { apiKeys } from './api-keys/routes.ts'
import { auditEvents } from './audit-events/routes.ts'
import { boards } from './boards/routes.ts'
import { boardShares } from './boards/shares/routes.ts'
import { sharedBoards } from './boards/shares/shared-board.ts'
import { bucketConversations } from './buckets/conversations/routes.ts'
import { bucketProgress } from './buckets/progress/routes.ts'
import { buckets } from './buckets/routes.ts'
import { bulkActions } from './bulk-actions/routes.ts'
import { companies } from './companies/routes.ts'
import { erasure } from './conversations/erasure/routes.ts'
import { metadataKeys } from './conversations/metadata-keys/routes.ts'
import { customerMetrics } from './conversations/metrics/routes.ts'
import { recordings } from './conversations/recordings/routes.ts'
import { conversations } from './conversations/routes.ts'
import { conversationSearch } from './conversations/search/routes.ts'
import { conversationTags } from './conversations/tags/routes.ts'
import type { ServiceDeps } from './deps.ts'
import { destinationDeliveries } from './destinations/deliveries/routes.ts'
import { destinations } from './destinations/routes.ts'
import { embeddings } from './embeddings/routes.ts'
import { evaluationRuns } from './evaluations/runs/routes.ts'
import { monitorTrials } from './evaluations/trials/routes.ts'
import { experimentExports } from './experiments/exports/routes.ts'
import { monitorGroups } from './experiments/groups/routes.ts'
import { experiments } from './experiments/routes.ts'
import { experimentRuns } from './experiments/runs/routes.ts'
import { exportSchedules } from './export-schedules/routes.ts'
import { exportScheduleRuns } from './export-schedules/runs/routes.ts'
import { conversationExports } from './exports/conversations/routes.ts'
import { monitorExports } from './exports/routes.ts'
import { failedJobs } from './failed-jobs/routes.ts'
import { findingConversations } from './findings/attachments/routes.ts'
import { findingComments } from './findings/comments/routes.ts'
import { findings } from './findings/routes.ts'
import { similarFindings } from './findings/similar/routes.ts'
import { health } from './health/routes.ts'
import { deliveries } from './integrations/deliveries/routes.ts'
import { migrationIntakes } from './integrations/migration/routes.ts'
import { traces } from './integrations/otlp/routes.ts'
import { unreadTraces } from './integrations/otlp/unread.ts'
import { integrations } from './integrations/routes.ts'
import { integrationSyncs } from './integrations/sync/routes.ts'
import { mcp } from './mcp/routes.ts'
import { members } from './members/routes.ts'
import { modelProviders } from './model-providers/routes.ts'
import { monitorResults } from './monitor-results/routes.ts'
import { monitors } from './monitors/routes.ts'
import { monitorTemplates } from './monitors/templates/routes.ts'
import { notifications } from './notifications/routes.ts'
import { isSuspended } from './organizations/queries.ts'
import { organizations } from './organizations/routes.ts'
import { ownershipRules } from './ownership-rules/routes.ts'
import { checkOwnStore } from './platform/blobs/sweep.ts'
import { isPassingDatabaseError } from './platform/db/errors.ts'
import { pendingMigrations } from './platform/db/migrate.ts'
import { ApiError } from './platform/errors.ts'
import { addDocumentation } from './platform/http/documentation.ts'
import { addFiles } from './platform/http/files.ts'
import { addHealth, type ReadinessChecks } from './platform/http/health.ts'
import { type App, openHttp } from './platform/http/http.ts'
import type { Overload } from './platform/http/overload.ts'
import { addPages } from './platform/http/pages.ts'
import { regions } from './regions/routes.ts'
import { reviewAdjudication } from './reviews/adjudication/routes.ts'
import { reviewClaims } from './reviews/claims/routes.ts'
import { reviews } from './reviews/routes.ts'
import { reviewScorecards } from './reviews/scorecards/routes.ts'
import { savedViews } from './saved-views/routes.ts'
import { changeAddress } from './sign-in/address/routes.ts'
import { forgottenPassword } from './sign-in/forgotten/routes.ts'
import { ownInvitations } from './sign-in/invitations/routes.ts'
import { signInByOidc } from './sign-in/oidc/routes.ts'
import { signIn } from './sign-in/routes.ts'
import { sound } from './sound/routes.ts'
import { soundRuns } from './sound/runs/routes.ts'
import { stream } from './stream/routes.ts'
import { topics } from './topics/routes.ts'
import { monitorComparison } from './trends/comparison/routes.ts'
import { monitorTrend } from './trends/routes.ts'
import { webhookDeliveries } from './webhooks/deliveries/routes.ts'
import { webhookEndpoints } from './webhooks/routes.ts'

const resources = [
  organizations,
  members,
  signIn,
  signInByOidc,
  ownInvitations,
  changeAddress,
  forgottenPassword,
  apiKeys,
  auditEvents,
  companies,
  agents,
  agentGroups,
  conversations,
  conversationSearch,
  metadataKeys,
  conversationTags,
  bulkActions,
  ownershipRules,
  savedViews,
  recordings,
  sound,
  soundRuns,
  erasure,
  customerMetrics,
  modelProviders,
  embeddings,
  topics,
  monitors,
  monitorTemplates,
  monitorTrials,
  evaluationRuns,
  monitorResults,
  monitorExports,
  conversationExports,
  exportSchedules,
  exportScheduleRuns,
  experiments,
  experimentRuns,
  experimentExports,
  monitorGroups,
  findings,
  similarFindings,
  findingConversations,
  findingComments,
  regions,
  buckets,
  bucketConversations,
  bucketProgress,
  reviews,
  reviewScorecards,
  reviewClaims,
  reviewAdjudication,
  monitorTrend,
  monitorComparison,
  monitorAgreement,
  monitorAlignments,
  analytics,
  boards,
  boardShares,
  sharedBoards,
  integrations,
  integrationSyncs,
  deliveries,
  traces,
  unreadTraces,
  migrationIntakes,
  webhookEndpoints,
  webhookDeliveries,
  alertRules,
  alertIncidents,
  destinations,
  destinationDeliveries,
  health,
  failedJobs,
  notifications,
  stream,
  mcp,
]

/** The sections of the API, in the order in which its documents show them. */
const areas: [name: string, description: string][] = [
  ['Conversations', 'Calls, chats, and voicemails, with their transcripts and recordings.'],
  ['Agents', 'Voice and text agents, their versions, and agent groups.'],
  ['Companies', 'The clients or brands your agents work for, and their logos.'],
  ['Monitors', 'Questions about each conversation, and their results.'],
  ['Models', 'The model providers that judges use, with their keys, limits, and prices.'],
  ['Analytics', 'Conversation counts, rates, and percentiles, by group and over time, and boards of charts.'],
  ['Topics', 'What customers ask for, found without monitors.'],
  ['Findings', 'Issues worth a closer look, with the conversations that show them.'],
  ['Buckets', 'Sets of conversations to review, filled by hand, by a filter, or by random sampling.'],
  ['Reviews', 'Human judgments of conversations and of monitor results.'],
  ['Customer Metrics', 'Your own measurements, attached to conversations.'],
  ['Experiments', 'Comparisons of two prompt versions, with traffic that you route.'],
  ['Alerts', 'Alert rules, their incidents, and the destinations they notify.'],
  ['Notifications', 'Your inbox of incidents, assignments, mentions, exports, and review requests.'],
  ['Events', 'A live stream of changes, without polling.'],
  ['Webhooks', 'Signed event notifications to your endpoints, and their delivery log.'],
  ['Integrations', 'Providers that send finished conversations, and OpenTelemetry traces.'],
  ['Files', 'Stored files, behind signed links.'],
  ['Organizations', 'Provisioning with a service key, and your organization’s settings.'],
  ['Members', 'The people in your organization and their roles.'],
  ['API Keys', 'API keys. Each key acts as the member who created it.'],
  ['Sign-in', 'Sessions and invitations. A session can do what its member’s API key can.'],
  ['Audit Events', 'A record of who did what, and when.'],
  ['Operations', 'Health checks and metrics.'],
]

const databasePatienceMs = 2_000

const checksOf = (deps: ServiceDeps): ReadinessChecks => ({
  database: async () => {
    await deps.db.selectFrom('organizations').select('id').limit(1).execute()
  },
  migrations: async () => {
    const pending = await pendingMigrations(deps.db)
    if (pending.length > 0) throw new ApiError('unavailable', `Migrations not applied yet: ${pending.join(', ')}`)
  },
  storage: async () => {
    await deps.blobs.check()
    // If the database does not respond, only the database check fails, not this one.
    const isOwn = checkOwnStore(deps).catch((error: unknown) => {
      if (!isPassingDatabaseError(error)) throw error
    })
    await Promise.race([isOwn, pause(databasePatienceMs, undefined, { ref: false })])
  },
})

export const buildApp = (deps: ServiceDeps, { overload }: { overload?: Overload } = {}): Promise<App> =>
  openHttp({ ...deps, areas, ...(overload && { overload }) }, (app) => {
    for (const addRoutes of resources) addRoutes(app, deps)
    addFiles(app, { blobs: deps.blobs, isOpen: async (org) => !(await isSuspended(deps.db, org)) })
    addPages(app, deps)
    addDocumentation(app)
    addHealth(app, { ...deps, checks: checksOf(deps) })
  })

/** Serves the health checks of a process without the role `http`. Such a process is ready when it runs jobs. */
export const buildHealthApp = (deps: ServiceDeps): Promise<App> => {
  const jobs = async () => {
    if (!deps.jobs.isWorking()) throw new ApiError('unavailable', 'This process is not running jobs.')
  }
  return openHttp(deps, (app) => addHealth(app, { ...deps, checks: { ...checksOf(deps), jobs } }))
}
