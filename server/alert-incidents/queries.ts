import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { daysBefore, dueRows } from '../platform/db/due-rows.ts'
import { newestFirst, oldestFirst } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

export type Severity = 'info' | 'warning' | 'critical'
export type IncidentStatus = 'firing' | 'acknowledged' | 'resolved'

/** The measurement when the condition was last met. */
export type StoredReading = {
  value: number | null
  interval: { low: number; high: number } | null
  sample: number | null
  /** The measurement in one sentence. */
  text: string
}

const columns = [
  'id',
  'alert_rule_id as alertRuleId',
  'rule_name as ruleName',
  sql<Severity>`severity`.as('severity'),
  sql<IncidentStatus>`status`.as('status'),
  'group_key as groupKey',
  'group_label as groupLabel',
  sql<StoredReading>`reading`.as('reading'),
  'conversation_ids as conversationIds',
  'opened_at as openedAt',
  'acknowledged_at as acknowledgedAt',
  'acknowledged_by_user_id as acknowledgedByUserId',
  'resolved_at as resolvedAt',
  'resolved_by_user_id as resolvedByUserId',
  'clear_since as clearSince',
  'notified_at as notifiedAt',
  'owner_user_id as ownerUserId',
  'routed_destination_ids as routedDestinationIds',
] as const

const select = (db: Db, org: OrgId) =>
  db.selectFrom('alert_incidents').select(columns).where('organization_id', '=', org)

export type StoredIncident = Awaited<ReturnType<typeof getIncident>>

type IncidentFilter = { status?: IncidentStatus | undefined; ruleId?: string | undefined; since?: Date | undefined }

export const listIncidents = (db: Db, org: OrgId, { status, ruleId, since }: IncidentFilter, page: Page) =>
  select(db, org)
    .$if(status !== undefined, (query) => query.where('status', '=', status as string))
    .$if(ruleId !== undefined, (query) => query.where('alert_rule_id', '=', ruleId as string))
    .$if(since !== undefined, (query) => query.where('opened_at', '>=', since as Date))
    .$call(newestFirst('id', page))
    .execute()

export const getIncident = (db: Db, org: OrgId, id: string) =>
  select(db, org).where('id', '=', id).executeTakeFirstOrThrow(notFound)

export const lockIncident = (trx: Db, org: OrgId, id: string) =>
  select(trx, org).where('id', '=', id).forUpdate().executeTakeFirstOrThrow(notFound)

export const listOpenIncidents = (db: Db, org: OrgId, ruleId: string) =>
  select(db, org).where('alert_rule_id', '=', ruleId).where('status', '<>', 'resolved').orderBy('id').execute()

/** Lists incidents that somebody resolved while their condition was met, if it has been met ever since. */
export const listOverruledIncidents = (db: Db, org: OrgId, ruleId: string) =>
  select(db, org)
    .where('alert_rule_id', '=', ruleId)
    .where('status', '=', 'resolved')
    .where('resolved_by_user_id', 'is not', null)
    .where('clear_since', 'is', null)
    .orderBy('id')
    .execute()

/** Marks the condition of manually resolved incidents as cleared, so that new incidents can open. */
export const settleOverruled = (trx: Db, org: OrgId, ruleId: string, now: Date) =>
  trx
    .updateTable('alert_incidents')
    .set({ clear_since: now })
    .where('organization_id', '=', org)
    .where('alert_rule_id', '=', ruleId)
    .where('status', '=', 'resolved')
    .where('resolved_by_user_id', 'is not', null)
    .where('clear_since', 'is', null)
    .execute()

export const lockOpenIncidents = (trx: Db, org: OrgId, ruleId: string) =>
  select(trx, org)
    .where('alert_rule_id', '=', ruleId)
    .where('status', '<>', 'resolved')
    .orderBy('id')
    .forUpdate()
    .execute()

type NewIncident = {
  id: string
  alertRuleId: string
  ruleName: string
  severity: Severity
  groupKey: string
  groupLabel: string | null
  reading: StoredReading
  conversationIds: string[]
  ownerUserId: string | null
  routedDestinationIds: string[]
  now: Date
}

export const insertIncident = (trx: Db, org: OrgId, incident: NewIncident) =>
  trx
    .insertInto('alert_incidents')
    .values({
      organization_id: org,
      id: incident.id,
      alert_rule_id: incident.alertRuleId,
      rule_name: incident.ruleName,
      severity: incident.severity,
      status: 'firing',
      group_key: incident.groupKey,
      group_label: incident.groupLabel,
      reading: JSON.stringify(incident.reading),
      conversation_ids: incident.conversationIds,
      opened_at: incident.now,
      owner_user_id: incident.ownerUserId,
      routed_destination_ids: incident.routedDestinationIds,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()

type IncidentChange = {
  status?: IncidentStatus
  reading?: StoredReading
  acknowledged?: { at: Date; byUserId: string }
  resolved?: { at: Date; byUserId: string | null }
  clearSince?: Date | null
  notifiedAt?: Date
}

export const updateIncident = (trx: Db, org: OrgId, id: string, change: IncidentChange) => {
  const { status, reading, acknowledged, resolved, clearSince, notifiedAt } = change
  return trx
    .updateTable('alert_incidents')
    .set({
      ...(status !== undefined && { status }),
      ...(reading !== undefined && { reading: JSON.stringify(reading) }),
      ...(acknowledged && { acknowledged_at: acknowledged.at, acknowledged_by_user_id: acknowledged.byUserId }),
      ...(resolved && { resolved_at: resolved.at, resolved_by_user_id: resolved.byUserId }),
      ...(clearSince !== undefined && { clear_since: clearSince }),
      ...(notifiedAt !== undefined && { notified_at: notifiedAt }),
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)
}

export type EventKind = 'opened' | 'repeated' | 'acknowledged' | 'resolved' | 'commented'

type NewEvent = { id: string; incidentId: string; kind: EventKind; userId: string | null; body?: object; now: Date }

export const insertIncidentEvent = (trx: Db, org: OrgId, { id, incidentId, kind, userId, body, now }: NewEvent) =>
  trx
    .insertInto('alert_incident_events')
    .values({
      organization_id: org,
      id,
      incident_id: incidentId,
      kind,
      user_id: userId,
      body: body === undefined ? null : JSON.stringify(body),
      created_at: now,
    })
    .execute()

const eventColumns = ['id', 'user_id as userId', 'created_at as at', sql<object | null>`body`.as('body')] as const

const selectEvents = (db: Db, org: OrgId, incidentId: string) =>
  db
    .selectFrom('alert_incident_events')
    .select(eventColumns)
    .where('organization_id', '=', org)
    .where('incident_id', '=', incidentId)

const mostEvents = 200

/** Lists an incident's newest events, oldest first, without the comments. */
export const listTimeline = async (db: Db, org: OrgId, incidentId: string) => {
  const newest = await selectEvents(db, org, incidentId)
    .where('kind', '<>', 'commented')
    .select(sql<Exclude<EventKind, 'commented'>>`kind`.as('kind'))
    .orderBy('id', 'desc')
    .limit(mostEvents)
    .execute()
  return newest.reverse()
}

export const listIncidentComments = (db: Db, org: OrgId, incidentId: string, page: Page) =>
  selectEvents(db, org, incidentId).where('kind', '=', 'commented').$call(oldestFirst('id', page)).execute()

export const getIncidentComment = (db: Db, org: OrgId, incidentId: string, id: string) =>
  selectEvents(db, org, incidentId)
    .where('id', '=', id)
    .where('kind', '=', 'commented')
    .executeTakeFirstOrThrow(notFound)

export const countIncidentComments = async (db: Db, org: OrgId, incidentId: string): Promise<number> => {
  const { count } = await db
    .selectFrom('alert_incident_events')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .where('incident_id', '=', incidentId)
    .where('kind', '=', 'commented')
    .executeTakeFirstOrThrow()
  return count
}

/** Returns the rule's fields that messages about its incidents need. Returns undefined if the rule was deleted. */
export const findIncidentRule = (db: Db, org: OrgId, ruleId: string) =>
  db
    .selectFrom('alert_rules as r')
    .leftJoin('members as m', (join) =>
      join.on('m.organization_id', '=', org).onRef('m.user_id', '=', 'r.owner_user_id'),
    )
    .select([
      'r.destination_ids as destinationIds',
      'r.runbook_url as runbookUrl',
      'r.muted_until as mutedUntil',
      'm.user_id as ownerUserId',
      'm.name as ownerName',
    ])
    .where('r.organization_id', '=', org)
    .where('r.id', '=', ruleId)
    .executeTakeFirst()

/** Returns the name of a user who is still a member. */
export const findOwner = (db: Db, org: OrgId, userId: string) =>
  db
    .selectFrom('members')
    .select(['user_id as userId', 'name'])
    .where('organization_id', '=', org)
    .where('user_id', '=', userId)
    .executeTakeFirst()

export type IncidentRule = NonNullable<Awaited<ReturnType<typeof findIncidentRule>>>

/**
 * Selects incidents that are old enough to delete, with their timelines and comments. Also compares the opening time,
 * which is never later than the resolution, because it has an index.
 */
export const oldIncidents = dueRows({
  table: 'alert_incidents',
  isDue: (now) =>
    sql`opened_at < ${daysBefore(now, 400)} AND status = 'resolved' AND resolved_at < ${daysBefore(now, 400)}`,
})

/** Removes erased conversations from incidents. Returns the IDs of the incidents that named them. */
export const removeConversations = async (trx: Db, org: OrgId, conversationIds: string[]): Promise<string[]> => {
  const rows = await trx
    .updateTable('alert_incidents')
    .set({
      conversation_ids: sql<string[]>`ARRAY(
        SELECT kept.id FROM unnest(conversation_ids) AS kept (id) WHERE kept.id <> ALL(${conversationIds}::uuid[]))`,
    })
    .where('organization_id', '=', org)
    .where(sql<boolean>`conversation_ids && ${conversationIds}::uuid[]`)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}
