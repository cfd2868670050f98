import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../api/client.ts'
import { useList } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { formatCount, plural } from '../lib/format.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Section } from '../ui/page.tsx'
import { Await, Empty, FaultNote } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { type FailedJob, failedJobsOptions, healthOptions, refresh } from './queries.ts'
import styles from './settings.module.css'

type Check = Schemas['Health']['checks'][number]

const names: Record<string, string> = {
  ingestion: 'Ingestion',
  evaluations: 'Evaluations',
  judges: 'Judges',
  judge_budget: 'Judge budget',
  transcriptions: 'Transcription',
  alerts: 'Alerts',
  webhooks: 'Webhooks',
  destinations: 'Destinations',
  syncs: 'Provider syncs',
  export_schedules: 'Scheduled exports',
  jobs: 'Background jobs',
  analytics: 'Analytics',
  storage: 'Storage',
  processes: 'Processes',
  clock: 'Clocks',
}

const statuses: Record<Check['status'], { tone: Tone; word: string }> = {
  ok: { tone: 'clear', word: 'OK' },
  degraded: { tone: 'affected', word: 'Degraded' },
  failing: { tone: 'failed', word: 'Failing' },
}

const StatusBadge = ({ status }: Pick<Check, 'status'>) => (
  <Badge tone={statuses[status].tone}>{statuses[status].word}</Badge>
)

/** Shows the details of a check that people can act on. */
const detailWords = (detail: Record<string, unknown>): ReactNode => {
  const { name, failed, results, requests, reason, waiting, dead, gaps, version } = detail
  const last = detail.lastArrivalAt ?? detail.lastDeliveryAt
  const total = results ?? requests
  return (
    <>
      {String(name)}
      {typeof failed === 'number' && `: ${formatCount(failed)} of ${formatCount(Number(total))} failed`}
      {typeof detail.meanMs === 'number' && `, ${(detail.meanMs / 1_000).toFixed(1)} s on average`}
      {typeof gaps === 'number' && `: ${plural(gaps, 'call')} missing`}
      {typeof version === 'string' && `: version ${version}`}
      {typeof waiting === 'number' && `: ${formatCount(waiting)} queued`}
      {typeof dead === 'number' && dead > 0 && `, ${formatCount(dead)} failed`}
      {typeof reason === 'string' && `. ${reason}`}
      {typeof last === 'string' && (
        <>
          {': '}
          <Time at={last} ago />
        </>
      )}
    </>
  )
}

/** The messages of these checks need no details. */
const wordy = new Set(['analytics', 'storage', 'clock'])

const Message = ({ name, message, details }: Check) => (
  <>
    {message}
    {details.length > 0 && !wordy.has(name) && (
      <ul className={styles.soft}>
        {details.map((detail, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: processes have no names of their own
          <li key={`${detail.id ?? detail.name} ${at}`}>{detailWords(detail)}</li>
        ))}
      </ul>
    )}
  </>
)

const columns: Column<Check>[] = [
  { key: 'name', label: 'Check', cell: ({ name }) => names[name] ?? name },
  { key: 'status', label: 'Status', cell: (check) => <StatusBadge {...check} /> },
  { key: 'message', label: 'Details', from: 480, cell: (check) => <Message {...check} /> },
  { key: 'since', label: 'Since', from: 960, cell: ({ since }) => since && <Time at={since} ago /> },
]

const FailedJobs = () => {
  const list = useList(failedJobsOptions)
  const act = useMutation({
    mutationFn: async ({ id, verb }: { id: string; verb: 'retry' | 'discard' }) => {
      const params = { path: { id } }
      if (verb === 'retry') await api.POST('/v1/failed-jobs/{id}/retry', { params, body: {} })
      else await api.POST('/v1/failed-jobs/{id}/discard', { params, body: {} })
    },
    onSuccess: () => Promise.all([refresh('failed-jobs'), refresh('health')]),
  })
  const jobColumns: Column<FailedJob>[] = [
    { key: 'name', label: 'Job', cell: ({ name }) => <code>{name}</code> },
    { key: 'error', label: 'Error', from: 720, cell: ({ error }) => <span className={styles.wrap}>{error}</span> },
    { key: 'failed', label: 'Failed', from: 480, cell: ({ failedAt }) => <Time at={failedAt} ago /> },
    {
      key: 'ways',
      label: '',
      cell: ({ id, name }) => (
        <div className={styles.cellWays}>
          <Button small look="quiet" aria-label={`Retry ${name}`} onClick={() => act.mutate({ id, verb: 'retry' })}>
            Retry
          </Button>
          <Button small look="quiet" aria-label={`Discard ${name}`} onClick={() => act.mutate({ id, verb: 'discard' })}>
            Discard
          </Button>
        </div>
      ),
    },
  ]
  return (
    <Section title="Failed jobs" context="Jobs that ran out of attempts">
      {act.error && <FaultNote error={act.error} />}
      <ListTable list={list} label="Failed jobs" columns={jobColumns} empty={<Empty title="No failed jobs" />} />
    </Section>
  )
}

export const HealthChecks = () => {
  const query = useQuery(healthOptions)
  const isAdmin = useMay('admin')
  return (
    <>
      <Section title="Health" context="Updates automatically">
        <Await query={query}>
          {({ checks }) => <Table label="Checks" columns={columns} rows={checks} idOf={({ name }) => name} />}
        </Await>
      </Section>
      {isAdmin && <FailedJobs />}
    </>
  )
}
