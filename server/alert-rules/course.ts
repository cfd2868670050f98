import type { Chart } from '../destinations/chart.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { minuteMs } from '../platform/durations.ts'
import type { ConditionOf } from './condition-schema.ts'
import { type AlertQuestion, decideMeasure, lastWholeWindow, measureOf } from './conditions/read-condition.ts'
import { decideRate, nothingMeasured } from './measures/decide.ts'
import { sumMeasure, type WindowSums } from './measures/queries.ts'

type Drawn = ConditionOf<'rate' | 'score' | 'signal' | 'volume' | 'change'>

const pointCount = 24
/** How many windows are drawn. Long windows change slowly and take longer to count. */
const windowsDrawn = (windowMinutes: number): number => (windowMinutes <= 1_440 ? 6 : 2)

/** The most groups times points. More would take too much memory. */
const mostSums = 50_000

const pointOf = (condition: Drawn, sums: WindowSums) => {
  const { value, interval } =
    condition.kind === 'change'
      ? decideRate(sums, { direction: 'above', threshold: 0, certainty: 'interval' }, 1)
      : decideMeasure(condition, sums, 1)
  return { value, low: interval?.low ?? null, high: interval?.high ?? null }
}

const spell = (minutes: number): string => {
  if (minutes % 1_440 === 0) return minutes === 1_440 ? 'day' : `${minutes / 1_440} days`
  if (minutes % 60 === 0) return minutes === 60 ? 'hour' : `${minutes / 60} hours`
  return `${minutes} minutes`
}

/**
 * Returns the measure of each group over the last windows. Undefined if the condition measures nothing, or there is too
 * much to draw.
 */
export const readCourse = async (
  db: Db,
  org: OrgId,
  { condition, selection, groupBy, windowMinutes }: AlertQuestion,
  now: Date,
): Promise<Map<string, Chart> | undefined> => {
  if (!['rate', 'score', 'signal', 'volume', 'change'].includes(condition.kind)) return undefined
  // Checked just above, which the compiler cannot see.
  const drawn = condition as Drawn
  const minutes = windowsDrawn(windowMinutes) * windowMinutes
  const until = drawn.kind === 'change' ? lastWholeWindow(now, windowMinutes) : now
  const bounds = Array.from(
    { length: pointCount + 1 },
    (_, index) => new Date(until.getTime() - (minutes * minuteMs * (pointCount - index)) / pointCount),
  )
  const rows = await sumMeasure(db, org, { measure: measureOf(drawn), selection, groupBy, bounds, limit: mostSums })
  if (rows.length === mostSums) return undefined
  return new Map(
    [...Map.groupBy(rows, ({ key }) => key)].map(([key, ofGroup]) => {
      const sums = new Map(ofGroup.map(({ period, ...sum }) => [period, sum]))
      const points = Array.from({ length: pointCount }, (_, period) =>
        pointOf(drawn, sums.get(period) ?? nothingMeasured),
      )
      // The threshold of a volume is for a whole window, so it can't be drawn for parts of one.
      const threshold = 'threshold' in drawn && drawn.kind !== 'volume' ? drawn.threshold : null
      return [key, { points, threshold, label: `The last ${spell(minutes)}` }]
    }),
  )
}
