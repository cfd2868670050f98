import Type, { type Static, type TSchema } from 'typebox'
import { Closed, Nullable } from '../../platform/http/schemas.ts'

/** What is measured of every conversation. Null where the source does not say enough to measure it. */

const Count = Type.Integer({ minimum: 0 })
const Milliseconds = Nullable(Type.Integer({ minimum: 0 }))
const Share = Nullable(Type.Number({ minimum: 0, maximum: 1 }))

const bySide = <T extends TSchema>(value: T) => Closed({ agent: value, customer: value })

export const Signals = Closed(
  {
    turns: { ...bySide(Nullable(Count)), description: 'Messages of each side.' },
    words: { ...bySide(Nullable(Count)), description: 'Words in the messages of each side.' },
    talkRatio: { ...Share, description: 'The agent’s part of the talk time of both.' },
    wordsPerMinute: { ...bySide(Nullable(Type.Number({ minimum: 0 }))), description: 'Words in a minute of talk.' },
    responseLatencyMs: {
      ...Closed({ p50: Milliseconds, p95: Milliseconds, max: Milliseconds }),
      description: 'From the end of the customer’s speech to the start of the agent’s answer.',
    },
    firstWordMs: { ...Milliseconds, description: 'When the agent is first heard.' },
    interruptions: {
      ...Closed({ byAgent: Nullable(Count), byCustomer: Nullable(Count) }),
      description: 'How many messages of the other side each cut short.',
    },
    overlapMs: { ...Milliseconds, description: 'How long agent and customer spoke at once.' },
    longestSilenceMs: { ...Milliseconds, description: 'The longest time in which nobody spoke.' },
    deadAirShare: { ...Share, description: 'The part of the conversation in which nobody spoke.' },
    toolCalls: Nullable(Count),
    toolFailures: { ...Nullable(Count), description: 'Tool results that say that they are errors.' },
  },
  { title: 'Signals' },
)
export type Signals = Static<typeof Signals>

/** Of a conversation without a transcript that can be read: nothing is known, which is not the same as none. */
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
