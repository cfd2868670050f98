import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

export type FindingStatus = 'open' | 'acknowledged' | 'resolved' | 'ignored'
export type Priority = 'none' | 'low' | 'medium' | 'high' | 'urgent'
type SourceKind = 'manual' | 'monitor' | 'experiment' | 'agent'

/**
 * The possible sources of recurring findings. Each source has at most one finding that is neither resolved nor ignored.
 */
export type RecurringSource = { kind: 'monitor' | 'agent'; id: string }

const columnsOf = (org: OrgId) =>
  [
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
    WHERE c.organization_id = ${org} AND c.finding_id = f.id)`.as('conversationCount'),
    // Includes the comments on findings that were merged into this one.
    sql<number>`(
    SELECT count(*) FROM finding_comments c
    WHERE c.organization_id = ${org} AND c.finding_id = f.id) + (
    SELECT count(*) FROM findings m
    JOIN finding_comments c ON c.organization_id = ${org} AND c.finding_id = m.id
    WHERE m.organization_id = ${org} AND m.merged_into_id = f.id)`.as('commentCount'),
    'f.merged_into_id as mergedIntoId',
    'f.created_by_user_id as createdByUserId',
    sql<SourceKind>`f.source_kind`.as('sourceKind'),
    'f.source_id as sourceId',
    'f.created_at as createdAt',
    'f.updated_at as updatedAt',
  ] as const

const selectFindings = (db: Db, org: OrgId) =>
  db.selectFrom('findings as f').select(columnsOf(org)).where('f.organization_id', '=', org)

export const getFinding = (db: Db, org: OrgId, id: string) =>
  selectFindings(db, org).where('f.id', '=', id).executeTakeFirstOrThrow(notFound)

export type FindingFilter = {
  statuses?: FindingStatus[] | undefined
  priorities?: Priority[] | undefined
  /** A finding must have all of these tags. Case is ignored. */
  tags?: string[] | undefined
  findingTypes?: number[] | undefined
  assigneeUserIds?: string[] | undefined
  monitorIds?: string[] | undefined
  conversationIds?: string[] | undefined
  /** Excludes merged findings. */
  unmerged?: true
}

export const listFindings = (db: Db, org: OrgId, filter: FindingFilter, page: Page) => {
  const { statuses, priorities, tags, findingTypes, assigneeUserIds, monitorIds, conversationIds, unmerged } = filter
  return selectFindings(db, org)
    .$if(statuses !== undefined, (query) => query.where('f.status', 'in', statuses as string[]))
    .$if(priorities !== undefined, (query) => query.where('f.priority', 'in', priorities as string[]))
    .$if(tags !== undefined, (query) =>
      query.where(
        sql<boolean>`ARRAY(SELECT lower(t) FROM unnest(f.tags) t) @> ARRAY(SELECT lower(t) FROM unnest(${tags}::text[]) t)`,
      ),
    )
    .$if(findingTypes !== undefined, (query) => query.where('f.finding_type', 'in', findingTypes as number[]))
    .$if(assigneeUserIds !== undefined, (query) => query.where('f.assignee_user_id', 'in', assigneeUserIds as string[]))
    .$if(monitorIds !== undefined, (query) =>
      query.where('f.source_kind', '=', 'monitor').where('f.source_id', 'in', monitorIds as string[]),
    )
    .$if(conversationIds !== undefined, (query) =>
      query.where(
        sql<boolean>`f.id IN (
          SELECT c.finding_id FROM finding_conversations c
          WHERE c.organization_id = ${org} AND c.conversation_id = ANY(${conversationIds}::uuid[]))`,
      ),
    )
    .$if(unmerged === true, (query) => query.where('f.merged_into_id', 'is', null))
    .$call(newestFirst('f.id', page))
    .execute()
}

/** Lists the IDs of the finding and of the findings that were merged into it. */
export const listIdsWithMerged = async (db: Db, org: OrgId, id: string): Promise<string[]> => {
  const rows = await db
    .selectFrom('findings')
    .select('id')
    .where('organization_id', '=', org)
    .where((where) => where.or([where('id', '=', id), where('merged_into_id', '=', id)]))
    .execute()
  return rows.map((row) => row.id)
}

/** Returns the ID of the finding, or of the finding that it was merged into. */
export const getStanding = async (db: Db, org: OrgId, id: string): Promise<string> => {
  const { standing } = await db
    .selectFrom('findings')
    .select(({ fn }) => fn.coalesce('merged_into_id', 'id').as('standing'))
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(notFound)
  return standing
}

/** Locks a finding until the transaction ends, and returns the data that a change needs. */
export const lockFinding = (trx: Db, org: OrgId, id: string) =>
  trx
    .selectFrom('findings')
    .select([
      'id',
      sql<FindingStatus>`status`.as('status'),
      'status_changed_at as statusChangedAt',
      sql<Priority>`priority`.as('priority'),
      'assignee_user_id as assigneeUserId',
      'merged_into_id as mergedIntoId',
    ])
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(notFound)

type OfSource = { source: RecurringSource; ignoredSince: Date }

/**
 * Returns the finding of a source: preferably one that is neither resolved nor ignored, otherwise the last one. If that
 * finding was merged, returns its target, with one exception: a closed target that belongs to another source must not
 * be reopened, because that source may have an open finding. If the target was ignored recently, it is returned anyway.
 */
export const findFindingOfSource = async (db: Db, org: OrgId, { source, ignoredSince }: OfSource) => {
  const { rows } = await sql<{ id: string }>`
    SELECT t.id FROM findings f
    JOIN findings t ON t.organization_id = f.organization_id AND t.id = coalesce(f.merged_into_id, f.id)
    WHERE f.organization_id = ${org} AND f.source_kind = ${source.kind} AND f.source_id = ${source.id}
      AND (t.status IN ('open', 'acknowledged') OR t.source_kind NOT IN ('monitor', 'agent') OR t.source_id = f.source_id
        OR t.status = 'ignored' AND t.status_changed_at > ${ignoredSince})
    ORDER BY t.status IN ('open', 'acknowledged') DESC, t.status_changed_at DESC, t.id DESC
    LIMIT 1`.execute(db)
  return rows[0]?.id
}

/** Returns the last time at which a finding of this source was resolved. */
export const findResolvedAt = async (db: Db, org: OrgId, source: RecurringSource): Promise<Date | undefined> => {
  const { at } = await db
    .selectFrom('findings')
    .select(({ fn }) => fn.max('status_changed_at').as('at'))
    .where('organization_id', '=', org)
    .where('source_kind', '=', source.kind)
    .where('source_id', '=', source.id)
    .where('status', '=', 'resolved')
    .executeTakeFirstOrThrow()
  return at ?? undefined
}

type NewFinding = {
  id: string
  title: string
  description?: object | undefined
  priority: Priority
  tags?: string[]
  findingType: number
  assigneeUserId?: string | undefined
  /** Undefined if the service creates the finding. */
  createdByUserId?: string
  source: { kind: 'manual' } | { kind: 'experiment'; id: string } | RecurringSource
  now: Date
}

export const insertFinding = (trx: Db, org: OrgId, { id, title, description, source, now, ...finding }: NewFinding) =>
  trx
    .insertInto('findings')
    .values({
      organization_id: org,
      id,
      title,
      description: description ? JSON.stringify(description) : null,
      status: 'open',
      status_changed_at: now,
      priority: finding.priority,
      tags: finding.tags ?? [],
      finding_type: finding.findingType,
      assignee_user_id: finding.assigneeUserId ?? null,
      source_kind: source.kind,
      source_id: source.kind === 'manual' ? null : source.id,
      created_by_user_id: finding.createdByUserId ?? null,
      created_at: now,
      updated_at: now,
    })
    .execute()

type FindingChange = {
  title?: string
  description?: object | null
  tags?: string[]
  findingType?: number
  assigneeUserId?: string | null
  now: Date
}

export const updateFinding = (trx: Db, org: OrgId, id: string, { title, description, tags, ...rest }: FindingChange) =>
  trx
    .updateTable('findings')
    .set({
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description: description && JSON.stringify(description) }),
      ...(tags !== undefined && { tags }),
      ...(rest.findingType !== undefined && { finding_type: rest.findingType }),
      ...(rest.assigneeUserId !== undefined && { assignee_user_id: rest.assigneeUserId }),
      updated_at: rest.now,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

type BoardColumn = { status: FindingStatus; priority: Priority }

export type Move = {
  id: string
  findingId: string
  kind: 'triage' | 'merge' | 'recurrence'
  /** Undefined if the service changes the status. */
  byUserId?: string
  from: BoardColumn
  to: BoardColumn
  reason?: string | undefined
  mergedIntoId?: string
  now: Date
}

/** Changes the status of a locked finding, and records the change. */
export const moveFinding = async (trx: Db, org: OrgId, { findingId, from, to, now, ...move }: Move): Promise<void> => {
  await trx
    .updateTable('findings')
    .set({
      status: to.status,
      ...(to.status !== from.status && { status_changed_at: now }),
      priority: to.priority,
      ...(move.mergedIntoId !== undefined && { merged_into_id: move.mergedIntoId }),
      updated_at: now,
    })
    .where('organization_id', '=', org)
    .where('id', '=', findingId)
    .execute()
    .catch((error: unknown) => {
      const constraint = violatedConstraint(error)
      if (constraint !== 'findings_monitor_key' && constraint !== 'findings_agent_key') throw error
      const source = constraint === 'findings_monitor_key' ? 'monitor' : 'agent'
      throw new ApiError('conflict', `Another finding about this ${source} is open. Merge this one into it.`)
    })
  await trx
    .insertInto('finding_moves')
    .values({
      organization_id: org,
      id: move.id,
      finding_id: findingId,
      kind: move.kind,
      by_user_id: move.byUserId ?? null,
      from_status: from.status,
      to_status: to.status,
      from_priority: from.priority,
      to_priority: to.priority,
      reason: move.reason ?? null,
      merged_into_id: move.mergedIntoId ?? null,
      created_at: now,
    })
    .execute()
}

/** Makes findings that were merged into the source refer to the target instead. */
export const redirectMerged = (trx: Db, org: OrgId, { from, into }: { from: string; into: string }) =>
  trx
    .updateTable('findings')
    .set({ merged_into_id: into })
    .where('organization_id', '=', org)
    .where('merged_into_id', '=', from)
    .execute()

/** Lists the status changes of these findings, newest first. */
export const listMoves = (db: Db, org: OrgId, findingIds: string[], page: Page) =>
  db
    .selectFrom('finding_moves')
    .select([
      'id',
      'finding_id as findingId',
      sql<Move['kind']>`kind`.as('kind'),
      'by_user_id as byUserId',
      sql<FindingStatus>`from_status`.as('fromStatus'),
      sql<FindingStatus>`to_status`.as('toStatus'),
      sql<Priority>`from_priority`.as('fromPriority'),
      sql<Priority>`to_priority`.as('toPriority'),
      'reason',
      'merged_into_id as mergedIntoId',
      'created_at as createdAt',
    ])
    .where('organization_id', '=', org)
    .where('finding_id', '=', sql<string>`ANY(${findingIds}::uuid[])`)
    .$call(newestFirst('id', page))
    .execute()
