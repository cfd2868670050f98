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
    label: 'Frequency',
    from: 720,
    cell: (schedule) => recurrenceWords(schedule),
  },
  { key: 'where', label: 'Destination', from: 960, cell: ({ destination }) => <Destination of={destination} /> },
  { key: 'last', label: 'Last run', from: 480, cell: ({ lastRun }) => lastRun && <RunState run={lastRun} /> },
  { key: 'state', label: 'Status', cell: (schedule) => <ScheduleState schedule={schedule} /> },
]

export const Schedules = () => {
  const list = useList(schedulesOptions)
  const isAdmin = useMay('admin')
  const action = isAdmin && (
    <ButtonLink look="primary" to="/exports/schedules/new" search={{}}>
      Create schedule
    </ButtonLink>
  )
  return (
    <Page
      title="Export schedules"
      context="Recurring exports to your own storage"
      above={<Link to="/exports">Exports</Link>}
      actions={action}
    >
      {list.error && <FaultNote error={list.error} retry={list.retry} />}
      {list.isPending && <Loading />}
      {list.rows?.length === 0 && (
        <Empty title="No schedules yet" action={action}>
          <p>
            A schedule repeats an export every hour, day, week, or month, and writes each file to your S3 bucket or
            notifies a webhook endpoint.
            {!isAdmin && ' Only admins can create schedules.'}
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
