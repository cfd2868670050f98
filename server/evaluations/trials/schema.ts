import Type, { type Static } from 'typebox'
import { Filter } from '../../filters/filter.ts'
import { AnyDefinition, definitionByKind, Scope } from '../../monitors/definition.ts'
import { Choice, Closed, Id, Nullable } from '../../platform/http/schemas.ts'

export type TriedKind = 'rule' | 'judge'

/** The maximum number of conversations in a test. The limit for judges is low, because each request costs money. */
export const mostConversations: Record<TriedKind, number> = { rule: 200, judge: 20 }

const limits = `At most ${mostConversations.rule} for a rule and ${mostConversations.judge} for a judge`

/** The conversations that a test runs on. */
const chosen = {
  conversationIds: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: mostConversations.rule,
      description: `Completed conversations. ${limits}. Default: the newest ones.`,
    }),
  ),
  filter: Type.Optional({
    ...Filter,
    description: 'Instead of `conversationIds`: the newest completed conversations that match.',
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: mostConversations.rule,
      description: `How many of the newest conversations to test. Default: 20. ${limits}.`,
      examples: [20],
    }),
  ),
}

const Chosen = Closed(chosen)
export type Chosen = Static<typeof Chosen>

export const DraftTrial = Closed(
  {
    kind: Choice(['rule', 'judge']),
    definition: AnyDefinition,
    scope: Type.Optional(Scope),
    ...chosen,
  },
  {
    allOf: definitionByKind,
    examples: [
      { kind: 'rule', definition: { expression: 'signals.toolFailures > 0' }, filter: { channels: ['call'] } },
    ],
  },
)

export const MonitorTrial = Closed(
  {
    definition: Type.Optional({ ...AnyDefinition, description: 'Default: the current one.' }),
    scope: Type.Optional({ ...Scope, description: 'Default: the monitor’s scope.' }),
    ...chosen,
  },
  { examples: [{ definition: { expression: 'signals.toolFailures > 1' }, limit: 20 }] },
)

const Status = Choice(['scored', 'unscored', 'failed'])
const Verdict = Choice(['affected', 'not_affected'])
const Count = Type.Integer({ minimum: 0 })

const Evidence = Closed({
  turn: { ...Count, description: 'The index of the turn, starting at 0.' },
  quote: Type.String({ description: 'The quote from the turn.' }),
  field: Type.Optional(Type.String({ description: 'The field with the value that the quote contains.' })),
})

const StoredResult = Closed({
  monitorVersion: Type.Integer({ minimum: 1 }),
  status: Status,
  result: Nullable(Verdict),
  score: Nullable(Type.Number()),
})

const Tried = Closed(
  {
    conversationId: Id,
    asked: Type.Boolean({
      description: 'False if the conversation is out of scope and was not evaluated.',
    }),
    status: { ...Nullable(Status), description: 'Null if the conversation was not evaluated.' },
    result: { ...Nullable(Verdict), description: 'Null unless the conversation was scored.' },
    score: Nullable(Type.Number()),
    reasoning: { ...Nullable(Type.String()), description: 'Why the result is unscored or failed.' },
    evidence: Type.Array(Evidence),
    categories: Nullable(Type.Array(Type.String(), { description: 'Null if none could be determined.' })),
    fields: Nullable(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description: 'The values of the fields. A field is null if its value was not found.',
      }),
    ),
    unsupportedFields: Type.Array(Type.String(), {
      description: 'Fields that are null because the quoted turn does not contain their value.',
    }),
    stored: {
      ...Nullable(StoredResult),
      description: 'The stored result of the newest version that has one. Null if there is none, and for a draft.',
    },
    judgment: {
      ...Nullable(Verdict),
      description: 'The human judgment: the latest completed review that is not `unsure`.',
    },
    flips: Type.Boolean({
      description:
        'Whether the result changed between affected, not_affected, and unscored. Failures never count as a change.',
    }),
  },
  { title: 'TriedConversation' },
)

const Summary = Closed({
  affected: Count,
  notAffected: Count,
  unscored: Count,
  failed: Count,
  notAsked: { ...Count, description: 'Conversations outside the scope.' },
  flips: Closed(
    { toAffected: Count, toNotAffected: Count, toUnscored: Count },
    { description: 'How many results would change, by new result.' },
  ),
  people: Closed(
    {
      judged: { ...Count, description: 'The number of tested conversations with a human judgment.' },
      agreeBefore: { ...Count, description: 'The number of these judgments that match the stored result.' },
      agreeNow: { ...Count, description: 'The number of these judgments that match the new result.' },
    },
    { description: 'Agreement between the monitor and people.' },
  ),
  tokens: {
    ...Nullable(Closed({ input: Count, output: Count })),
    description:
      'The tokens that the model used. Null for a rule, or if the model was not called or did not report them.',
  },
  cost: {
    ...Nullable(Type.Number({ minimum: 0 })),
    description: 'In US dollars, counted toward the month’s spending. Null without a known price.',
  },
})

export const TrialAnswer = Closed(
  {
    data: Type.Array(Tried, { description: 'In the order of `conversationIds`, or latest start first.' }),
    summary: Summary,
  },
  { title: 'MonitorTrial' },
)
export type TrialAnswer = Static<typeof TrialAnswer>
