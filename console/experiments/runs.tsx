import { useMutation, useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { formatCount, plural, sentenceCase } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { Progress } from '../ui/progress.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { type Experiment, runsOptions } from './queries.ts'
import styles from './runs.module.css'

/** Shows the experiment's evaluation runs, with a button to retry missing observations. */
export const Runs = ({ experiment: { id, outcomes } }: { experiment: Experiment }) => {
  const query = useQuery(runsOptions(id))
  const mayAsk = useMay('member')
  const retry = useMutation({
    mutationFn: () => answer(api.POST('/v1/experiments/{id}/evaluations', { params: { path: { id } }, body: {} })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['experiments', id] }),
  })
  const lacking = outcomes.reduce((sum, { arms: { a, b } }) => sum + a.missing + a.failed + b.missing + b.failed, 0)
  return (
    <div className={styles.runs}>
      <Await query={query}>
        {({ data }) => (
          <Table
            label="Runs"
            rows={data}
            idOf={(run) => run.id}
            columns={[
              {
                key: 'what',
                label: 'Type',
                cell: ({ trigger }) => (trigger === 'launch' ? 'New conversations' : 'Retry of missing results'),
              },
              { key: 'when', label: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
              {
                key: 'state',
                label: 'Status',
                cell: ({ status, trigger, scored, unscored, failed, total, failure }) =>
                  trigger === 'retry' && status === 'running' ? (
                    <Progress label="Retried" done={scored + unscored + failed} total={total} />
                  ) : (
                    (failure ?? sentenceCase(status))
                  ),
              },
              { key: 'scored', label: 'Scored', numeric: true, cell: ({ scored }) => formatCount(scored) },
              {
                key: 'unscored',
                label: 'Unscored',
                numeric: true,
                from: 480,
                cell: ({ unscored }) => formatCount(unscored),
              },
              { key: 'failed', label: 'Failed', numeric: true, from: 480, cell: ({ failed }) => formatCount(failed) },
            ]}
          />
        )}
      </Await>
      {retry.error && <FaultNote error={retry.error} />}
      {mayAsk && lacking > 0 && (
        <div className={styles.ask}>
          <Button busy={retry.isPending} onClick={() => retry.mutate()}>
            Retry observations
          </Button>
          <span>{plural(lacking, 'observation')} missing or failed.</span>
        </div>
      )}
    </div>
  )
}
