import Type, { type Static, type TSchema } from 'typebox'
import { mostTags } from '../conversations/tags/limits.ts'
import { Filter } from '../filters/filter.ts'
import { Tag } from '../filters/tag.ts'
import { Choice, Closed, Id, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { actionStatuses } from './action-status.ts'
import { mostConversations, mostIds } from './limits.ts'

const Tags = (description: string) =>
  Type.Optional(Type.Array(Tag, { maxItems: mostTags, uniqueItems: true, description }))

const TagAction = Closed(
  { kind: Choice(['tag']), add: Tags('Tags to add.'), remove: Tags('Tags to remove.') },
  { title: 'TagAction', description: 'Adds or removes tags. Requires `add`, `remove`, or both.' },
)

const BucketAction = Closed(
  { kind: Choice(['add_to_bucket']), bucketId: Id },
  { title: 'AddToBucketAction', description: 'Adds the conversations to a bucket that is not sampled.' },
)

const FindingAction = Closed(
  { kind: Choice(['attach_to_finding']), findingId: Id },
  { title: 'AttachToFindingAction', description: 'Attaches the conversations to a finding.' },
)

const ReviewerAction = Closed(
  { kind: Choice(['assign_reviewer']), userId: { ...Id, description: 'A member’s `userId`.' } },
  {
    title: 'AssignReviewerAction',
    description: 'Assigns a pending review of each conversation to a member, outside of buckets.',
  },
)

const EraseAction = Closed(
  { kind: Choice(['erase']) },
  { title: 'EraseAction', description: 'Erases the conversations permanently. Requires the admin role.' },
)

const schemas = [TagAction, BucketAction, FindingAction, ReviewerAction, EraseAction] as const

export type Action = Static<(typeof schemas)[number]>
export type ActionOf<Kind extends Action['kind']> = Extract<Action, { kind: Kind }>

const example = { kind: 'tag', add: ['escalated'] }

/** `kind` selects the schema, so that errors refer to the right kind of action. */
const Action = Type.Unsafe<Action>({
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: schemas as readonly TSchema[],
  examples: [example],
})

export const BulkActionCreate = Closed(
  {
    filter: Type.Optional({
      ...Filter,
      description: 'Selects the conversations that match now. Alternatively, list `ids`.',
    }),
    ids: Type.Optional(
      Type.Array(Id, {
        minItems: 1,
        maxItems: mostIds,
        uniqueItems: true,
        description: 'The IDs of the conversations. Alternatively, use a `filter`.',
      }),
    ),
    action: Action,
    expectedTotal: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: mostConversations,
        description: 'Returns 409 unless exactly this many conversations are selected.',
        examples: [42],
      }),
    ),
  },
  { examples: [{ filter: { channels: ['call'], text: 'refund' }, action: example }] },
)

const Count = Type.Integer({ minimum: 0 })

export const BulkAction = Closed(
  {
    id: Id,
    status: Choice(actionStatuses),
    total: { ...Count, description: 'The number of selected conversations, without those erased in the meantime.' },
    done: {
      ...Count,
      description: 'The number of conversations that are done, including those that needed no change.',
    },
    failed: Count,
    changed: { ...Count, description: 'The number of conversations that the action changed.' },
    action: Action,
    filter: {
      ...Nullable(Type.Unsafe<object>({ type: 'object', additionalProperties: true, examples: [{ text: 'refund' }] })),
      description: 'The filter from the request. Null if the conversations were listed.',
    },
    failure: {
      ...Nullable(Type.String()),
      description: 'Why the action failed, or why some of its conversations failed.',
    },
    canUndo: Type.Boolean({ description: 'Whether the action has ended, changed something, and can be undone.' }),
    undoesId: { ...Nullable(Id), description: 'The action that this one undoes.' },
    undoneById: { ...Nullable(Id), description: 'The action that undoes this one.' },
    createdByUserId: Id,
    createdAt: Timestamp,
    startedAt: Nullable(Timestamp),
    finishedAt: Nullable(Timestamp),
  },
  { title: 'BulkAction' },
)
