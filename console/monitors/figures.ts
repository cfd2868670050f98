// Calculates totals from a trend's counts, and filters for the underlying conversations.

import type { LinkProps } from '@tanstack/react-router'
import { wilson } from '../lib/wilson.ts'
import type { Filter, TrendDay } from './queries.ts'

export type Totals = Pick<TrendDay, 'affected' | 'notAffected' | 'unscored' | 'failed'>

export const totalsOf = (days: Totals[]): Totals => {
  const sum = (name: keyof Totals) => days.reduce((all, day) => all + day[name], 0)
  return {
    affected: sum('affected'),
    notAffected: sum('notAffected'),
    unscored: sum('unscored'),
    failed: sum('failed'),
  }
}

export const allOf = ({ affected, notAffected, unscored, failed }: Totals): number =>
  affected + notAffected + unscored + failed

/** Returns the affected rate among scored results, with its interval. */
export const rateOf = ({ affected, notAffected }: Totals) => {
  const n = affected + notAffected
  return { rate: n === 0 ? null : affected / n, n, ...wilson(affected, n) }
}

/** Returns the cost of the results, or null if the price is unknown. */
export const costOf = (days: Pick<TrendDay, 'cost'>[]): number | null => {
  const known = days.flatMap(({ cost }) => cost ?? [])
  return known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0)
}

type Window = { since?: string | undefined; until?: string | undefined }

export const filterOf = (
  id: string,
  result: NonNullable<Filter['monitors']>[number]['result'] & string,
  { since, until }: Window = {},
): Filter => ({ monitors: [{ id, result }], ...(since && { since }), ...(until && { until }) })

export const conversationsOf = (...filter: Parameters<typeof filterOf>): LinkProps => ({
  to: '/conversations',
  search: { filter: filterOf(...filter) },
})
