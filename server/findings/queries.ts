import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

export type FindingStatus = 'open' | 'acknowledged' | 'resolved' | 'ignored'
type Priority = 'none' | 'low' | 'medium' | 'high' | 'urgent'

const columns = [
  'f.id',
  'f.title',
  sql<FindingStatus>`f.status`.as('status'),
  sql<Priority>`f.priority`.as('priority'),
  'f.tags',
  sql<object | null>`f.description`.as('description'),
  'f.finding_type as findingType',
  'f.assignee_user_id as assigneeUserId',
  sql<number>`(
    SELECT count(*) FROM finding_conversations c
    WHERE c.organization_id = f.organization_id AND c.finding_id = f.id)`.as('conversationCount'),
  'f.created_by_user_id as createdByUserId',
  sql<'manual' | 'monitor' | 'experiment'>`f.source_kind`.as('sourceKind'),
  'f.source_id as sourceId',
  'f.created_at as createdAt',
  'f.updated_at as updatedAt',
] as const

const selectFindings = (db: Db, org: OrgId) =>
  db.selectFrom('findings as f').select(columns).where('f.organization_id', '=', org)

export const getFinding = (db: Db, org: OrgId, id: string) =>
  selectFindings(db, org).where('f.id', '=', id).executeTakeFirstOrThrow(notFound)

type FindingFilter = {
  statuses?: FindingStatus[] | undefined
  priorities?: Priority[] | undefined
  /** In lower case; all of them. */
  tags?: string[] | undefined
}

export const listFindings = (db: Db, org: OrgId, { statuses, priorities, tags }: FindingFilter, page: Page) =>
  selectFindings(db, org)
    .$if(statuses !== undefined, (query) => query.where('f.status', 'in', statuses as string[]))
    .$if(priorities !== undefined, (query) => query.where('f.priority', 'in', priorities as string[]))
    .$if(tags !== undefined, (query) =>
      query.where(sql<boolean>`ARRAY(SELECT lower(tag) FROM unnest(f.tags) tag) @> ${tags}::text[]`),
    )
    .$if(page.after !== undefined, (query) => query.where('f.id', '<', page.after as string))
    .orderBy('f.id', 'desc')
    .limit(page.limit + 1)
    .execute()

export const listAttached = (db: Db, org: OrgId, findingId: string, { limit, after }: Page) =>
  db
    .selectFrom('finding_conversations')
    .select(['finding_id as findingId', 'conversation_id as conversationId', 'created_at as createdAt'])
    .where('organization_id', '=', org)
    .where('finding_id', '=', findingId)
    .$if(after !== undefined, (query) => query.where('conversation_id', '<', after as string))
    .orderBy('conversation_id', 'desc')
    .limit(limit + 1)
    .execute()

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
  source: { kind: 'monitor' | 'experiment'; id: string }
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
