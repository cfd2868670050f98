import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { hourMs } from '../platform/durations.ts'
import { newId } from '../platform/ids.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { isPlaceholder } from '../sign-in/address/placeholder.ts'
import { describeNotifications } from './describe.ts'
import { type Channels, type NotificationKind, preferencesOf } from './preferences.ts'
import { insertNotifications, listRecipients, type Recipient, type StoredNotification } from './queries.ts'

/** The maximum number of immediate emails that others can cause for a person. The console still shows everything. */
const mostEmailsAnHour = 60

type Cause = {
  kind: NotificationKind
  event: StoredNotification['event']
  subjectType: StoredNotification['subjectType']
  subjectId: string
  /** Identifies the event, so that each person is notified of it only once. */
  eventKey: string
  actorUserId: string | null
  userIds: string[]
  /** Also notifies the people who want to know about every incident. */
  andWhoWantAllIncidents?: boolean
}

type Delivery = { recipient: Recipient; channels: Channels; isEmailed: boolean }

const deliveryTo = (recipient: Recipient, kind: NotificationKind): Delivery | undefined => {
  const channels = preferencesOf(recipient).kinds[kind]
  if (!channels.console && channels.email === 'off') return undefined
  const { email, joinedAt, emailed } = recipient
  const isReachable = joinedAt !== null && !isPlaceholder(email)
  const isEmailed = channels.email === 'immediate' && isReachable && emailed < mostEmailsAnHour
  return { recipient, channels, isEmailed }
}

const digestOf = ({ email }: Channels) => (email === 'daily' || email === 'weekly' ? email : null)

/**
 * Notifies people in the transaction of the event, in the way they prefer: in the console, by email, or in their next
 * digest. Leaves out the person who caused the event and people who are not members. Nobody is notified of an event
 * twice.
 */
export const notify = async (deps: Deps, trx: Db, org: OrgId, cause: Cause): Promise<void> => {
  const { kind, event, subjectType, subjectId, eventKey, actorUserId, andWhoWantAllIncidents = false } = cause
  const now = deps.clock.now()
  const emailedSince = new Date(now.getTime() - hourMs)
  const recipients = await listRecipients(trx, org, { userIds: cause.userIds, andWhoWantAllIncidents, emailedSince })
  const notified = recipients
    .filter(({ userId }) => userId !== actorUserId)
    .flatMap((recipient) => deliveryTo(recipient, kind) ?? [])
  const about = { kind, event, subjectType, subjectId, eventKey, actorUserId, now }
  const inserted = await insertNotifications(
    trx,
    org,
    notified.map(({ recipient, channels, isEmailed }) => ({
      id: newId(),
      userId: recipient.userId,
      ...about,
      inConsole: channels.console,
      emailed: isEmailed,
      digest: digestOf(channels),
    })),
  )
  if (inserted.length === 0) return
  const isNew = new Set(inserted.map(({ userId }) => userId))
  const to = notified.flatMap(({ recipient, isEmailed }) =>
    isEmailed && isNew.has(recipient.userId) ? recipient.email : [],
  )
  await sendNow(deps, trx, org, { about, to })
  await deps.reactions.notificationsStored(trx, org, { notifications: inserted })
}

/** The maximum number of recipients of one email. */
const atOnce = 100

type Email = {
  about: Pick<StoredNotification, 'event' | 'subjectType' | 'subjectId' | 'actorUserId'>
  to: string[]
}

const sendNow = async (deps: Deps, trx: Db, org: OrgId, { about, to }: Email): Promise<void> => {
  if (to.length === 0) return
  const [described] = await describeNotifications(trx, org, [about])
  if (!described) return
  const text = `${described.text}

${deps.baseUrl()}${described.path}

Choose what you are notified of: ${deps.baseUrl()}/settings/notifications
`
  // A subject does not end with a period.
  const subject = described.text.replace(/\.$/, '')
  for (let at = 0; at < to.length; at += atOnce) {
    await queueMail(deps, trx, org, { to: to.slice(at, at + atOnce), subject, text })
  }
}
