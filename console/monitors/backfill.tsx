import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import type { Filter } from '../filters/filter.ts'
import { formatMoney, plural } from '../lib/format.ts'
import { instantIn, midnightIn, ownZone } from '../lib/zones.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/controls.tsx'
import { lazy } from '../ui/lazy.tsx'
import { FaultNote } from '../ui/states.tsx'
import { EstimateWords } from './estimate-words.tsx'
import { type Monitor, requestEvaluation } from './queries.ts'
import styles from './runs.module.css'

const FilterChips = lazy(async () => (await import('../filters/filter-chips.tsx')).FilterChips)

type Estimate = Schemas['EvaluationEstimate']

/** Shows the cost of a batch, if it is known. */
const batchCost = ({ cost }: NonNullable<Estimate['batch']>): string =>
  cost === null ? '' : ` for about ${formatMoney(cost)}`

/** Evaluates stored conversations: first estimates the cost, then starts the run. */
export const Backfill = ({ monitor: { id, kind } }: { monitor: Monitor }) => {
  const zone = ownZone()
  const [since, setSince] = useState(() => midnightIn(zone, -29))
  const [until, setUntil] = useState(() => midnightIn(zone, 1))
  const [filter, setFilter] = useState<Filter>({})
  const [filtering, setFiltering] = useState(false)
  const window = { since: instantIn(since, zone), until: instantIn(until, zone) }
  const send = (request: { dryRun: boolean; mode?: 'standard' | 'batch' }) =>
    requestEvaluation(id, {
      since: window.since ?? '',
      until: window.until ?? '',
      ...request,
      ...(Object.keys(filter).length > 0 && { filter }),
    })
  // With `dryRun`, the API returns an estimate instead of a run.
  const estimate = useMutation({ mutationFn: async () => (await send({ dryRun: true })) as Estimate })
  const start = useMutation({
    mutationFn: (mode: 'standard' | 'batch') => send({ dryRun: false, mode }),
    onSuccess: async () => {
      estimate.reset()
      await queryClient.invalidateQueries({ queryKey: ['monitors', id, 'evaluations'] })
    },
  })
  const change =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      estimate.reset()
      start.reset()
      set(value)
    }
  const error = start.error ?? estimate.error
  return (
    <form
      className={styles.backfill}
      aria-label="Backfill"
      onSubmit={(event) => {
        event.preventDefault()
        estimate.mutate()
      }}
    >
      <h3>Backfill stored conversations</h3>
      <Field label="Started at or after">
        {(ids) => (
          <Input
            {...ids}
            type="datetime-local"
            required
            value={since}
            onChange={({ target }) => change(setSince)(target.value)}
          />
        )}
      </Field>
      <Field label="Started before">
        {(ids) => (
          <Input
            {...ids}
            type="datetime-local"
            required
            value={until}
            onChange={({ target }) => change(setUntil)(target.value)}
          />
        )}
      </Field>
      <div>
        <Button small look="quiet" aria-expanded={filtering} onClick={() => setFiltering(!filtering)}>
          {filtering ? 'Hide filters' : 'Add filters'}
        </Button>
      </div>
      {filtering && (
        <FilterChips filter={filter} onChange={change(setFilter)} without={['since', 'until', 'statuses']} />
      )}
      {estimate.data && <EstimateWords estimate={estimate.data} kind={kind} where="in this period" />}
      {error && <FaultNote error={error} />}
      <div className={styles.ways}>
        <Button type="submit" busy={estimate.isPending} disabled={!window.since || !window.until}>
          Estimate cost
        </Button>
        {estimate.data && estimate.data.conversations > 0 && (
          <Button look="primary" busy={start.isPending} onClick={() => start.mutate('standard')}>
            Evaluate {plural(estimate.data.conversations, 'conversation')}
          </Button>
        )}
        {estimate.data?.batch && estimate.data.conversations > estimate.data.answered && (
          <Button busy={start.isPending} onClick={() => start.mutate('batch')}>
            Evaluate within 24 hours{batchCost(estimate.data.batch)}
          </Button>
        )}
      </div>
    </form>
  )
}
