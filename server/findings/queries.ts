import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'

export type FindingStatus = 'open' | 'acknowledged' | 'resolved' | 'ignored'
type Priority = 'none' | 'low' | 'medium' | 'high' | 'urgent'

/** What is known of a finding to whoever filed it. It stays so until the transaction ends. */
export const lockFindingStatus = (trx: Db, org: OrgId, id: string) =>
  trx
    .selectFrom('findings')
    .select([sql<FindingStatus>`status`.as('status'), 'status_changed_at as statusChangedAt'])
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()

/** The finding of a monitor that is neither resolved nor ignored. It stays so until the transaction ends. */
export const lockOpenFindingOfMonitor = async (trx: Db, org: OrgId, monitorId: string): Promise<string | undefined> => {
  const open = await trx
    .selectFrom('findings')
    .select('id')
    .where('organization_id', '=', org)
    .where('source_kind', '=', 'monitor')
    .where('source_id', '=', monitorId)
    .where('status', 'in', ['open', 'acknowledged'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  return open?.id
}

type NewFinding = {
  id: string
  title: string
  description: object
  priority: Priority
  findingType: number
  source: { kind: 'monitor'; id: string }
  now: Date
}

/** One that the service files itself: nobody created it. */
export const insertFinding = (trx: Db, org: OrgId, { id, title, description, priority, ...finding }: NewFinding) =>
  trx
    .insertInto('findings')
    .values({
      organization_id: org,
      id,
      title,
      description: JSON.stringify(description),
      status: 'open',
      status_changed_at: finding.now,
      priority,
      tags: [],
      finding_type: finding.findingType,
      source_kind: finding.source.kind,
      source_id: finding.source.id,
      created_at: finding.now,
      updated_at: finding.now,
    })
    .execute()

export const countAttached = async (db: Db, org: OrgId, findingId: string): Promise<number> => {
  const { count } = await db
    .selectFrom('finding_conversations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', org)
    .where('finding_id', '=', findingId)
    .executeTakeFirstOrThrow()
  return count
}

/** Those that are still there and not attached yet. In the order in which all lock conversations. */
export const attachConversations = async (trx: Db, org: OrgId, findingId: string, ids: string[], now: Date) => {
  await sql`
    WITH held AS (
      SELECT c.id FROM conversations c
      WHERE c.organization_id = ${org} AND c.id = ANY(${ids}::uuid[])
      ORDER BY c.external_id, c.id FOR KEY SHARE)
    INSERT INTO finding_conversations (organization_id, finding_id, conversation_id, created_at)
    SELECT ${org}::uuid, ${findingId}::uuid, h.id, ${now}::timestamptz FROM held h
    ON CONFLICT ON CONSTRAINT finding_conversations_pkey DO NOTHING`.execute(trx)
}
