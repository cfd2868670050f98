import Type, { type Static } from 'typebox'
import { Filter } from '../../filters/filter.ts'
import { AnyDefinition, definitionByKind, Scope } from '../../monitors/definition.ts'
import { Choice, Closed, Id, Nullable } from '../../platform/http/schemas.ts'

export type TriedKind = 'rule' | 'judge'

/** How many conversations one trial takes: a judge is paid for each. */
export const mostConversations: Record<TriedKind, number> = { rule: 200, judge: 20 }

const limits = `At most ${mostConversations.rule} for a rule and ${mostConversations.judge} for a judge`

/** Which conversations a monitor is tried on. */
const chosen = {
  conversationIds: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: mostConversations.rule,
      description: `Completed conversations. ${limits}. Left out, the newest ones are taken.`,
    }),
  ),
  filter: Type.Optional({
    ...Filter,
    description: 'In place of `conversationIds`: the newest completed ones of these.',
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: mostConversations.rule,
      description: `How many of the newest; 20 when left out. ${limits}.`,
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
    definition: Type.Optional({ ...AnyDefinition, description: 'The current one when left out.' }),
    scope: Type.Optional({ ...Scope, description: 'That of the monitor when left out.' }),
    ...chosen,
  },
  { examples: [{ definition: { expression: 'signals.toolFailures > 1' }, limit: 20 }] },
)

const Status = Choice(['scored', 'unscored', 'failed'])
const Verdict = Choice(['affected', 'not_affected'])
const Count = Type.Integer({ minimum: 0 })

const Evidence = Closed({
  turn: { ...Count, description: 'The index of the turn, from 0.' },
  quote: Type.String({ description: 'What was said there.' }),
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
    asked: Type.Boolean({ description: 'False when the scope does not take it: then it is not evaluated.' }),
    status: { ...Nullable(Status), description: 'Null when it was not asked.' },
    result: { ...Nullable(Verdict), description: 'Null unless it is scored.' },
    score: Nullable(Type.Number()),
    reasoning: { ...Nullable(Type.String()), description: 'Also why it is unscored or failed.' },
    evidence: Type.Array(Evidence),
    stored: {
      ...Nullable(StoredResult),
      description: 'What the newest version of the monitor that has a result found. Null without one, and for a draft.',
    },
    judgment: {
      ...Nullable(Verdict),
      description: 'What people say that the monitor should find: the last completed review that is sure of it.',
    },
    flips: Type.Boolean({
      description: 'Whether it is now another of affected, not_affected and unscored. A failure is none of them.',
    }),
  },
  { title: 'TriedConversation' },
)

const Summary = Closed({
  affected: Count,
  notAffected: Count,
  unscored: Count,
  failed: Count,
  notAsked: { ...Count, description: 'Outside of the scope.' },
  flips: Closed(
    { toAffected: Count, toNotAffected: Count, toUnscored: Count },
    { description: 'How many results would change, by what they become.' },
  ),
  people: Closed(
    {
      judged: { ...Count, description: 'How many of those that were asked have a judgment.' },
      agreeBefore: { ...Count, description: 'In how many of these the stored result is the same.' },
      agreeNow: { ...Count, description: 'In how many of these the result is the same now.' },
    },
    { description: 'How far the monitor agrees with people.' },
  ),
  tokens: {
    ...Nullable(Closed({ input: Count, output: Count })),
    description: 'What the model took together; null for a rule, or when the model was not asked or does not tell.',
  },
  cost: {
    ...Nullable(Type.Number({ minimum: 0 })),
    description: 'In US dollars, and part of the spending of the month; null when no price is known.',
  },
})

export const TrialAnswer = Closed(
  {
    data: Type.Array(Tried, { description: 'In the order of `conversationIds`, or the last to start first.' }),
    summary: Summary,
  },
  { title: 'MonitorTrial' },
)
export type TrialAnswer = Static<typeof TrialAnswer>
