import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { boundsOf } from '../filters/periods.ts'
import { plural } from '../lib/format.ts'
import { EstimateWords } from '../monitors/estimate-words.tsx'
import { evaluatedMonitorsOptions, requestEvaluation } from '../monitors/queries.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import type { Selection } from './bulk-queries.ts'
import styles from './pick-one.module.css'

type Estimate = Schemas['EvaluationEstimate']

/** The maximum period of a run. */
const longestDays = 3_659
const hourMs = 3_600_000

/** Returns which conversations a run evaluates. If a filter has no period, the run goes back as far as possible. */
const populationOf = (selection: Selection) => {
  if ('ids' in selection) return { conversationIds: selection.ids }
  const { since, until, period, ...filter } = selection.filter
  const bounds = period ? boundsOf(period) : { since, until }
  const end = bounds.until ?? new Date(Date.now() + hourMs).toISOString()
  const start = bounds.since ?? new Date(Date.parse(end) - longestDays * 24 * hourMs).toISOString()
  return { since: start, until: end, ...(Object.keys(filter).length > 0 && { filter }) }
}

/** Runs a monitor on the selected rows: first estimates the cost, then starts a run. */
export const RunMonitor = ({ selection, onClose }: { selection: Selection; onClose: () => void }) => {
  const { data: monitors, error } = useQuery(evaluatedMonitorsOptions)
  const [id, setId] = useState<string | null>(null)
  const [population] = useState(() => populationOf(selection))
  const monitor = monitors?.find((each) => each.id === id)
  const estimate = useMutation({
    // With `dryRun`, the API returns an estimate instead of a run.
    mutationFn: async (monitorId: string) =>
      (await requestEvaluation(monitorId, { ...population, dryRun: true })) as Estimate,
  })
  const run = useMutation({
    mutationFn: (monitorId: string) => requestEvaluation(monitorId, { ...population, dryRun: false }),
    onSuccess: async (_, monitorId) => {
      await queryClient.invalidateQueries({ queryKey: ['monitors', monitorId, 'evaluations'] })
      announce(`${monitor?.name} is running`, 'See the monitor’s page for progress.')
      onClose()
    },
  })
  const choose = (next: string | null) => {
    setId(next)
    estimate.reset()
    run.reset()
    if (next !== null) estimate.mutate(next)
  }
  const failure = error ?? estimate.error ?? run.error
  const found = estimate.data?.conversations ?? 0
  return (
    <Dialog title="Run monitor" open onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          if (id !== null && found > 0) run.mutate(id)
        }}
      >
        {!monitors && !error && <Loading lines={1} />}
        {monitors?.length === 0 && <p>No monitors to run. Create one under Monitors.</p>}
        {monitors && monitors.length > 0 && (
          <ChooserOfOne
            label="Monitor"
            hint="Evaluates completed conversations in the monitor’s scope."
            placeholder="Search"
            options={monitors.map(({ id: value, name }) => ({ value, label: name }))}
            value={id}
            onChange={choose}
          />
        )}
        {estimate.isPending && <Loading label="Estimating" lines={2} />}
        {monitor && estimate.data && <EstimateWords estimate={estimate.data} kind={monitor.kind} where="in scope" />}
        {failure && <FaultNote error={failure} />}
        <div className={styles.ways}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={found === 0} busy={run.isPending}>
            {found > 0 ? `Evaluate ${plural(found, 'conversation')}` : 'Evaluate'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
