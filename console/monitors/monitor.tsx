import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { queryClient } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { NotFound } from '../layout/not-found.tsx'
import { announce } from '../ui/announce.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button, ButtonLink, IconButton } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Menu } from '../ui/menu.tsx'
import { Page } from '../ui/page.tsx'
import { RenderLater } from '../ui/render-later.tsx'
import { Await, FaultNote, Loading } from '../ui/states.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Time } from '../ui/time.tsx'
import { AgreementPart } from './agreement.tsx'
import { Definition } from './definition.tsx'
import { MissingResults } from './missing-results.tsx'
import styles from './monitor.module.css'
import { type Monitor as MonitorData, monitorOptions } from './queries.ts'
import { Results } from './results.tsx'
import { RunsPart } from './runs.tsx'
import { kindNames, type MonitorTab } from './search.ts'
import { TrendSection } from './trend.tsx'
import { VersionsPart } from './versions.tsx'

const AlignmentPart = lazy(async () => (await import('./alignment/alignment.tsx')).AlignmentPart, <Loading lines={6} />)

const Actions = ({ monitor: { id, name, kind, enabled, requireGain } }: { monitor: MonitorData }) => {
  const navigate = useNavigate()
  const isAdmin = useMay('admin')
  const [deleting, setDeleting] = useState(false)
  const change = useMutation({
    mutationFn: () => answer(api.PATCH('/v1/monitors/{id}', { params: { path: { id } }, body: { enabled: !enabled } })),
    onSuccess: async (monitor) => {
      await queryClient.invalidateQueries({ queryKey: ['monitors'] })
      announce(monitor.enabled ? `“${name}” enabled` : `“${name}” disabled`)
    },
  })
  const gate = useMutation({
    mutationFn: () =>
      answer(api.PATCH('/v1/monitors/{id}', { params: { path: { id } }, body: { requireGain: !requireGain } })),
    onSuccess: async (monitor) => {
      await queryClient.invalidateQueries({ queryKey: ['monitors'] })
      announce(
        monitor.requireGain ? `“${name}” now requires a proven gain` : `“${name}” no longer requires a proven gain`,
      )
    },
  })
  return (
    <>
      {change.error && <FaultNote error={change.error} />}
      {gate.error && <FaultNote error={gate.error} />}
      <ButtonLink look="primary" to="/monitors/$id/edit" params={{ id }}>
        Edit
      </ButtonLink>
      <ButtonLink to="/alerts/rules/new" search={{ monitorId: id }}>
        Create alert
      </ButtonLink>
      <Button busy={change.isPending} onClick={() => change.mutate()}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      <Menu
        trigger={<IconButton label="More actions" icon={<Ellipsis />} />}
        entries={[
          ...(kind === 'judge' && isAdmin
            ? [
                {
                  label: requireGain ? 'Stop requiring a proven gain' : 'Require a proven gain',
                  onSelect: () => gate.mutate(),
                },
              ]
            : []),
          { label: 'Delete monitor', danger: true, onSelect: () => setDeleting(true) },
        ]}
      />
      <Confirm
        title={`Delete “${name}”?`}
        action="Delete monitor"
        typed={name}
        open={deleting}
        onClose={() => setDeleting(false)}
        run={async () => {
          await api.DELETE('/v1/monitors/{id}', { params: { path: { id } } })
          await navigate({ to: '/monitors' })
          queryClient.removeQueries({ queryKey: ['monitors', id] })
          await queryClient.invalidateQueries({ queryKey: ['monitors'] })
          announce(`“${name}” deleted`)
        }}
      >
        <p>This permanently deletes all of its versions and results.</p>
        <p>
          Conversations, reviews, and findings are kept. To stop evaluating new conversations, disable the monitor
          instead.
        </p>
      </Confirm>
    </>
  )
}

const Parts = ({ monitor }: { monitor: MonitorData }) => {
  const { tab = 'found' } = useSearch({ from: '/app/monitors/$id' })
  const navigate = useNavigate({ from: '/monitors/$id' })
  const tabs: { value: MonitorTab; label: string; content: React.ReactNode }[] = [
    { value: 'found', label: 'Results', content: <Results monitor={monitor} /> },
    { value: 'agreement', label: 'Agreement with reviewers', content: <AgreementPart monitor={monitor} /> },
    ...(monitor.kind === 'judge'
      ? [{ value: 'alignment' as const, label: 'Alignment', content: <AlignmentPart monitor={monitor} /> }]
      : []),
    { value: 'versions', label: 'Versions', content: <VersionsPart monitor={monitor} /> },
    ...(monitor.kind === 'external'
      ? []
      : [{ value: 'runs' as const, label: 'Runs', content: <RunsPart monitor={monitor} /> }]),
  ]
  return (
    <div className={styles.parts}>
      <Tabs
        label="Monitor details"
        value={tabs.some(({ value }) => value === tab) ? tab : 'found'}
        onChange={(next) =>
          void navigate({
            search: (search) => ({ ...search, tab: next as MonitorTab }),
            replace: true,
            resetScroll: false,
          })
        }
        tabs={tabs}
      />
    </div>
  )
}

export const Monitor = () => {
  const { id } = useParams({ from: '/app/monitors/$id' })
  const query = useQuery(monitorOptions(id))
  const mayWrite = useMay('member')
  const { data: monitor } = query
  if (isNotFound(query.error)) return <NotFound />
  return (
    <Page
      title={monitor?.name ?? 'Monitor'}
      above={<Link to="/monitors">Monitors</Link>}
      context={
        monitor && (
          <span className={styles.context}>
            <Badge tone={monitor.enabled ? 'accent' : 'plain'}>{monitor.enabled ? 'Enabled' : 'Disabled'}</Badge>
            <span>
              {kindNames[monitor.kind]}, version {monitor.currentVersion.number} since{' '}
              <Time at={monitor.currentVersion.createdAt} />
            </span>
            {monitor.description && <span>{monitor.description}</span>}
          </span>
        )
      }
      actions={monitor && mayWrite && <Actions monitor={monitor} />}
    >
      <Await query={query} lines={8}>
        {(data) => (
          <>
            <MissingResults monitor={data} />
            <TrendSection monitor={data} />
            <RenderLater>
              <Definition monitor={data} />
              <Parts monitor={data} />
            </RenderLater>
          </>
        )}
      </Await>
    </Page>
  )
}
