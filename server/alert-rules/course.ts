import type { Chart } from '../destinations/chart.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { minuteMs } from '../platform/durations.ts'
import {
  type AlertQuestion,
  decideMeasure,
  isMeasured,
  lastWholeWindow,
  type MeasureCondition,
  measureOf,
} from './conditions/read-condition.ts'
import { spellLast } from './describe.ts'
import { decideRate, eachPeriod } from './measures/is-met.ts'
import { sumMeasure, type WindowSums } from './measures/queries.ts'

const pointCount = 24
/** Returns the number of windows in a chart. Long windows change slowly and take longer to count. */
const windowsDrawn = (windowMinutes: number): number => (windowMinutes <= 1_440 ? 6 : 2)

/** The maximum product of groups and points. More rows would take too much memory. */
const mostSums = 50_000

const pointOf = (condition: MeasureCondition, sums: WindowSums) => {
  if (condition.kind === 'change' && condition.field !== undefined)
    return { value: sums.quantile, low: null, high: null }
  const { value, interval } =
    condition.kind === 'change'
      ? decideRate(sums, { direction: 'above', threshold: 0, certainty: 'interval' }, 1)
      : decideMeasure(condition, sums, 1)
  return { value, low: interval?.low ?? null, high: interval?.high ?? null }
}

/**
 * Returns the chart of each group for the last windows. Returns undefined if the condition measures nothing or if there
 * is too much to draw.
 */
export const readCourse = async (
  db: Db,
  org: OrgId,
  { condition, selection, groupBy, windowMinutes }: AlertQuestion,
  now: Date,
): Promise<Map<string, Chart> | undefined> => {
  if (!isMeasured(condition)) return undefined
  const minutes = windowsDrawn(windowMinutes) * windowMinutes
  const until = condition.kind === 'change' ? lastWholeWindow(now, windowMinutes) : now
  const bounds = Array.from(
    { length: pointCount + 1 },
    (_, index) => new Date(until.getTime() - (minutes * minuteMs * (pointCount - index)) / pointCount),
  )
  const rows = await sumMeasure(db, org, { measure: measureOf(condition), selection, groupBy, bounds, limit: mostSums })
  if (rows.length === mostSums) return undefined
  return new Map(
    [...Map.groupBy(rows, ({ key }) => key)].map(([key, ofGroup]) => {
      const points = eachPeriod(ofGroup, pointCount).map((sums) => pointOf(condition, sums))
      // A volume threshold applies to a whole window, so it would be wrong for the shorter periods of the chart.
      const threshold = 'threshold' in condition && condition.kind !== 'volume' ? condition.threshold : null
      return [key, { points, threshold, label: `The ${spellLast(minutes)}` }]
    }),
  )
}
