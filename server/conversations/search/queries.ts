import { sql } from 'kysely'
import { type Selection, selectInOrder } from '../../filters/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Page } from '../../platform/http/paging.ts'
import { columnsOf, selectConversations } from '../queries.ts'

/** In the order of lists. One that was erased meanwhile is left out. */
export const listConversationsByIds = async (db: Db, org: OrgId, ids: string[]) =>
  ids.length === 0
    ? []
    : selectConversations(db, org)
        .where('conversations.id', '=', sql<string>`ANY(${ids}::uuid[])`)
        .orderBy('conversations.started_at', 'desc')
        .orderBy('conversations.id', 'desc')
        .execute()

/** A page of the list by one statement, for a selection that `isFoundInOrder`. */
export const listInOrder = (db: Db, org: OrgId, selection: Selection, page: Page) =>
  selectInOrder(db, org, selection, page).select(columnsOf(org)).execute()
