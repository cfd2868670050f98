import { sql } from 'kysely'
import { type Resolved, selectInOrder } from '../../filters/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Page } from '../../platform/http/paging.ts'
import { columns, readRow, selectConversations } from '../queries.ts'

/** Returns conversations in the order of the IDs. Omits those that were erased in the meantime. */
export const listConversationsByIds = async (db: Db, org: OrgId, ids: string[]) => {
  if (ids.length === 0) return []
  const rows = await selectConversations(db, org)
    .where('conversations.id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
  const found = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => found.get(id) ?? []).map(readRow)
}

/** Returns a page of the list with one statement. The selection must satisfy `isReadInIndexOrder`. */
export const listInOrder = async (db: Db, org: OrgId, selection: Resolved, page: Page) => {
  const rows = await selectInOrder(db, org, selection, page).select(columns).execute()
  return rows.map(readRow)
}
