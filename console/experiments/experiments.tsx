import { Link } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { Badge } from '../ui/badge.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { armName, experimentsOptions, type Summary } from './queries.ts'

export const ExperimentBadge = ({ status }: Pick<Summary, 'status'>) => (
  <Badge tone={status === 'running' ? 'accent' : 'plain'}>{status === 'running' ? 'Running' : 'Finished'}</Badge>
)

export const Experiments = () => {
  const list = useList(experimentsOptions)
  const mayLaunch = useMay('admin')
  const agents = useNames('agents')
  const monitors = useNames('monitors')
  const action = mayLaunch && (
    <ButtonLink look="primary" to="/experiments/new">
      Launch experiment
    </ButtonLink>
  )
  const columns: Column<Summary>[] = [
    {
      key: 'name',
      label: 'Name',
      cell: ({ id, name }) => (
        <Link to="/experiments/$id" params={{ id }} search={{}}>
          {name}
        </Link>
      ),
    },
    { key: 'status', label: 'Status', cell: (row) => <ExperimentBadge {...row} /> },
    { key: 'agent', label: 'Agent', from: 480, cell: ({ agentId }) => agents.nameOf(agentId) },
    { key: 'arms', label: 'Arms', from: 720, cell: (row) => `${armName(row, 'a')} vs. ${armName(row, 'b')}` },
    { key: 'primary', label: 'Primary outcome', from: 720, cell: (row) => monitors.nameOf(row.primaryMetricId) },
    { key: 'started', label: 'Launched', cell: ({ startedAt }) => <Time at={startedAt} /> },
    { key: 'finished', label: 'Finished', from: 960, cell: ({ finishedAt }) => finishedAt && <Time at={finishedAt} /> },
  ]
  return (
    <Page title="Experiments" context="Compare two versions of an agent" actions={action}>
      <ListTable
        list={list}
        label="Experiments"
        columns={columns}
        empty={
          <Empty title="No experiments yet" action={action}>
            <p>
              An experiment compares two versions of an agent on real conversations. You route each caller to A or B,
              and Earshot measures the difference.
            </p>
          </Empty>
        }
      />
    </Page>
  )
}
