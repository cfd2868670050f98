import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { answersOf, type SubjectFields, subjectOf } from '../../../test/support/monitors/rule-subjects.ts'
import { openRules } from './rules.ts'

/** Checks that the examples in the guide work as described. */

const page = readFileSync(join(import.meta.dirname, '../../../docs/rules.md'), 'utf8')
const examples = new Map(
  [...page.matchAll(/^### (\d+)\. .*\n\n```cel\n([\s\S]*?)```$/gm)].map(([, number = '', expression = '']) => [
    Number(number),
    expression,
  ]),
)

const rules = openRules({ threads: 1 })
afterAll(rules.close)

const call = (name: string) => ({ role: 'agent', kind: 'tool_call', tool: { name, callId: name } })
const result = (name: string, isError?: boolean) => ({
  role: 'tool',
  kind: 'tool_result',
  tool: { name, callId: name, isError },
})
const message = (role: string, text: string, fields: object) => ({ role, text, ...fields })
const at = (startedAt: string): SubjectFields => ({ conversation: { startedAt } })

type Cases = { affected: SubjectFields[]; notAffected: SubjectFields[]; unscored?: SubjectFields[] }

const noTranscript: SubjectFields = {}

const cases: Record<number, Cases> = {
  1: {
    affected: [{ conversation: { durationSeconds: 901 } }],
    notAffected: [{ conversation: { durationSeconds: 900 } }],
    unscored: [{}],
  },
  2: {
    affected: [
      { turns: ['agent: Hello', 'customer: Can I talk to a real person?'] },
      { turns: ['customer: MANAGER!'] },
    ],
    notAffected: [{ turns: ['agent: I am no human', 'customer: Fine'] }],
    unscored: [noTranscript],
  },
  3: {
    affected: [{ turns: ["agent: We'll refund you."] }, { turns: ['agent: Your refund has been made.'] }],
    notAffected: [{ turns: ['agent: There is no refund.', 'customer: We will refund you'] }],
  },
  4: {
    affected: [{ turns: ['agent: A refund is fine', call('find_order')] }, { turns: ['agent: A refund then'] }],
    notAffected: [{ turns: [call('find_order'), 'agent: A refund is fine'] }, { turns: ['customer: A refund'] }],
  },
  5: {
    affected: [
      { turns: ['agent: Hello', 'customer: Hi', 'agent: Who is it?', 'agent: This call is recorded'] },
      { turns: ['customer: Is it recorded?'] },
    ],
    notAffected: [
      { turns: ['agent: Hello', 'customer: Hi', 'agent: This call is being recorded'] },
      { conversation: { channel: 'chat' }, turns: ['agent: Hello'] },
      { conversation: { channel: 'voicemail' } },
    ],
    unscored: [noTranscript],
  },
  6: {
    affected: [{ turns: ['agent: Goodbye', 'customer: Wait', 'agent: What?', call('end')] }],
    notAffected: [{ turns: ['agent: Hello', 'customer: Bye', 'agent: Have a great day', call('end')] }],
  },
  7: {
    affected: [{ turns: ['agent: Hello', 'customer: Bye', call('end')] }],
    notAffected: [{ turns: ['customer: Hello', 'agent: Bye'] }],
    unscored: [{ turns: [call('end')] }],
  },
  8: {
    affected: [{ turns: [call('a'), result('a', true)] }],
    notAffected: [{ turns: ['agent: Hi', call('a'), result('a', false)] }],
    unscored: [noTranscript],
  },
  9: {
    affected: [{ turns: ['agent: Hi', call('charge_card'), result('charge_card', true)] }],
    notAffected: [{ turns: ['agent: Hi', result('charge_card', false), result('find_order', true)] }],
    unscored: [{ turns: [result('charge_card')] }],
  },
  10: {
    affected: [{ turns: Array(4).fill(call('find_order')) }],
    notAffected: [{ turns: [...Array(3).fill(call('find_order')), call('charge_card'), result('find_order', false)] }],
  },
  11: {
    affected: [{ turns: ['agent: Yes?', 'customer: Yesterday', call('charge_card'), 'customer: Yes'] }],
    notAffected: [
      { turns: ['agent: Shall I?', 'customer: Yes, please', call('charge_card')] },
      { turns: ['customer: No'] },
    ],
  },
  12: {
    affected: [{ signals: { responseLatencyMs: { p50: 900, p95: 2501, max: 4000 } } }],
    notAffected: [{ signals: { responseLatencyMs: { p50: 900, p95: 2500, max: 4000 } } }],
    unscored: [{}],
  },
  13: {
    affected: [{ turns: ['customer: Hi', message('agent', 'Hi', { latency: { totalMs: 5001 } })] }],
    notAffected: [{ turns: ['customer: Hi', message('agent', 'Hi', { latency: { totalMs: 800 } }), 'agent: Well'] }],
  },
  14: {
    affected: [{ signals: { interruptions: { byAgent: 3, byCustomer: 0 } } }],
    notAffected: [{ signals: { interruptions: { byAgent: 2, byCustomer: 9 } } }],
    unscored: [{ signals: { interruptions: { byAgent: null, byCustomer: 9 } } }],
  },
  15: {
    affected: [
      { signals: { deadAirShare: 0.31, longestSilenceMs: 100 } },
      { signals: { deadAirShare: null, longestSilenceMs: 10_001 } },
    ],
    notAffected: [{ signals: { deadAirShare: 0.3, longestSilenceMs: 10_000 } }],
    unscored: [{ signals: { deadAirShare: null, longestSilenceMs: 100 } }],
  },
  16: {
    affected: [{ signals: { talkRatio: 0.9, turns: { agent: 3, customer: 3 } } }],
    notAffected: [{ signals: { talkRatio: 0.9, turns: { agent: 3, customer: 2 } } }],
    unscored: [{ signals: { talkRatio: null, turns: { agent: 3, customer: 3 } } }],
  },
  17: {
    affected: [{ turns: ['agent: What is your order number?', 'customer: 4', 'agent: What is your order number?'] }],
    notAffected: [{ turns: ['agent: Hello?', 'customer: What is your order number?', 'agent: Hello?'] }],
  },
  18: {
    affected: [{ turns: ['customer: Hello?', 'agent: …', 'customer: Can you hear me?'] }],
    notAffected: [{ turns: ['customer: Hello', 'agent: Hello?', 'customer: Are you still there?'] }],
  },
  19: {
    affected: [{ turns: ['agent: I offer help', 'customer: I want to cancel', 'agent: Done'] }],
    notAffected: [
      { turns: ['customer: Cancel it', 'agent: How about a discount?'] },
      { turns: ['customer: Hello', 'agent: Bye'] },
    ],
  },
  20: {
    affected: [{ turns: ['customer: How much is it?', 'agent: Which one?', 'agent: It is 5 euros'] }],
    notAffected: [
      { turns: ['agent: Hi', 'customer: What is the PRICE?', 'agent: 5 euros'] },
      { turns: ['customer: Hi'] },
    ],
  },
  21: {
    affected: [{ metadata: { order: { total: 500.5 } } }],
    notAffected: [{ metadata: { order: { total: 499 } } }, { metadata: { order: { total: null } } }, { metadata: {} }],
    unscored: [{ metadata: { order: { total: 'many' } } }],
  },
  22: {
    affected: [{ metrics: { csat: 2 } }],
    notAffected: [{ metrics: { csat: 2.5 } }],
    unscored: [{ metrics: { nps: 1 } }, { metrics: { csat: 'low' } }],
  },
  23: {
    // The dates are a Friday in winter, when Berlin is an hour ahead of UTC, a Sunday, and a summer evening, when
    // Berlin is two hours ahead.
    affected: [
      at('2026-11-20T06:59:59Z'),
      at('2026-11-20T17:00:00Z'),
      at('2026-11-22T12:00:00Z'),
      at('2026-07-01T16:00:00Z'),
    ],
    notAffected: [at('2026-11-20T07:00:00Z'), at('2026-11-20T16:59:59Z'), at('2026-07-01T15:59:59Z')],
  },
  24: {
    affected: [{ turns: ['customer: It is 4111 1111 1111 1111.'] }],
    notAffected: [{ turns: ['customer: Call 555-0100', 'agent: 4111 1111 1111 1111'] }],
  },
  25: {
    affected: [{ conversation: { endReason: 'customer-ended', endedAt: '2026-11-20T10:00:29.999Z' } }],
    notAffected: [
      { conversation: { endReason: 'customer-ended', endedAt: '2026-11-20T10:00:30Z' } },
      { conversation: { endReason: 'agent-ended' } },
    ],
    unscored: [{ conversation: { endReason: 'customer-ended' } }],
  },
}

describe('the page', () => {
  it('has 25 examples, and each is tested', () => {
    expect([...examples.keys()]).toEqual(Array.from({ length: 25 }, (_, index) => index + 1))
    expect(Object.keys(cases).map(Number)).toEqual([...examples.keys()])
  })

  it.each([...examples])('does what it says in example %i', async (number, expression) => {
    const { affected = [], notAffected = [], unscored = [] } = cases[number] ?? {}
    const told = [...affected, ...notAffected, ...unscored]
    const answers = answersOf(await rules.evaluate({ rules: [{ expression }], subjects: told.map(subjectOf) }))
    const expected = [
      ...affected.map(() => 'affected'),
      ...notAffected.map(() => 'notAffected'),
      ...unscored.map(() => 'unscored'),
    ]
    expect(
      answers.map(({ is }) => is),
      JSON.stringify(answers),
    ).toEqual(expected)
    expect(affected.length && notAffected.length).toBeGreaterThan(0)
  })
})
