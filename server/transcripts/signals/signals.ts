import Type, { type Static, type TSchema } from 'typebox'
import { Closed, Nullable } from '../../platform/http/schemas.ts'

/** The signals that every conversation has. They are null if the source has too little data. */

const Count = Type.Integer({ minimum: 0 })
const Milliseconds = Nullable(Type.Integer({ minimum: 0 }))
const Share = Nullable(Type.Number({ minimum: 0, maximum: 1 }))

const bySide = <T extends TSchema>(value: T) => Closed({ agent: value, customer: value })

export const Signals = Closed(
  {
    turns: { ...bySide(Nullable(Count)), description: 'Messages from each side.' },
    words: { ...bySide(Nullable(Count)), description: 'Words in each side’s messages.' },
    talkRatio: { ...Share, description: 'The agent’s share of both sides’ talk time.' },
    wordsPerMinute: { ...bySide(Nullable(Type.Number({ minimum: 0 }))), description: 'Words per minute of talk time.' },
    responseLatencyMs: {
      ...Closed({ p50: Milliseconds, p95: Milliseconds, max: Milliseconds }),
      description: 'From the end of the customer’s speech to the start of the agent’s response.',
    },
    firstWordMs: { ...Milliseconds, description: 'When the agent first speaks.' },
    interruptions: {
      ...Closed({ byAgent: Nullable(Count), byCustomer: Nullable(Count) }),
      description: 'The number of the other side’s messages that each side interrupted.',
    },
    overlapMs: { ...Milliseconds, description: 'How long agent and customer spoke at the same time.' },
    longestSilenceMs: { ...Milliseconds, description: 'The longest silence.' },
    deadAirShare: { ...Share, description: 'The share of the conversation in which nobody spoke.' },
    toolCalls: Nullable(Count),
    toolFailures: { ...Nullable(Count), description: 'Tool results that report an error.' },
  },
  { title: 'Signals' },
)
export type Signals = Static<typeof Signals>

/** The signals of a conversation without a readable transcript. Null means unknown, which is not the same as 0. */
export const noSignals: Signals = {
  turns: { agent: null, customer: null },
  words: { agent: null, customer: null },
  talkRatio: null,
  wordsPerMinute: { agent: null, customer: null },
  responseLatencyMs: { p50: null, p95: null, max: null },
  firstWordMs: null,
  interruptions: { byAgent: null, byCustomer: null },
  overlapMs: null,
  longestSilenceMs: null,
  deadAirShare: null,
  toolCalls: null,
  toolFailures: null,
}
