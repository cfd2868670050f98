import { chartOptions } from '../boards/queries.ts'
import { compareToOf, intervalOf, type TimeRange } from '../filters/range.ts'
import type { Comparison } from '../filters/range-search.ts'
import { lastDays } from '../filters/use-range.ts'
import { ownZone } from '../lib/zones.ts'

/** The period of the overview, in days. */
const shownDays = 7

export const defaultRange = () => ({ time: lastDays(shownDays), compare: 'previous_period' as const })

type Period = { time: TimeRange; compare: Comparison }

/** Counts the conversations of a period and of the one before. */
export const volumeOptions = ({ time, compare }: Period) =>
  chartOptions(
    { query: { measure: { kind: 'volume' }, interval: intervalOf(time) } },
    { filter: time, compareTo: compareToOf(compare, ownZone()) },
  )

/** Returns the query for a monitor's affected rate. */
export const rateOptions = (monitorId: string, { time, compare }: Period) =>
  chartOptions(
    { query: { measure: { kind: 'rate', monitorId }, interval: intervalOf(time) } },
    { filter: time, compareTo: compareToOf(compare, ownZone()) },
  )
