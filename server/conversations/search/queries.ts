import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { selectConversations } from '../queries.ts'

/** In the order of lists. One that was erased meanwhile is left out. */
export const listConversationsByIds = async (db: Db, org: OrgId, ids: string[]) =>
  ids.length === 0
    ? []
    : selectConversations(db, org)
        .where('conversations.id', '=', sql<string>`ANY(${ids}::uuid[])`)
        .orderBy('conversations.started_at', 'desc')
        .orderBy('conversations.id', 'desc')
        .execute()
