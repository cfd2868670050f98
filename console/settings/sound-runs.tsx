import { useMutation, useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { formatCount, plural } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { Section } from '../ui/page.tsx'
import { Progress } from '../ui/progress.tsx'
import { FaultNote } from '../ui/states.tsx'
import styles from './settings.module.css'

type Run = Schemas['SoundRun']

const queryKey = ['sound-runs']
const refreshMs = 3_000

const isUnfinished = ({ status }: Run): boolean => status === 'queued' || status === 'running'

/** Describes how a run ended. */
const endOf = ({ status, total, measured, unmeasurable, failed, failure }: Run): string => {
  const done = measured + unmeasurable + failed
  const parts = [
    status === 'cancelled' && `Cancelled after ${formatCount(done)} of ${formatCount(total)}`,
    status === 'failed' && 'Failed',
    `${plural(measured, 'recording')} measured`,
    unmeasurable > 0 && `${formatCount(unmeasurable)} can’t be measured`,
    failed > 0 && `${formatCount(failed)} failed`,
  ]
  return [parts.filter(Boolean).join(', '), failure].filter(Boolean).join('. ')
}

const Latest = ({ run }: { run: Run }) => {
  const { id, total, measured, unmeasurable, failed } = run
  const cancel = useMutation({
    mutationFn: () => answer(api.POST('/v1/sound-runs/{id}/cancel', { params: { path: { id } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  if (!isUnfinished(run)) return <p>{endOf(run)}.</p>
  return (
    <>
      <Progress label="Measuring recordings" done={measured + unmeasurable + failed} total={total} />
      <Button small busy={cancel.isPending} onClick={() => cancel.mutate()}>
        Cancel
      </Button>
      {cancel.error && <FaultNote error={cancel.error} />}
    </>
  )
}

/** Measures stored recordings, and shows the progress. */
export const SoundRuns = () => {
  const mayRun = useMay('member')
  const { data } = useQuery({
    queryKey,
    queryFn: async ({ signal }) =>
      (await answer(api.GET('/v1/sound-runs', { params: { query: { limit: 1 } }, signal }))).data,
    refetchInterval: ({ state }) => (state.data?.some(isUnfinished) ? refreshMs : false),
  })
  const create = useMutation({
    mutationFn: (again: boolean) => answer(api.POST('/v1/sound-runs', { body: { again } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  const [run] = data ?? []
  return (
    <Section title="Measure stored recordings">
      <p className={styles.soft}>
        New recordings are measured when they are stored. Measure older recordings here, or measure all of them again
        after an update adds new measures.
      </p>
      {run && <Latest run={run} />}
      {mayRun && !(run && isUnfinished(run)) && (
        <p>
          <Button busy={create.isPending} onClick={() => create.mutate(false)}>
            Measure unmeasured recordings
          </Button>{' '}
          <Button busy={create.isPending} onClick={() => create.mutate(true)}>
            Measure all recordings
          </Button>
        </p>
      )}
      {create.error && <FaultNote error={create.error} />}
    </Section>
  )
}
