import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMay } from '../api/session.ts'
import { formatCount, formatMoney, plural } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Section } from '../ui/page.tsx'
import { Progress } from '../ui/progress.tsx'
import { FaultNote } from '../ui/states.tsx'
import styles from './settings.module.css'

type Run = Schemas['SoundRun']

const queryKey = ['sound-runs']
const refreshMs = 3_000

const isUnfinished = ({ status, transcriptions }: Run): boolean =>
  status === 'queued' || status === 'running' || (transcriptions?.pending ?? 0) > 0

/** Describes a run's transcriptions. */
const transcribedBy = ({ transcriptions }: Run): string[] => {
  if (!transcriptions) return []
  const { completed, failed, cost } = transcriptions
  return [
    `${plural(completed, 'recording')} transcribed for ${formatMoney(cost)}`,
    ...(failed > 0 ? [`${formatCount(failed)} can’t be transcribed`] : []),
  ]
}

/** Describes how a run ended. */
const endOf = (run: Run): string => {
  const { status, total, measured, unmeasurable, failed, failure } = run
  const done = measured + unmeasurable + failed
  const parts = [
    status === 'cancelled' && `Cancelled after ${formatCount(done)} of ${formatCount(total)}`,
    status === 'failed' && 'Failed',
    `${plural(measured, 'recording')} measured`,
    unmeasurable > 0 && `${formatCount(unmeasurable)} can’t be measured`,
    failed > 0 && `${formatCount(failed)} failed`,
    ...transcribedBy(run),
  ]
  return [parts.filter(Boolean).join(', '), failure].filter(Boolean).join('. ')
}

/** Returns a run's progress. After all recordings are measured, it is the progress of the transcriptions. */
const progressOf = ({ status, total, measured, unmeasurable, failed, transcriptions }: Run) => {
  if (status !== 'completed' || !transcriptions) {
    return { label: 'Measuring recordings', done: measured + unmeasurable + failed, total }
  }
  const done = transcriptions.completed + transcriptions.failed
  return { label: 'Transcribing recordings', done, total: done + transcriptions.pending }
}

const Latest = ({ run }: { run: Run }) => {
  const { id } = run
  const cancel = useMutation({
    mutationFn: () => answer(api.POST('/v1/sound-runs/{id}/cancel', { params: { path: { id } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  if (!isUnfinished(run)) return <p>{endOf(run)}.</p>
  return (
    <>
      <Progress {...progressOf(run)} />
      <Button small busy={cancel.isPending} onClick={() => cancel.mutate()}>
        Cancel
      </Button>
      {cancel.error && <FaultNote error={cancel.error} />}
    </>
  )
}

type Estimate = NonNullable<Schemas['SoundRunEstimate']['transcriptions']>

/** Asks whether to transcribe stored recordings, and shows the cost. */
const TranscribeDialog = ({ onClose, run }: { onClose: () => void; run: () => Promise<unknown> }) => {
  const { data, error } = useQuery({
    queryKey: [...queryKey, 'estimate'],
    queryFn: async ({ signal }) => {
      const body = { transcribe: true, dryRun: true }
      // An estimate is only returned for dry runs.
      return (await answer(api.POST('/v1/sound-runs', { body, signal }))) as Schemas['SoundRunEstimate']
    },
    staleTime: 0,
  })
  const estimate: Estimate | null | undefined = data?.transcriptions
  return (
    <Confirm title="Transcribe stored recordings?" action="Transcribe" open onClose={onClose} run={run}>
      {error && <FaultNote error={error} />}
      {!error && !estimate && 'Estimating the cost…'}
      {estimate &&
        `${plural(estimate.recordings, 'recording')} without a transcript, about ${plural(Math.ceil(estimate.minutes), 'minute')}, ${
          estimate.cost === null ? 'at an unknown price' : `for about ${formatMoney(estimate.cost)}`
        }.`}
    </Confirm>
  )
}

/** Measures and transcribes stored recordings, and shows the progress. */
export const SoundRuns = () => {
  const mayRun = useMay('member')
  const { data } = useQuery({
    queryKey,
    queryFn: async ({ signal }) =>
      (await answer(api.GET('/v1/sound-runs', { params: { query: { limit: 1 } }, signal }))).data,
    refetchInterval: ({ state }) => (state.data?.some(isUnfinished) ? refreshMs : false),
  })
  const create = useMutation({
    mutationFn: (body: { again?: boolean; transcribe?: boolean }) => answer(api.POST('/v1/sound-runs', { body })),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  const [run] = data ?? []
  const [asking, setAsking] = useState(false)
  return (
    <Section title="Stored recordings">
      <p className={styles.soft}>
        New recordings are measured when they are stored. Measure older recordings here, or measure all recordings again
        after an update adds new measures. If you have chosen a model, recordings without a transcript can be
        transcribed.
      </p>
      {run && <Latest run={run} />}
      {mayRun && !(run && isUnfinished(run)) && (
        <p>
          <Button busy={create.isPending} onClick={() => create.mutate({})}>
            Measure unmeasured recordings
          </Button>{' '}
          <Button busy={create.isPending} onClick={() => create.mutate({ again: true })}>
            Measure all recordings
          </Button>{' '}
          <Button onClick={() => setAsking(true)}>Transcribe recordings</Button>
        </p>
      )}
      {create.error && <FaultNote error={create.error} />}
      {asking && (
        <TranscribeDialog onClose={() => setAsking(false)} run={() => create.mutateAsync({ transcribe: true })} />
      )}
    </Section>
  )
}
