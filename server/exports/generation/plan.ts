import { type Selection, selectedStatement } from '../../filters/queries.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ObservationOrder, Order } from './order.ts'

/**
 * An order with the statement that finds its calls. Without one, the order includes all calls of its period. The plan
 * is sent as JSON.
 */
export type CallPlan = Order & { statement?: { text: string; values: unknown[] } }
export type Plan = CallPlan | ObservationOrder

/** Compiles the queries, because the generating process does not load the query builder. */
export const makePlan = (db: Db, order: Order | ObservationOrder): Plan => {
  if ('experimentId' in order) return order
  const { since: _since, until: _until, ...conditions } = order.selection
  const asking = order.monitors.filter(({ result }) => result !== 'all')
  if (asking.length === 0 && Object.keys(conditions).length === 0) return order
  const selection: Selection = {
    ...order.selection,
    ...(asking.length > 0 && { monitors: asking, match: order.match }),
  }
  return { ...order, statement: selectedStatement(db, order.org, selection, order.versionScope) }
}
