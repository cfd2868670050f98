import Type from 'typebox'
import { weekdays } from '../export-schedules/recurrence.ts'
import { Choice, Closed, Id, Nullable, Page, PageQuery, Timestamp } from '../platform/http/schemas.ts'
import { emailTimes, incidentScopes, kinds, summaryTimes } from './preferences.ts'

const Notification = Closed(
  {
    id: Id,
    kind: Choice(kinds),
    event: Choice(['opened', 'resolved', 'assigned', 'mentioned', 'completed', 'failed', 'requested', 'accepted']),
    subject: Closed(
      {
        type: Choice([
          'alertIncident',
          'finding',
          'monitorExport',
          'conversationExport',
          'experimentExport',
          'bucket',
          'bulkAction',
          'member',
        ]),
        id: Id,
        name: {
          ...Nullable(Type.String({ examples: ['Refunds are promised'] })),
          description: 'The resource’s current name or title. Null if it was deleted.',
        },
      },
      { description: 'What the notification is about.' },
    ),
    text: Type.String({
      description: 'The notification in one sentence.',
      examples: ['Ada Lovelace assigned “Refunds are promised” to you.'],
    }),
    url: Type.String({
      description: 'The console page that shows the resource.',
      examples: ['https://earshot.example.com/findings/0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'],
    }),
    actorUserId: { ...Nullable(Id), description: 'Who caused the notification. Null if Earshot did.' },
    createdAt: Timestamp,
    readAt: { ...Nullable(Timestamp), description: 'Null while the notification is unread.' },
  },
  { title: 'Notification' },
)

const unreadCount = Type.Integer({
  minimum: 0,
  description: 'The number of unread notifications, regardless of the filter.',
})

export const NotificationPage = Closed({ ...Page(Notification).properties, unreadCount })

export const NotificationQuery = Closed({
  ...PageQuery.properties,
  unread: Type.Optional(Type.Boolean({ description: 'True lists only unread notifications.' })),
  kinds: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: `Any of ${kinds.join(', ')}, separated by commas.`,
      examples: ['incident,mention'],
    }),
  ),
})

export const NotificationsRead = Closed(
  {
    ids: Type.Optional(
      Type.Array(Id, { minItems: 1, maxItems: 200, description: 'Notifications that aren’t yours are ignored.' }),
    ),
    all: Type.Optional(Type.Literal(true, { description: 'Marks every notification as read.' })),
  },
  { minProperties: 1, maxProperties: 1, examples: [{ all: true }] },
)

export const Unread = Closed({ unreadCount })

const KindPreferences = Closed({
  console: Type.Boolean({ description: 'Whether these notifications appear in the console’s inbox.' }),
  email: Choice(emailTimes, {
    description: '`immediate` sends an email right away; `daily` and `weekly` add it to that digest.',
  }),
})

const immediate = { console: true, email: 'immediate' }

export const NotificationPreferences = Closed(
  {
    kinds: Closed({
      incident: { ...KindPreferences, description: 'An alert fires or resolves.' },
      assignment: { ...KindPreferences, description: 'A finding is assigned to you.' },
      mention: { ...KindPreferences, description: 'Someone mentions you in a comment.' },
      export: { ...KindPreferences, description: 'An export you created is ready or failed.' },
      review_request: {
        ...KindPreferences,
        description: 'Someone adds you to a bucket’s reviewers or assigns conversations to you.',
      },
      invitation: { ...KindPreferences, description: 'Someone you invited joins.' },
    }),
    incidents: Choice(incidentScopes, {
      description: '`owned`: only incidents that you own. `all`: every incident.',
    }),
    digest: Closed({
      summary: Choice(summaryTimes, {
        description:
          'When you get an organization summary: monitors that changed, new findings, incidents, review progress, ' +
          'and experiments.',
      }),
      time: Type.String({
        pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
        description: 'When digests are sent, in `timezone`.',
        examples: ['08:00'],
      }),
      weekday: Choice(weekdays, { description: 'The day of the weekly digest.', examples: ['monday'] }),
      timezone: Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'An IANA time zone.',
        examples: ['Europe/Berlin'],
      }),
    }),
  },
  {
    title: 'NotificationPreferences',
    examples: [
      {
        kinds: {
          incident: immediate,
          assignment: immediate,
          mention: immediate,
          export: { console: true, email: 'off' },
          review_request: { console: true, email: 'daily' },
          invitation: { console: true, email: 'off' },
        },
        incidents: 'owned',
        digest: { summary: 'weekly', time: '08:00', weekday: 'monday', timezone: 'Europe/Berlin' },
      },
    ],
  },
)
