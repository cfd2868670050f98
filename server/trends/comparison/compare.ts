import type { Db, OrgId } from '../../platform/db/database.ts'
import { share } from '../../statistics/agreement.ts'
import { newcombe } from '../../statistics/rate-intervals.ts'
import { countTwoPeriods } from './queries.ts'

const alpha = 0.05

export const changes = ['higher', 'lower', 'unclear'] as const

type Counted = { affected: number; notAffected: number }

const periodOf = ({ affected, notAffected }: Counted) => ({
  affected,
  notAffected,
  rate: share(affected, affected + notAffected),
})

const differenceOf = (previous: Counted, current: Counted, level: number) => {
  const [a, b] = [previous, current].map(({ affected, notAffected }) => ({ affected, all: affected + notAffected }))
  if (!a?.all || !b?.all) return null
  return { value: b.affected / b.all - a.affected / a.all, ...newcombe(a, b, level) }
}

const changeOf = (difference: { low: number; high: number } | null): (typeof changes)[number] => {
  if (difference && difference.low > 0) return 'higher'
  return difference && difference.high < 0 ? 'lower' : 'unclear'
}

type Periods = { before: Date; since: Date; until: Date }

type Options = {
  mostMonitors: number
  /** Evaluates changes as if all monitors were compared in one test, so that random changes are rarely listed. */
  together?: boolean
}

/**
 * Compares the rates of enabled monitors in a period with those in the previous period. Intervals are always 95%
 * intervals.
 */
export const compareMonitors = async (
  db: Db,
  org: OrgId,
  periods: Periods,
  { mostMonitors, together = false }: Options,
) => {
  const counted = await countTwoPeriods(db, org, periods, mostMonitors)
  return counted.map((counts) => {
    const current = { affected: counts.affected, notAffected: counts.notAffected }
    const previous = { affected: counts.affectedBefore, notAffected: counts.notAffectedBefore }
    const level = together ? alpha / counted.length : alpha
    return {
      monitorId: counts.id,
      monitorName: counts.name,
      change: changeOf(differenceOf(previous, current, level)),
      current: periodOf(current),
      previous: periodOf(previous),
      difference: differenceOf(previous, current, alpha),
      definitionChanged: counts.lowestVersion !== counts.highestVersion,
    }
  })
}
