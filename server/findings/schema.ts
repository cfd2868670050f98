import Type, { type Static } from 'typebox'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp } from '../platform/http/schemas.ts'
import { RichTextInput, RichTextOutput } from '../rich-text/document.ts'

export const findingStatuses = ['open', 'acknowledged', 'resolved', 'ignored'] as const
export const findingPriorities = ['none', 'low', 'medium', 'high', 'urgent'] as const
const moveKinds = ['triage', 'merge', 'recurrence'] as const

const Title = Type.String({ minLength: 1, maxLength: 500, pattern: '\\S', examples: ['Refunds are promised'] })

export const lastFindingType = 32_767

const FindingType = Type.Integer({
  minimum: 0,
  maximum: lastFindingType,
  description: '0 manual, 1 monitor spike, 2 experiment health, 3 latency; other numbers are yours to define.',
  examples: [0],
})

const MergedIntoId = { ...Nullable(Id), description: 'The finding that this one was merged into.' }

export const Finding = Closed(
  {
    id: Id,
    title: Type.String(),
    status: Choice(findingStatuses),
    priority: Choice(findingPriorities),
    tags: Type.Array(Type.String()),
    description: Type.Optional(RichTextOutput),
    findingType: FindingType,
    assigneeUserId: Type.Optional(Id),
    conversationCount: Type.Integer({ minimum: 0 }),
    commentCount: Type.Integer({ minimum: 0, description: 'Includes comments on merged findings.' }),
    mergedIntoId: MergedIntoId,
    createdByUserId: { ...Nullable(Id), description: 'Null if Earshot created it.' },
    source: Closed({
      kind: Choice(['manual', 'monitor', 'experiment', 'agent']),
      id: { ...Nullable(Id), description: 'The monitor’s, experiment’s, or agent’s ID.' },
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Finding' },
)

const Tags = Type.Array(
  // A comma separates tags in a filter, so tags can't contain one.
  Type.String({ minLength: 1, maxLength: 50, pattern: '^(?=[^]*\\S)[^,]*$', examples: ['refund'] }),
  { maxItems: 20, description: 'Without commas. Case is ignored when comparing.' },
)

export const FindingCreate = Closed({
  title: Title,
  description: Type.Optional(RichTextInput),
  priority: Type.Optional(Choice(findingPriorities, { default: 'none' })),
  tags: Type.Optional(Tags),
  findingType: Type.Optional(FindingType),
  assigneeUserId: Type.Optional({ ...Id, description: 'A member’s `userId`.' }),
})

export const FindingUpdate = Closed(
  {
    title: Type.Optional(Title),
    description: Type.Optional(Nullable(RichTextInput)),
    tags: Type.Optional(Tags),
    findingType: Type.Optional(FindingType),
    assigneeUserId: Type.Optional({
      ...Nullable(Id),
      description: 'A member’s `userId`, or null to clear the assignee.',
    }),
  },
  { minProperties: 1 },
)

export const FindingTriage = Closed({
  status: Type.Optional(
    Choice(findingStatuses, {
      description:
        '`open` and `acknowledged` can change to each other, to `resolved`, or to `ignored`. `resolved` and ' +
        '`ignored` can only change to `open`.',
      examples: ['acknowledged'],
    }),
  ),
  priority: Type.Optional(Choice(findingPriorities, { examples: ['high'] })),
  reason: Type.Optional(
    Type.String({ minLength: 1, maxLength: 2_000, pattern: '\\S', examples: ['The new prompt promises them.'] }),
  ),
})
export type FindingTriage = Static<typeof FindingTriage>

export const FindingMerge = Closed({ intoId: { ...Id, description: 'The finding to merge this one into.' } })

export const FindingMove = Closed(
  {
    id: Id,
    findingId: { ...Id, description: 'This finding, or one that was merged into it.' },
    kind: Choice(moveKinds, {
      description: '`recurrence`: the monitor spiked again, or the agent’s reported response times are wrong again.',
    }),
    byUserId: { ...Nullable(Id), description: 'Who made the change. Null for Earshot.' },
    fromStatus: Choice(findingStatuses),
    toStatus: Choice(findingStatuses),
    fromPriority: Choice(findingPriorities),
    toPriority: Choice(findingPriorities),
    reason: Nullable(Type.String()),
    mergedIntoId: MergedIntoId,
    createdAt: Timestamp,
  },
  { title: 'FindingMove' },
)

const list = (what: string, examples: string[]) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 1_100, description: `${what}, separated by commas.`, examples }))

const ids = (what: string) => list(what, ['0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'])

export const FindingQuery = Closed({
  ...PageQuery.properties,
  status: list(`Any of ${findingStatuses.join(', ')}`, ['open,acknowledged']),
  priority: list(`Any of ${findingPriorities.join(', ')}`, ['high,urgent']),
  tags: list('All of these tags, ignoring case', ['refund']),
  findingType: list('Any of these types', ['0,1']),
  assigneeUserId: ids('Assigned to any of these users'),
  monitorId: ids('Created for any of these monitors'),
  conversationId: ids('With any of these conversations attached'),
})
