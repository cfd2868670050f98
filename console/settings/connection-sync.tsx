import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { formatCount, plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Facts, Section } from '../ui/page.tsx'
import { Await, Empty, FaultNote } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import {
  type IntegrationSync,
  type IntegrationSyncGap,
  integrationSyncGapsOptions,
  integrationSyncOptions,
  refresh,
} from './queries.ts'
import styles from './settings.module.css'
import { SyncDialog } from './sync-dialog.tsx'

const tones: Record<IntegrationSync['state'], Tone> = {
  waiting: 'clear',
  running: 'accent',
  off: 'plain',
  paused: 'failed',
}
const names: Record<IntegrationSync['state'], string> = {
  waiting: 'Enabled',
  running: 'Running',
  off: 'Disabled',
  paused: 'Paused',
}

type Counts = { listed: number; stored: number; filled: number; failed: number }

/** Returns the number of calls that the platform listed, and the number of missing calls. */
const describeCounts = ({ listed, filled, failed }: Counts): string => {
  if (listed + filled + failed === 0) return 'No new calls'
  const lacking = [
    ...(filled > 0 ? [`${formatCount(filled)} backfilled`] : []),
    ...(failed > 0 ? [`${formatCount(failed)} still missing`] : []),
  ]
  return [plural(listed, 'call'), ...(lacking.length > 0 ? lacking : ['none missing'])].join(', ')
}

const LastRun = ({ run }: { run: NonNullable<IntegrationSync['lastRun']> }) => (
  <>
    <Time at={run.startedAt} ago />: {run.status === 'failed' ? run.reason : describeCounts(run)}
  </>
)

const factsOf = (sync: IntegrationSync): [string, ReactNode][] => {
  const { state, pausedReason, completeUntil, lastRun, nextRunAt, last30Days } = sync
  return [
    [
      'Status',
      <span key="state">
        <Badge tone={tones[state]}>{names[state]}</Badge> {pausedReason}
      </span>,
    ],
    ['Complete until', <Time key="until" at={completeUntil} />],
    ['Last run', lastRun ? <LastRun key="last" run={lastRun} /> : 'None yet'],
    ...(nextRunAt ? [['Next run', <Time key="next" at={nextRunAt} />] as [string, ReactNode]] : []),
    ['Last 30 days', describeCounts(last30Days)],
  ]
}

const columns: Column<IntegrationSyncGap>[] = [
  { key: 'call', label: 'Call ID', cell: ({ externalId }) => <code>{externalId}</code> },
  { key: 'why', label: 'Reason', cell: ({ reason }) => reason },
  { key: 'tried', label: 'Last attempt', from: 720, cell: ({ triedAt }) => <Time at={triedAt} ago /> },
  { key: 'next', label: 'Next attempt', from: 720, cell: ({ nextTryAt }) => <Time at={nextTryAt} /> },
]

const Gaps = ({ id }: { id: string }) => {
  const { rows, error, isFetchingMore, more, retry } = useList(integrationSyncGapsOptions(id))
  if (error) return <FaultNote error={error} retry={retry} />
  if (!rows?.length) return null
  return (
    <Table
      label="Missing calls"
      columns={columns}
      rows={rows}
      idOf={(row) => row.id}
      more={more}
      isFetchingMore={isFetchingMore}
    />
  )
}

const Present = ({ id }: { id: string }) => {
  const query = useQuery(integrationSyncOptions(id))
  const isAdmin = useMay('admin')
  const [dialog, setDialog] = useState<'edit' | 'delete'>()
  const close = () => setDialog(undefined)
  const run = useMutation({
    mutationFn: () => answer(api.POST('/v1/integrations/{id}/sync/run', { params: { path: { id } }, body: {} })),
    onSuccess: async () => {
      await refresh('integrations', id)
      announce('Sync started')
    },
  })
  return (
    <Await query={query}>
      {(sync) => (
        <Section
          title="Sync"
          context="Backfills calls with missed webhooks"
          actions={
            isAdmin && (
              <>
                <Button look="quiet" onClick={() => setDialog('delete')}>
                  Delete
                </Button>
                <Button onClick={() => setDialog('edit')}>Edit</Button>
                {sync.state === 'waiting' && (
                  <Button busy={run.isPending} onClick={() => run.mutate()}>
                    Sync now
                  </Button>
                )}
              </>
            )
          }
        >
          <div className={styles.stack}>
            <Facts facts={factsOf(sync)} />
            {run.error && <FaultNote error={run.error} />}
            {sync.openGaps > 0 && <Gaps id={id} />}
          </div>
          {dialog === 'edit' && <SyncDialog id={id} sync={sync} onClose={close} />}
          <Confirm
            title="Delete sync?"
            action="Delete sync"
            open={dialog === 'delete'}
            onClose={close}
            run={async () => {
              await api.DELETE('/v1/integrations/{id}/sync', { params: { path: { id } } })
              announce('Sync deleted')
              await refresh('integrations')
            }}
          >
            This deletes its API key and the list of missing calls. Conversations are kept.
          </Confirm>
        </Section>
      )}
    </Await>
  )
}

/** Shows the sync, which backfills calls with missed webhooks. */
export const ConnectionSync = ({ id, isSet }: { id: string; isSet: boolean }) => {
  const isAdmin = useMay('admin')
  const [setting, setSetting] = useState(false)
  if (isSet) return <Present id={id} />
  return (
    <Section title="Sync" context="Backfills calls with missed webhooks">
      <Empty title="No sync yet" action={isAdmin && <Button onClick={() => setSetting(true)}>Set up sync</Button>}>
        <p>
          If a webhook gets lost, its call is missing here. With an API key, Earshot lists the platform’s calls
          regularly and backfills the missing ones.
        </p>
      </Empty>
      {setting && <SyncDialog id={id} onClose={() => setSetting(false)} />}
    </Section>
  )
}
