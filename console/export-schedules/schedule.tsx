import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { queryClient, useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { useListWords } from '../exports/config-words.tsx'
import { formatName } from '../exports/formats.ts'
import type { List, What } from '../exports/queries.ts'
import { useWhatWords } from '../exports/words.tsx'
import { NotFound } from '../layout/not-found.tsx'
import { announce } from '../ui/announce.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Facts, Page, Section } from '../ui/page.tsx'
import { Await, Empty, FaultNote, Loading } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import {
  refreshSchedules,
  runsOptions,
  type ScheduleRun,
  type Schedule as StoredSchedule,
  scheduleOptions,
} from './queries.ts'
import styles from './schedules.module.css'
import { Destination, RunState, recurrenceWords, ScheduleState, windowWords } from './words.tsx'

type Action = 'run' | 'test' | 'pause' | 'resume'

const act = async (id: string, way: Action): Promise<void> => {
  const params = { path: { id } }
  if (way === 'run') {
    await answer(api.POST('/v1/export-schedules/{id}/run', { params, body: {} }))
  } else if (way === 'test') {
    const { ok, message } = await answer(api.POST('/v1/export-schedules/{id}/test', { params, body: {} }))
    announce(ok ? 'Connection works' : 'Connection failed', message)
  } else {
    const status = way === 'pause' ? 'paused' : 'active'
    await answer(api.PATCH('/v1/export-schedules/{id}', { params, body: { status } }))
  }
}

const Actions = ({ schedule: { id, name, status } }: { schedule: StoredSchedule }) => {
  const mayRun = useMay('member')
  const isAdmin = useMay('admin')
  const navigate = useNavigate()
  const [isLeaving, setLeaving] = useState(false)
  const doing = useMutation({ mutationFn: (way: Action) => act(id, way), onSettled: refreshSchedules })
  const button = (way: Action, label: string) => (
    <Button busy={doing.isPending && doing.variables === way} onClick={() => doing.mutate(way)}>
      {label}
    </Button>
  )
  if (!mayRun) return null
  return (
    <div className={styles.stack}>
      <div className={styles.ways}>
        {button('run', 'Run now')}
        {isAdmin && (
          <>
            {status === 'active' ? button('pause', 'Pause schedule') : button('resume', 'Resume schedule')}
            {button('test', 'Test connection')}
            <ButtonLink to="/exports/schedules/$id/edit" params={{ id }}>
              Edit
            </ButtonLink>
            <Button look="quiet" onClick={() => setLeaving(true)}>
              Delete
            </Button>
          </>
        )}
      </div>
      {doing.error && <FaultNote error={doing.error} />}
      <Confirm
        title={`Delete “${name}”?`}
        action="Delete schedule"
        open={isLeaving}
        onClose={() => setLeaving(false)}
        run={async () => {
          await answer(api.DELETE('/v1/export-schedules/{id}', { params: { path: { id } } }))
          announce(`“${name}” deleted`)
          await navigate({ to: '/exports/schedules' })
          await refreshSchedules()
        }}
      >
        This deletes the schedule and its run history. Exports and files are kept.
      </Confirm>
    </div>
  )
}

const columns: Column<ScheduleRun>[] = [
  {
    key: 'planned',
    label: 'Run',
    cell: ({ plannedFor, manual }) => (
      <span>
        <Time at={plannedFor} />
        {manual && ', manual'}
      </span>
    ),
  },
  {
    key: 'window',
    label: 'Period',
    from: 720,
    cell: ({ since, until }) => (
      <span>
        <Time at={since} /> to <Time at={until} />
      </span>
    ),
  },
  {
    key: 'state',
    label: 'Status',
    cell: (run) => (
      <span className={styles.state}>
        <RunState run={run} />
        {run.error && <span className={styles.soft}>{run.error}</span>}
      </span>
    ),
  },
  { key: 'file', label: 'File', from: 960, cell: ({ objectKey }) => objectKey && <code>{objectKey}</code> },
]

const Results = ({ config }: { config: What }) => {
  const { results, conditions } = useWhatWords(config)
  return `${results}, as ${formatName(config.format)}${conditions}`
}

const Conversations = ({ list }: { list: List }) => `${useListWords(list)}; as ${formatName(list.format)}`

const Content = ({ schedule: { config, conversationConfig } }: { schedule: StoredSchedule }) => {
  if (conversationConfig) return <Conversations list={conversationConfig} />
  return config && <Results config={config} />
}

const Runs = ({ schedule: { id, lastRun } }: { schedule: StoredSchedule }) => {
  const list = useList(runsOptions(id))
  const state = lastRun && `${lastRun.id} ${lastRun.status} ${lastRun.error}`
  useEffect(() => {
    if (state) void queryClient.invalidateQueries({ queryKey: runsOptions(id).queryKey })
  }, [state, id])
  return (
    <Section title="Runs">
      {list.error && <FaultNote error={list.error} retry={list.retry} />}
      {list.isPending && <Loading />}
      {list.rows?.length === 0 && <Empty title="No runs yet" />}
      {list.rows !== undefined && list.rows.length > 0 && (
        <Table
          label="Runs"
          columns={columns}
          rows={list.rows}
          idOf={(run) => run.id}
          more={list.more}
          isFetchingMore={list.isFetchingMore}
        />
      )}
    </Section>
  )
}

export const Schedule = () => {
  const { id } = useParams({ from: '/app/exports/schedules/$id' })
  const query = useQuery(scheduleOptions(id))
  if (isNotFound(query.error)) return <NotFound />
  return (
    <Page
      title={query.data?.name ?? 'Export schedule'}
      above={<Link to="/exports/schedules">Export schedules</Link>}
      context={query.data && <ScheduleState schedule={query.data} />}
    >
      <Await query={query}>
        {(schedule) => (
          <div className={styles.stack}>
            <Actions schedule={schedule} />
            <Facts
              facts={[
                ['Frequency', recurrenceWords(schedule)],
                ['Content', <Content key="what" schedule={schedule} />],
                ['Period', windowWords(schedule)],
                ['Destination', <Destination key="where" of={schedule.destination} />],
              ]}
            />
            <Runs schedule={schedule} />
          </div>
        )}
      </Await>
    </Page>
  )
}
