import Type from 'typebox'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp, TimestampInput } from '../platform/http/schemas.ts'
import { RichTextInput, RichTextOutput } from '../rich-text/document.ts'

const statuses = ['firing', 'acknowledged', 'resolved'] as const

const Event = Closed({
  kind: Choice(['opened', 'repeated', 'acknowledged', 'resolved']),
  at: Timestamp,
  userId: { ...Nullable(Id), description: 'Null if Earshot caused the event.' },
})

const properties = {
  id: Id,
  alertRuleId: { ...Id, description: 'The rule may have been deleted since.' },
  ruleName: Type.String({ description: 'The rule’s name when the incident opened.', examples: ['Too many refunds'] }),
  severity: Choice(['info', 'warning', 'critical']),
  status: Choice(statuses),
  group: Type.Unsafe<{ key: string; label: string | null } | null>({
    type: ['object', 'null'],
    properties: { key: { type: 'string' }, label: { type: ['string', 'null'] } },
    required: ['key', 'label'],
    additionalProperties: false,
    description: 'The agent, company, version, monitor, finding, or experiment. Null for rules without groups.',
  }),
  text: Type.String({
    description: 'What was measured when the condition was last met.',
    examples: ['31.0% of conversations were affected (27.4–34.8%, n = 612), above 20.0%, in the last 60 minutes.'],
  }),
  value: Nullable(Type.Number()),
  interval: Type.Unsafe<{ low: number; high: number } | null>({
    type: ['object', 'null'],
    properties: { low: { type: 'number' }, high: { type: 'number' } },
    required: ['low', 'high'],
    additionalProperties: false,
    description: 'The value’s 95% interval. Null if it has none.',
  }),
  sample: Nullable(Type.Integer({ minimum: 0, description: 'The number of conversations measured.' })),
  conversationIds: Type.Array(Id, { description: 'The first conversations that show the problem.' }),
  ownerUserId: {
    ...Nullable(Id),
    description: 'The owner when the incident opened, from its rule or an ownership rule.',
  },
  openedAt: Timestamp,
  acknowledgedAt: Nullable(Timestamp),
  acknowledgedByUserId: Nullable(Id),
  resolvedAt: Nullable(Timestamp),
  resolvedByUserId: {
    ...Nullable(Id),
    description: 'Null if the incident resolved because the condition was no longer met.',
  },
}

export const Incident = Closed(properties, { title: 'AlertIncident' })

export const IncidentWithTimeline = Closed(
  { ...properties, timeline: Type.Array(Event, { description: 'Oldest first; the last 200 events.' }) },
  { title: 'AlertIncidentWithTimeline' },
)

export const IncidentQuery = Closed({
  ...PageQuery.properties,
  status: Type.Optional(Choice(statuses)),
  ruleId: Type.Optional(Id),
  since: Type.Optional({ ...TimestampInput, description: 'Opened at or after this time.' }),
})

export const IncidentComment = Closed(
  { id: Id, incidentId: Id, authorUserId: Id, body: RichTextOutput, createdAt: Timestamp },
  { title: 'AlertIncidentComment' },
)

export const IncidentCommentWrite = Closed({ body: RichTextInput })

export const IncidentCommentParams = Closed({ id: Id, commentId: Id })
