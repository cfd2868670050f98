import { findNames } from '../../filters/names/queries.ts'
import { resolve } from '../../filters/resolve.ts'
import { parseSort } from '../../filters/sort.ts'
import { findMonitors } from '../../monitors/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import type { ConversationOrder } from '../generation/order.ts'
import type { Previewed } from '../preview.ts'
import { cellsOfScorecards, itemsOfScorecards, withFieldTypes } from './columns.ts'
import {
  type ConversationConfiguration,
  cellsOf,
  describeConversations,
  selectionOf,
  windowOf,
} from './configuration.ts'

type Ordered = { id: string; createdAt: Date; config: object; since: Date; until: Date | null }

/** Returns the cells for the monitors that are scorecards. */
const findScorecardCells = async (db: Db, org: OrgId, ids: string[]) => {
  const found = ids.length > 0 ? await findMonitors(db, org, ids) : []
  const inOrder = ids.flatMap((id) => found.find((monitor) => monitor.id === id) ?? [])
  const items = itemsOfScorecards(inOrder)
  if (items.length === 0) return []
  return cellsOfScorecards(inOrder, new Map((await findMonitors(db, org, items)).map(({ id, name }) => [id, name])))
}

/** Returns everything that is needed to generate an export of conversations. */
export const makeConversationOrder = async (
  deps: Pick<Deps, 'db' | 'meanings'>,
  org: OrgId,
  { id, createdAt, config: stored, since, until }: Ordered,
  key: string,
): Promise<ConversationOrder> => {
  const { db } = deps
  // Only the endpoint that creates exports writes the configuration, in this format.
  const config = stored as ConversationConfiguration
  if (until === null) throw new Error('A conversation export must have an end')
  const names = await findNames(db, org, [config.filter])
  const cells = cellsOf(config)
  const fields = cells.flatMap(({ source }) => (source.kind === 'field' ? source.monitorId : []))
  return {
    org,
    key,
    format: config.format,
    reasoning: config.reasoning && config.results.length > 0,
    about: describeConversations(config, { id, createdAt, since, until, names }),
    // Only conversations in this period can be selected, so the nearest ones must come from it.
    selection: selectionOf(await resolve(deps, org, selectionOf(config.filter, { since, until })), { since, until }),
    sorting: parseSort(config.sort, 'sort', config.filter),
    cells: [
      ...withFieldTypes(cells, fields.length > 0 ? await findMonitors(db, org, fields) : []),
      ...(await findScorecardCells(db, org, config.results)),
    ],
    monitorIds: config.results,
  }
}

/** Returns the contents that an export would have if it were created now. */
export const previewConversations = async (
  deps: Pick<Deps, 'db' | 'clock' | 'meanings'>,
  org: OrgId,
  config: ConversationConfiguration,
): Promise<Previewed> => {
  const stored = { id: '', createdAt: deps.clock.now(), config, ...(await windowOf(deps.db, config.filter)) }
  const order = await makeConversationOrder(deps, org, stored, '')
  return { order, selection: order.selection, scope: 'historical' }
}
