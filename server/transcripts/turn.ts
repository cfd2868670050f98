import Type, { type Static } from 'typebox'
import { Choice, Closed, Nullable } from '../platform/http/schemas.ts'

/** The format of turns that the whole product uses. */

export const turnRoles = ['agent', 'customer', 'system', 'tool', 'human_agent', 'other'] as const
export type TurnRole = (typeof turnRoles)[number]

export const turnKinds = ['message', 'tool_call', 'tool_result', 'event'] as const

const Milliseconds = Type.Integer({ minimum: 0, description: 'Milliseconds from the start of the conversation.' })
const Figure = Nullable(Type.Integer({ minimum: 0, description: 'Milliseconds.' }))

const Word = Closed({ text: Type.String(), startMs: Nullable(Milliseconds), endMs: Nullable(Milliseconds) })

const Tool = Closed({
  callId: Nullable(Type.String({ description: 'Identifies a tool call. The call and its result have the same ID.' })),
  name: Nullable(Type.String()),
  arguments: Type.Unknown({ description: 'Any JSON. Null on a result.' }),
  result: Type.Unknown({ description: 'Any JSON. Null on a call.' }),
  isError: Nullable(Type.Boolean({ description: 'Null if the source does not say.' })),
})

const Latency = Closed({
  transcriptionMs: Figure,
  endOfTurnMs: Figure,
  modelMs: { ...Figure, description: 'Until the language model’s first token.' },
  voiceMs: { ...Figure, description: 'Until the first synthesized audio.' },
  totalMs: { ...Figure, description: 'From the end of the customer’s speech until the response is heard.' },
})

export const Turn = Closed(
  {
    index: Type.Integer({ minimum: 0 }),
    role: Choice(turnRoles),
    kind: Choice(turnKinds),
    text: Nullable(Type.String()),
    startMs: Nullable(Milliseconds),
    endMs: Nullable(Milliseconds),
    interrupted: Type.Boolean({ description: 'Whether the source reports that this turn was cut short.' }),
    words: Nullable(Type.Array(Word)),
    tool: Nullable(Tool),
    latency: Nullable(Latency),
  },
  { title: 'Turn' },
)
export type Turn = Static<typeof Turn>
