import { sql } from 'kysely'
import { type Resolved, type Selection, whereSelected } from '../filters/queries.ts'
import { batchesOf } from '../platform/batches.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { daysBefore } from '../platform/db/due-rows.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type Status = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'

const columns = [
  'id',
  // `parseAction` has validated it.
  sql<Record<string, unknown> & { kind: string }>`action`.as('action'),
  sql<Selection | null>`filter`.as('filter'),
  'undoes_id as undoesId',
  'undone_by_id as undoneById',
  sql<Status>`status`.as('status'),
  'failure',
  'total',
  'done',
  'changed',
  'failed',
  'after_position as afterPosition',
  'created_by_user_id as createdByUserId',
  'created_by_key_id as createdByKeyId',
  'created_at as createdAt',
  'started_at as startedAt',
  'finished_at as finishedAt',
] as const

const selectActions = (db: Db, org: OrgId) =>
  db.selectFrom('bulk_actions').select(columns).where('organization_id', '=', org)

export type StoredAction = Awaited<ReturnType<typeof getAction>>

export const getAction = (db: Db, org: OrgId, id: string) =>
  selectActions(db, org).where('id', '=', id).executeTakeFirstOrThrow(notFound)

export const listActions = (db: Db, org: OrgId, page: Page) =>
  selectActions(db, org).$call(newestFirst('id', page)).execute()

/** Locks the action until the transaction ends. Callers lock it before anything that the action changes. */
export const lockAction = (trx: Db, org: OrgId, id: string) =>
  selectActions(trx, org).where('id', '=', id).forUpdate().executeTakeFirst()

/**
 * Lets only one transaction at a time create an action in the organization. Returns the number of unfinished actions.
 */
export const lockUnfinishedCount = async (trx: Db, org: OrgId): Promise<number> => {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('bulk actions of ' || ${org}::text, 0))`.execute(trx)
  const { count } = await trx
    .selectFrom('bulk_actions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', org)
    .where('status', 'in', ['queued', 'running'])
    .executeTakeFirstOrThrow()
  return count
}

/** Returns the selected conversations, latest start first, at most `limit`. */
export const listSelectedIds = async (db: Db, org: OrgId, selection: Resolved, limit: number): Promise<string[]> => {
  const rows = await whereSelected(db.selectFrom('conversations'), org, selection)
    .select('conversations.id')
    .orderBy('conversations.started_at', 'desc')
    .orderBy('conversations.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns which of these conversations exist. */
export const listPresent = async (db: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  const rows = await db
    .selectFrom('conversations')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
  return rows.map(({ id }) => id)
}

type NewAction = {
  id: string
  action: object
  filter: Selection | null
  undoesId: string | null
  total: number
  createdByUserId: string
  createdByKeyId: string | null
  createdAt: Date
}

export const insertAction = (trx: Db, org: OrgId, action: NewAction) =>
  trx
    .insertInto('bulk_actions')
    .values({
      organization_id: org,
      id: action.id,
      action: JSON.stringify(action.action),
      filter: action.filter === null ? null : JSON.stringify(action.filter),
      undoes_id: action.undoesId,
      status: 'queued',
      total: action.total,
      created_by_user_id: action.createdByUserId,
      created_by_key_id: action.createdByKeyId,
      created_at: action.createdAt,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()

const insertedAtOnce = 10_000

/** Stores an action's fixed list of conversations, in this order. */
export const insertConversations = async (trx: Db, org: OrgId, actionId: string, ids: string[]): Promise<void> => {
  for (const [index, batch] of batchesOf(ids, insertedAtOnce).entries()) {
    await sql`
      INSERT INTO bulk_action_conversations (organization_id, action_id, position, conversation_id)
      SELECT ${org}::uuid, ${actionId}::uuid, given.at + ${index * insertedAtOnce}::bigint, given.id
      FROM unnest(${batch}::uuid[]) WITH ORDINALITY AS given(id, at)`.execute(trx)
  }
}

/**
 * Copies the conversations that an action changed to the action that undoes it. Returns the number of conversations.
 */
export const copyChanged = async (trx: Db, org: OrgId, { from, to }: { from: string; to: string }): Promise<number> => {
  const { numAffectedRows } = await sql`
    INSERT INTO bulk_action_conversations (organization_id, action_id, position, conversation_id, tags)
    SELECT ${org}::uuid, ${to}::uuid, r.position, r.conversation_id, r.tags FROM bulk_action_conversations r
    WHERE r.organization_id = ${org} AND r.action_id = ${from}::uuid AND r.outcome = 'changed'`.execute(trx)
  return Number(numAffectedRows)
}

export type ActionRow = { position: number; conversationId: string; tags: string[] | null }

export const listNextRows = (
  db: Db,
  org: OrgId,
  actionId: string,
  { after, limit }: { after: number; limit: number },
): Promise<ActionRow[]> =>
  db
    .selectFrom('bulk_action_conversations')
    .select(['position', 'conversation_id as conversationId', 'tags'])
    .where('organization_id', '=', org)
    .where('action_id', '=', actionId)
    .where('position', '>', after)
    .orderBy('position')
    .limit(limit)
    .execute()

export type StoredOutcome = { position: number; outcome: 'changed' | 'unchanged' | 'failed'; tags?: string[] }

/**
 * Stores the outcomes for the conversations in a slice. Keeps the stored tags of conversations with unchanged tags. The
 * range of positions is redundant, but without it, PostgreSQL reads all rows of the action until it has statistics
 * about them.
 */
export const storeOutcomes = async (
  trx: Db,
  org: OrgId,
  actionId: string,
  outcomes: StoredOutcome[],
): Promise<void> => {
  if (outcomes.length === 0) return
  const positions = outcomes.map(({ position }) => position)
  await sql`
    UPDATE bulk_action_conversations r SET outcome = given.outcome, tags = coalesce(given.tags, r.tags)
    FROM jsonb_to_recordset(${JSON.stringify(outcomes)}::jsonb) AS given(position integer, outcome text, tags text[])
    WHERE r.organization_id = ${org} AND r.action_id = ${actionId}::uuid AND r.position = given.position
      AND r.position BETWEEN ${Math.min(...positions)}::integer AND ${Math.max(...positions)}::integer`.execute(trx)
}

type Progress = { done: number; changed: number; failed: number; afterPosition: number }

/** Adds a slice to the progress of an action. The caller has locked the action. */
export const advanceAction = (trx: Db, org: OrgId, id: string, { done, changed, failed, afterPosition }: Progress) =>
  trx
    .updateTable('bulk_actions')
    .set(({ eb }) => ({
      done: eb('done', '+', done),
      changed: eb('changed', '+', changed),
      failed: eb('failed', '+', failed),
      after_position: afterPosition,
    }))
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

type Change = {
  status?: Status
  failure?: string
  total?: number
  startedAt?: Date
  finishedAt?: Date
  undoneById?: string | null
}

/** Updates an action that the caller has locked. */
export const updateAction = (trx: Db, org: OrgId, id: string, change: Change) =>
  trx
    .updateTable('bulk_actions')
    .set({
      ...(change.status !== undefined && { status: change.status }),
      ...(change.failure !== undefined && { failure: change.failure }),
      ...(change.total !== undefined && { total: change.total }),
      ...(change.startedAt !== undefined && { started_at: change.startedAt }),
      ...(change.finishedAt !== undefined && { finished_at: change.finishedAt }),
      ...(change.undoneById !== undefined && { undone_by_id: change.undoneById }),
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

/**
 * Deletes the conversations from all actions. The caller has locked the conversations. Skips rows that are being
 * deleted together with their action.
 */
export const deleteErased = async (trx: Db, org: OrgId, ids: string[]): Promise<void> => {
  await sql`
    WITH erased AS (
      SELECT action_id, position FROM bulk_action_conversations
      WHERE organization_id = ${org} AND conversation_id = ANY(${ids}::uuid[]) FOR UPDATE SKIP LOCKED)
    DELETE FROM bulk_action_conversations r USING erased
    WHERE r.organization_id = ${org} AND r.action_id = erased.action_id AND r.position = erased.position`.execute(trx)
}

const isOld = (now: Date, days: number) => sql<boolean>`finished_at < ${daysBefore(now, days)}`

export const listOrganizationsWithOldAllOrgs = async (db: Db, now: Date, days: number) => {
  const rows = await db
    .selectFrom('bulk_actions')
    .select(sql<OrgId>`organization_id`.as('id'))
    .distinct()
    .where(isOld(now, days))
    .execute()
  return rows
}

export const deleteOldActions = async (db: Db, org: OrgId, now: Date, days: number): Promise<number> => {
  const { numDeletedRows } = await db
    .deleteFrom('bulk_actions')
    .where('organization_id', '=', org)
    .where(isOld(now, days))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
