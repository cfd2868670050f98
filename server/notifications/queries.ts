import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { daysBefore, dueRows } from '../platform/db/due-rows.ts'
import { newestFirst } from '../platform/db/pages.ts'
import type { Page } from '../platform/http/paging.ts'

type Kind = 'incident' | 'assignment' | 'mention' | 'export' | 'review_request' | 'invitation'
type Event = 'opened' | 'resolved' | 'assigned' | 'mentioned' | 'completed' | 'failed' | 'requested' | 'accepted'
type SubjectType =
  | 'alertIncident'
  | 'finding'
  | 'monitorExport'
  | 'conversationExport'
  | 'experimentExport'
  | 'bucket'
  | 'bulkAction'
  | 'member'

const columns = [
  'id',
  sql<Kind>`kind`.as('kind'),
  sql<Event>`event`.as('event'),
  sql<SubjectType>`subject_type`.as('subjectType'),
  'subject_id as subjectId',
  'actor_user_id as actorUserId',
  'created_at as createdAt',
  'read_at as readAt',
] as const

const selectNotifications = (db: Db, org: OrgId, userId: string) =>
  db.selectFrom('notifications').select(columns).where('organization_id', '=', org).where('user_id', '=', userId)

export type StoredNotification = Awaited<ReturnType<typeof listNotifications>>[number]

type NotificationFilter = { unread: boolean; kinds: Kind[] | undefined }

export const listNotifications = (
  db: Db,
  org: OrgId,
  userId: string,
  { unread, kinds }: NotificationFilter,
  page: Page,
) =>
  selectNotifications(db, org, userId)
    .where('in_console', '=', true)
    .$if(unread, (query) => query.where('read_at', 'is', null))
    .$if(kinds !== undefined, (query) => query.where('kind', 'in', kinds as string[]))
    .$call(newestFirst('id', page))
    .execute()

export const countUnread = async (db: Db, org: OrgId, userId: string): Promise<number> => {
  const { count } = await db
    .selectFrom('notifications')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .where('user_id', '=', userId)
    .where('in_console', '=', true)
    .where('read_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/**
 * Marks a person's notifications as read: the ones with the given IDs, or all of them if no IDs are given. Returns
 * whether any were unread.
 */
export const markRead = async (trx: Db, org: OrgId, userId: string, ids: string[] | undefined, now: Date) => {
  const { numUpdatedRows } = await trx
    .updateTable('notifications')
    .set({ read_at: now })
    .where('organization_id', '=', org)
    .where('user_id', '=', userId)
    .where('in_console', '=', true)
    .where('read_at', 'is', null)
    .$if(ids !== undefined, (query) => query.where(sql<boolean>`id = ANY(${ids}::uuid[])`))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

type NewNotification = {
  id: string
  userId: string
  kind: Kind
  event: Event
  eventKey: string
  subjectType: SubjectType
  subjectId: string
  actorUserId: string | null
  inConsole: boolean
  emailed: boolean
  digest: 'daily' | 'weekly' | null
  now: Date
}

/** Keeps each statement below PostgreSQL's limit of 65,535 parameters. */
const insertedAtOnce = 1_000

const insertSome = (trx: Db, org: OrgId, notifications: NewNotification[]) =>
  trx
    .insertInto('notifications')
    .values(
      notifications.map((each) => ({
        organization_id: org,
        id: each.id,
        user_id: each.userId,
        kind: each.kind,
        event: each.event,
        event_key: each.eventKey,
        subject_type: each.subjectType,
        subject_id: each.subjectId,
        actor_user_id: each.actorUserId,
        in_console: each.inConsole,
        emailed: each.emailed,
        digest: each.digest,
        created_at: each.now,
      })),
    )
    .onConflict((conflict) => conflict.constraint('notifications_event_key').doNothing())
    .returning(['id', 'user_id as userId'])
    .execute()

/** Inserts a notification for each person who has not been notified about the event yet. Returns these people. */
export const insertNotifications = async (
  trx: Db,
  org: OrgId,
  notifications: NewNotification[],
): Promise<{ id: string; userId: string }[]> => {
  const inserted: { id: string; userId: string }[] = []
  for (let at = 0; at < notifications.length; at += insertedAtOnce) {
    inserted.push(...(await insertSome(trx, org, notifications.slice(at, at + insertedAtOnce))))
  }
  return inserted
}

const preferenceColumns = [
  sql<object | null>`p.kinds`.as('kinds'),
  sql<'owned' | 'all' | null>`p.incidents`.as('incidents'),
  sql<'off' | 'daily' | 'weekly' | null>`p.summary`.as('summary'),
  sql<string | null>`p.digest_time`.as('time'),
  sql<string | null>`p.digest_weekday`.as('weekday'),
  sql<string | null>`p.timezone`.as('timezone'),
] as const

export type StoredPreferences = {
  kinds: object | null
  incidents: 'owned' | 'all' | null
  summary: 'off' | 'daily' | 'weekly' | null
  time: string | null
  weekday: string | null
  timezone: string | null
}

const selectPreferences = (db: Db, org: OrgId, userId: string) =>
  db
    .selectFrom('notification_preferences as p')
    .select(preferenceColumns)
    .where('p.organization_id', '=', org)
    .where('p.user_id', '=', userId)

export const findPreferences = (db: Db, org: OrgId, userId: string): Promise<StoredPreferences | undefined> =>
  selectPreferences(db, org, userId).executeTakeFirst()

const asPeriod = (since: Date | null, nextAt: Date | null): Period | null =>
  since === null || nextAt === null ? null : { since, nextAt }

const selectPeriods = (db: Db, org: OrgId, userId: string) =>
  selectPreferences(db, org, userId)
    .select(['daily_since as dailySince', 'daily_next_at as dailyNextAt'])
    .select(['weekly_since as weeklySince', 'weekly_next_at as weeklyNextAt'])

type StoredPeriods = Awaited<ReturnType<ReturnType<typeof selectPeriods>['executeTakeFirst']>>

const withPeriods = (stored: StoredPeriods) => {
  if (!stored) return undefined
  const { dailySince, dailyNextAt, weeklySince, weeklyNextAt, ...preferences } = stored
  return { ...preferences, daily: asPeriod(dailySince, dailyNextAt), weekly: asPeriod(weeklySince, weeklyNextAt) }
}

/** Returns the preferences with the periods of the digests. */
export const findPeriods = async (db: Db, org: OrgId, userId: string) =>
  withPeriods(await selectPeriods(db, org, userId).executeTakeFirst())

/** Locks and returns the preferences with the periods of the digests. */
export const lockPreferences = async (trx: Db, org: OrgId, userId: string) =>
  withPeriods(await selectPeriods(trx, org, userId).forUpdate().executeTakeFirst())

type RecipientSearch = {
  userIds: string[]
  /** Whether to also list people who want to know about every incident. */
  andWhoWantAllIncidents: boolean
  /** The time from which emails are counted. */
  emailedSince: Date
}

/** Lists the people who are members, with their preferences. The preferences are null if they were never changed. */
export const listRecipients = (
  db: Db,
  org: OrgId,
  { userIds, andWhoWantAllIncidents, emailedSince }: RecipientSearch,
) =>
  db
    .selectFrom('members as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .leftJoin('notification_preferences as p', (join) =>
      join.on('p.organization_id', '=', org).onRef('p.user_id', '=', 'm.user_id'),
    )
    .select(['m.user_id as userId', 'm.joined_at as joinedAt', 'u.email'])
    .select(preferenceColumns)
    .select(
      sql<number>`(
        SELECT count(*) FROM notifications n
        WHERE n.organization_id = ${org} AND n.user_id = m.user_id AND n.emailed
          AND n.created_at >= ${emailedSince}::timestamptz)`.as('emailed'),
    )
    .where('m.organization_id', '=', org)
    .where((where) =>
      where.or([
        where(sql<string>`m.user_id`, '=', sql<string>`ANY(${userIds}::uuid[])`),
        ...(andWhoWantAllIncidents ? [where('p.incidents', '=', 'all')] : []),
      ]),
    )
    .orderBy('m.id')
    .execute()

export type Recipient = Awaited<ReturnType<typeof listRecipients>>[number]

type NewPreferences = {
  kinds: object
  incidents: string
  summary: string
  time: string
  weekday: string
  timezone: string
  daily: Period | null
  weekly: Period | null
  now: Date
}

type Period = { since: Date; nextAt: Date }

export const upsertPreferences = (trx: Db, org: OrgId, userId: string, given: NewPreferences) => {
  const values = {
    kinds: JSON.stringify(given.kinds),
    incidents: given.incidents,
    summary: given.summary,
    digest_time: given.time,
    digest_weekday: given.weekday,
    timezone: given.timezone,
    daily_since: given.daily?.since ?? null,
    daily_next_at: given.daily?.nextAt ?? null,
    weekly_since: given.weekly?.since ?? null,
    weekly_next_at: given.weekly?.nextAt ?? null,
    updated_at: given.now,
  }
  return trx
    .insertInto('notification_preferences')
    .values({ organization_id: org, user_id: userId, ...values })
    .onConflict((conflict) => conflict.constraint('notification_preferences_pkey').doUpdateSet(values))
    .execute()
}

/** Removes these kinds of notifications from the digest that they are waiting for. */
export const clearDigest = (trx: Db, org: OrgId, userId: string, kinds: Kind[]) =>
  trx
    .updateTable('notifications')
    .set({ digest: null })
    .where('organization_id', '=', org)
    .where('user_id', '=', userId)
    .where('digest', 'is not', null)
    .where(sql<boolean>`kind = ANY(${kinds}::text[])`)
    .execute()

/** Deletes all data about a person who leaves the organization. */
export const deleteOfUser = async (trx: Db, org: OrgId, userId: string): Promise<void> => {
  await trx.deleteFrom('notifications').where('organization_id', '=', org).where('user_id', '=', userId).execute()
  await trx
    .deleteFrom('notification_preferences')
    .where('organization_id', '=', org)
    .where('user_id', '=', userId)
    .execute()
}

export const oldNotifications = dueRows({
  table: 'notifications',
  isDue: (now) => sql`created_at < ${daysBefore(now, 90)}`,
})
