import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, NoQuery } from '../platform/http/schemas.ts'
import { readTimeZone } from '../platform/time-zone.ts'
import { type Described, describeNotifications } from './describe.ts'
import { parseKinds } from './parse-kinds.ts'
import { periodOf } from './period.ts'
import { kinds, type Preferences, preferencesOf } from './preferences.ts'
import {
  clearDigest,
  countUnread,
  findPreferences,
  listNotifications,
  lockPreferences,
  markRead,
  type StoredNotification,
  upsertPreferences,
} from './queries.ts'
import { NotificationPage, NotificationPreferences, NotificationQuery, NotificationsRead, Unread } from './schema.ts'

const tags = ['Notifications']

export const notifications = (app: App, deps: Deps): void => {
  const { db, clock, baseUrl, reactions } = deps

  const shown = (notification: StoredNotification & Described) => {
    const { subjectType, subjectId, title, path, ...others } = notification
    return { ...others, subject: { type: subjectType, id: subjectId, name: title }, url: `${baseUrl()}${path}` }
  }

  app.get(
    '/v1/notifications',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listNotifications',
        summary: 'List your notifications',
        description: 'Newest first, for 90 days. A key lists the notifications of the member it acts for.',
        querystring: NotificationQuery,
        response: answers({ 200: NotificationPage }, 400, 401),
      },
    },
    async ({ actor, query: { limit, cursor, unread, kinds: given } }) => {
      const filter = { unread: unread === true, kinds: parseKinds(given) }
      const { data, nextCursor } = await app.paging.page(
        { limit, cursor },
        ['notifications', actor.org, actor.userId, filter],
        (page) => listNotifications(db, actor.org, actor.userId, filter, page),
        ({ id }) => id,
      )
      const described = await describeNotifications(db, actor.org, data)
      return { data: described.map(shown), nextCursor, unreadCount: await countUnread(db, actor.org, actor.userId) }
    },
  )

  app.post(
    '/v1/notifications/read',
    {
      config: { access: { role: 'viewer' }, unaudited: 'It only changes what the person has seen.' },
      schema: {
        tags,
        operationId: 'markNotificationsRead',
        summary: 'Mark notifications as read',
        description: 'Send either `ids` or `all`.',
        querystring: NoQuery,
        body: NotificationsRead,
        response: answers({ 200: Unread }, 400, 401),
      },
    },
    ({ actor: { org, userId }, body: { ids } }) =>
      db.transaction().execute(async (trx) => {
        const isChanged = await markRead(trx, org, userId, ids, clock.now())
        if (isChanged) await reactions.notificationsRead(trx, org, { userId })
        return { unreadCount: await countUnread(trx, org, userId) }
      }),
  )

  app.get(
    '/v1/notification-preferences',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getNotificationPreferences',
        summary: 'Get your notification preferences',
        description: 'Returns the preferences of the member that the key or session acts for.',
        querystring: NoQuery,
        response: answers({ 200: NotificationPreferences }, 401),
      },
    },
    async ({ actor }) => preferencesOf(await findPreferences(db, actor.org, actor.userId)),
  )

  app.put(
    '/v1/notification-preferences',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'replaceNotificationPreferences',
        summary: 'Replace your notification preferences',
        description:
          'Applies to events from now on. A digest covers the time since you enabled it. Emails require a ' +
          'mail server (`EARSHOT_SMTP_URL`).',
        querystring: NoQuery,
        body: NotificationPreferences,
        response: answers({ 200: NotificationPreferences }, 400, 401),
      },
    },
    ({ actor, body }) => {
      const { digest } = body
      const given: Preferences = {
        ...body,
        digest: { ...digest, timezone: readTimeZone(digest.timezone, 'digest.timezone') },
      }
      return db.transaction().execute(async (trx) => {
        const now = clock.now()
        const stored = await lockPreferences(trx, actor.org, actor.userId)
        const before = preferencesOf(stored)
        await upsertPreferences(trx, actor.org, actor.userId, {
          ...given.digest,
          kinds: given.kinds,
          incidents: given.incidents,
          daily: periodOf(given, 'daily', { current: stored?.daily ?? null, now }),
          weekly: periodOf(given, 'weekly', { current: stored?.weekly ?? null, now }),
          now,
        })
        const changed = kinds.filter((kind) => before.kinds[kind].email !== given.kinds[kind].email)
        await clearDigest(trx, actor.org, actor.userId, changed)
        await recordAudit(trx, actor, 'notificationPreferences.update', { type: 'user', id: actor.userId })
        return given
      })
    },
  )
}
