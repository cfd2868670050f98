import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient, useList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { formatCount, formatDay, plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Progress } from '../ui/progress.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { Backfill } from './backfill.tsx'
import { isUnfinished, type Monitor, type Run, runsOptions } from './queries.ts'
import styles from './runs.module.css'

const states: Record<Run['status'], { tone: Tone; word: string }> = {
  queued: { tone: 'accent', word: 'Queued' },
  running: { tone: 'accent', word: 'Running' },
  completed: { tone: 'plain', word: 'Completed' },
  failed: { tone: 'failed', word: 'Failed' },
  cancelled: { tone: 'unscored', word: 'Cancelled' },
}

const doneOf = ({ scored, unscored, failed }: Run) => scored + unscored + failed

/** Shows the requests that the provider answers in batches. */
const BatchPart = ({ batch }: { batch: NonNullable<Run['batch']> }) => (
  <>
    <Progress label="Requests answered by the provider" done={batch.answered + batch.failed} total={batch.requests} />
    <p className={styles.soft}>
      {batch.status === 'submitting' ? 'Sending requests as a batch' : 'The provider is answering a batch'}
      {batch.failed > 0 && `, ${formatCount(batch.failed)} not answered`}
      {batch.expiresAt && (
        <>
          . Requests not answered by <Time at={batch.expiresAt} /> will be sent one by one
        </>
      )}
      .
    </p>
  </>
)

const RunProgress = ({ run }: { run: Run }) =>
  run.batch && run.batch.status !== 'ended' && isUnfinished(run) ? (
    <BatchPart batch={run.batch} />
  ) : (
    <Progress label="Conversations evaluated" done={doneOf(run)} total={run.total} />
  )

const RunRow = ({ run }: { run: Run }) => {
  const mayWrite = useMay('member')
  const path = { id: run.monitorId, runId: run.id }
  const change = useMutation({
    mutationFn: (to: 'cancel' | 'resume') =>
      answer(
        to === 'cancel'
          ? api.POST('/v1/monitors/{id}/evaluations/{runId}/cancel', { params: { path }, body: {} })
          : api.POST('/v1/monitors/{id}/evaluations/{runId}/resume', { params: { path }, body: {} }),
      ),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['monitors', run.monitorId, 'evaluations'] }),
  })
  const { tone, word } = states[run.status]
  return (
    <li className={styles.run}>
      <div className={styles.line}>
        <Badge tone={tone}>{word}</Badge>
        <span>
          Conversations from {formatDay(run.since)} to {formatDay(run.until)}
          {run.kind === 'experiment' && ', for an experiment'}
          {run.mode === 'batch' && ', in batches'}
        </span>
        <span className={styles.soft}>
          version {run.monitorVersion}, started <Time at={run.createdAt} ago />
        </span>
        <span className={styles.ways}>
          {mayWrite && isUnfinished(run) && (
            <Button small busy={change.isPending} onClick={() => change.mutate('cancel')}>
              {' '}
              Cancel run
            </Button>
          )}
          {mayWrite && (run.status === 'cancelled' || run.status === 'failed') && (
            <Button small busy={change.isPending} onClick={() => change.mutate('resume')}>
              {' '}
              Resume run
            </Button>
          )}
        </span>
      </div>
      {run.status === 'completed' ? (
        <p className={styles.soft}>
          {plural(run.scored, 'conversation')} scored
          {run.unscored > 0 && `, ${formatCount(run.unscored)} unscored`}
          {run.failed > 0 && `, ${formatCount(run.failed)} failed`}
        </p>
      ) : (
        <RunProgress run={run} />
      )}
      {run.failure && <p className={styles.failure}>{run.failure}</p>}
      {change.error && <FaultNote error={change.error} />}
    </li>
  )
}

/** Announces once how each run in progress ended. */
const useEndings = (runs: Run[] | undefined, name: string) => {
  const seen = useRef(new Set<string>())
  useEffect(() => {
    for (const run of runs ?? []) {
      if (isUnfinished(run)) seen.current.add(run.id)
      else if (seen.current.delete(run.id)) {
        announce(`Run of “${name}” ${states[run.status].word.toLowerCase()}`, plural(doneOf(run), 'conversation'))
        void queryClient.invalidateQueries({ queryKey: ['monitors', run.monitorId] })
      }
    }
  }, [runs, name])
}

export const RunsPart = ({ monitor }: { monitor: Monitor }) => {
  const mayWrite = useMay('member')
  const list = useList(runsOptions(monitor.id))
  useEndings(list.rows, monitor.name)
  return (
    <div className={styles.part}>
      {mayWrite && <Backfill monitor={monitor} />}
      <div className={styles.runs}>
        {list.error && <FaultNote error={list.error} retry={list.retry} />}
        {list.isPending && <Loading />}
        {list.rows?.length === 0 && (
          <Empty title="No runs yet">
            <p>
              New conversations are evaluated when they end. A backfill evaluates stored conversations, so a new monitor
              or version has a history right away.
            </p>
          </Empty>
        )}
        <ol aria-label="Runs, newest first">
          {list.rows?.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </ol>
        {list.more && (
          <Button small busy={list.isFetchingMore} onClick={list.more}>
            Show more
          </Button>
        )}
      </div>
    </div>
  )
}
