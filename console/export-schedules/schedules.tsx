import { Link } from '@tanstack/react-router'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { type Schedule, schedulesOptions } from './queries.ts'
import { Destination, RunState, recurrenceWords, ScheduleState } from './words.tsx'

const columns: Column<Schedule>[] = [
  {
    key: 'name',
    label: 'Schedule',
    cell: ({ id, name }) => (
      <Link to="/exports/schedules/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    key: 'when',
    label: 'Runs',
    from: 720,
    cell: ({ recurrence, config }) => recurrenceWords(recurrence, config.timezone),
  },
  { key: 'where', label: 'To', from: 960, cell: ({ destination }) => <Destination of={destination} /> },
  { key: 'last', label: 'Last run', from: 480, cell: ({ lastRun }) => lastRun && <RunState run={lastRun} /> },
  { key: 'state', label: 'State', cell: (schedule) => <ScheduleState schedule={schedule} /> },
]

export const Schedules = () => {
  const list = useList(schedulesOptions)
  const isAdmin = useMay('admin')
  const action = isAdmin && (
    <ButtonLink look="primary" to="/exports/schedules/new">
      New schedule
    </ButtonLink>
  )
  return (
    <Page
      title="Export schedules"
      context="Exports that are made again and again, for your bucket or your server."
      above={<Link to="/exports">Exports</Link>}
      actions={action}
    >
      {list.error && <FaultNote error={list.error} retry={list.retry} />}
      {list.isPending && <Loading />}
      {list.rows?.length === 0 && (
        <Empty title="No schedule yet" action={action}>
          <p>
            A schedule makes the same export each hour, day, week or month, of the calls since its last run or of the
            last hours or days, and copies the file to a bucket or tells a webhook endpoint.
            {!isAdmin && ' Admins make them.'}
          </p>
        </Empty>
      )}
      {list.rows !== undefined && list.rows.length > 0 && (
        <Table
          label="Export schedules"
          columns={columns}
          rows={list.rows}
          idOf={({ id }) => id}
          more={list.more}
          isFetchingMore={list.isFetchingMore}
        />
      )}
    </Page>
  )
}
