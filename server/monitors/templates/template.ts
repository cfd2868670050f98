import type { MonitorDefinition } from '../definition.ts'

export const groups = {
  task: 'Task success',
  escalation: 'Escalation',
  compliance: 'Compliance',
  facts: 'Made-up facts',
  timing: 'Timing',
  tone: 'Tone',
  voicemail: 'Voicemail',
  tools: 'Tools',
  safety: 'Safety',
  sales: 'Sales',
  healthcare: 'Healthcare',
  chat: 'Chat',
} as const

export type Group = keyof typeof groups

type ExampleTurn = {
  role: 'agent' | 'customer' | 'human_agent' | 'tool'
  kind?: 'tool_call' | 'tool_result'
  text?: string
  startMs?: number
  endMs?: number
  interrupted?: boolean
  tool?: { callId: string; name: string; arguments?: unknown; result?: unknown; isError?: boolean }
}

/** A conversation without its agent. */
export type Example = {
  transcript: ExampleTurn[]
  channel?: 'call' | 'chat' | 'voicemail'
  direction?: 'inbound' | 'outbound'
  durationSeconds?: number
  /** The hour of the day at which it starts, in UTC. Default: 10. */
  startsAtHour?: number
  endReason?: string
}

/** Returns the example in the API's format. */
export const conversationOf = ({ startsAtHour = 10, ...example }: Example) => ({
  channel: 'call' as const,
  ...example,
  startedAt: `2026-11-02T${String(startsAtHour).padStart(2, '0')}:00:00Z`,
})

export type Template = {
  key: string
  group: Group
  name: string
  description: string
  /** `en` if the rule looks for English words. */
  language: 'any' | 'en'
  kind: 'rule' | 'judge'
  definition: MonitorDefinition
  /** The criteria for an equivalent judge that works in any language. */
  inAnyLanguage?: string
  affected: Example
  notAffected: Example
}

type TemplateInput = Pick<Template, 'key' | 'name' | 'description' | 'affected' | 'notAffected'>

type RuleInput = TemplateInput & { language?: 'en'; expression: string; score?: string; inAnyLanguage?: string }

type JudgeInput = TemplateInput & { criteria: string }

export const openGroup = (group: Group) => ({
  rule: ({ language, expression, score, ...rest }: RuleInput): Template => ({
    ...rest,
    group,
    language: language ?? 'any',
    kind: 'rule',
    definition: { expression, ...(score !== undefined && { score }) },
  }),
  judge: ({ criteria, ...rest }: JudgeInput): Template => ({
    ...rest,
    group,
    language: 'any',
    kind: 'judge',
    definition: { criteria, output: { type: 'boolean' } },
  }),
})

const line = /^(agent|customer|human_agent)(?: ([\d.]+)-([\d.]+)(!?))?: (.*)$/s

const turnOf = (written: string): ExampleTurn => {
  const [, role, start, end, mark, text] = line.exec(written) ?? []
  if (role === undefined) throw new Error(`not a line of a conversation: ${written}`)
  return {
    role: role as ExampleTurn['role'],
    ...(text !== undefined && { text }),
    ...(start && { startMs: Number(start) * 1_000, endMs: Number(end) * 1_000 }),
    ...(mark === '!' && { interrupted: true }),
  }
}

/**
 * Returns a conversation from lines such as `agent: Hello.` or, with times in seconds, `customer 1.5-3: Hi.` An
 * exclamation mark after the times means that the speaker was interrupted.
 */
export const talk = (...turns: (string | ExampleTurn[])[]): Example => ({
  transcript: turns.flatMap((turn) => (typeof turn === 'string' ? [turnOf(turn)] : turn)),
})

/** Returns a tool call and, unless it is undefined, its result. */
export const use = (name: string, result: unknown, { isError = false, callId = name } = {}): ExampleTurn[] => [
  { role: 'tool', kind: 'tool_call', tool: { callId, name, arguments: {} } },
  ...(result === undefined
    ? []
    : [{ role: 'tool' as const, kind: 'tool_result' as const, tool: { callId, name, result, isError } }]),
]
