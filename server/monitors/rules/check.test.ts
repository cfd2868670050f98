import { describe, expect, it } from 'vitest'
import { Conversation } from '../../conversations/schema.ts'
import { checkDefinition } from '../definition.ts'
import { checkRule } from './check.ts'
import { choices, types } from './language/values.ts'

const faultOf = (expression: string) => checkRule({ expression })[0]?.message

describe('saving a rule', () => {
  it.each([
    // Names that don't exist.
    ['signals.tolFailures > 0', 'line 1, column 9: signals has no field tolFailures; did you mean toolFailures?'],
    ['conversation.chanel == "call"', 'line 1, column 14: conversation has no field chanel; did you mean channel?'],
    [
      'signals.interruptions.agent > 1',
      'line 1, column 23: signals.interruptions has no field agent; did you mean byAgent?',
    ],
    ['turns.exists(t, t.words.size() > 1)', 'line 1, column 19: t has no field words; it has index, role'],
    ['has(signals.latency)', 'line 1, column 13: signals has no field latency; it has turns, words'],
    ['signals.overlap != null', 'line 1, column 9: signals has no field overlap'],
    ['convrsation.channel == "call"', 'line 1, column 1: there is no variable convrsation; did you mean conversation?'],
    ['t.role == "agent"', 'line 1, column 1: there is no variable t; there are conversation, signals'],
    ['turns.mention("a")', 'line 1, column 1: there is no function mention; did you mean mentions?'],
    ['[1].join() == ""', 'line 1, column 1: there is no function join'],
    ['b"{}".json() == {}', 'line 1, column 1: there is no function json'],
    ['true &&\n  signals.tolFailures > 0', 'line 2, column 11: signals has no field'],
    // Operators and functions with wrong types.
    ['turns.size() > "x"', 'line 1, column 1: > cannot be used with int and string'],
    ['signals.toolFailures == "none"', 'line 1, column 1: == cannot be used with double and string'],
    ['signals.talkRatio && true', "line 1, column 1: logical operator requires bool operands, got 'double'"],
    ['conversation.startedAt > 5', 'line 1, column 1: > cannot be used with timestamp and int'],
    ['turns["a"].role == "agent"', "line 1, column 1: list index must be int, got 'string'"],
    ['turns.text == "a"', 'line 1, column 7: turns is a list; check its items, as in turns.exists(t, t.text …)'],
    ['turns.all(t, t.role)', "line 1, column 16: all(var, predicate) predicate must return bool, got 'string'"],
    ['turns.contains("a")', 'line 1, column 1: there is no list.contains(string)'],
    ['signals.overlapMs', 'line 1, column 1: this is of type double; it must be true or false'],
    ['conversation.startedAt', 'line 1, column 1: this is of type timestamp; it must be true or false'],
    ['(signals.toolCalls > 1 ? 1 : 2.5) > 1', 'write whole numbers as 1.0 to make them doubles'],
    ['turns.first("3").size() > 0', 'line 1, column 1: there is no list.first(string)'],
    [
      'conversation.startedAt.hour > 8',
      'line 1, column 1: conversation.startedAt is of type timestamp, which has no fields',
    ],
    ['conversation.startedAt.__proto__ == conversation.startedAt.constructor', 'which has no fields'],
    ['duration("1s")["seconds"] == 1', 'is of type duration, which has no fields'],
    // Words that never occur.
    ['turns.exists(t, t.role == "user")', 'line 1, column 27: "user" is not one of agent, customer, system'],
    ['"phone" != conversation.channel', 'line 1, column 1: "phone" is not one of call, chat, voicemail'],
    ['conversation.direction in ["inbound", "in"]', 'line 1, column 39: "in" is not one of inbound, outbound'],
    ['turns.by("user").size() > 0', 'line 1, column 10: "user" is not a speaker; use agent, customer'],
    ['conversation.startedAt.getHours("Berlin") < 8', 'line 1, column 33: this is not a time zone; use an IANA name'],
    ['conversation.startedAt.getHours("+02:00") < 8', 'line 1, column 33: this is not a time zone'],
    // These patterns are invalid.
    ['turns.mentions("(a")', 'line 1, column 16: the pattern is invalid: missing closing ): `(a`'],
    ['true ||\nturns.mentions(r"(?<=a)b")', 'line 2, column 16: the pattern is invalid'],
    ['turns[0].text.matches("a{1001}")', 'line 1, column 23: the pattern repeats more than 1000 times'],
    ['turns.mentions(metadata.words)', 'line 1, column 16: a pattern must be a string literal'],
    ['metadata.a.matches(metadata.b)', 'line 1, column 20: a pattern must be a string literal'],
    ['signals.mentions("a")', 'line 1, column 1: mentions is a function of turns, a turn, or a string, not of Signals'],
    // The syntax of these expressions is invalid.
    ['1 +', 'line 1, column 4: unexpected end'],
    ['(true', 'line 1, column 6: expected ), got the end'],
    ['true true', 'line 1, column 6: unexpected true'],
    ['true $', 'line 1, column 6: unexpected $'],
    ['has(turns)', 'line 1, column 1: has() takes one field'],
    ['has(metadata.a, metadata.b)', 'line 1, column 1: has() takes one field'],
  ])('is rejected with the position of the fault: %s', (expression, fault) => {
    expect(faultOf(expression)).toContain(fault)
    expect(faultOf(expression)).toMatch(/^line \d+, column \d+: /)
  })

  it.each([
    ['nested calls', `${'size('.repeat(1_600)}turns${')'.repeat(1_600)} > 0`, 'is nested too deeply'],
    ['parentheses', `${'('.repeat(4_000)}true${')'.repeat(4_000)}`, 'is nested too deeply'],
    // The remaining stack determines which limit is reached first.
    ['negations', `${'!'.repeat(9_900)}true`, /is (nested too deeply|too long)$/],
    ['fields', `metadata${'.a'.repeat(4_900)}`, 'is nested too deeply'],
    ['a chain', `true${'||true'.repeat(1_600)}`, 'is too long'],
    ['a chain that is short enough to read', `true${'||true'.repeat(1_400)}`, 'is nested too deeply'],
    ['a list', `metadata.a in [${'1,'.repeat(1_001)}]`, 'a list that is too long'],
    ['arguments', `size(${'1,'.repeat(11)}1) > 0`, 'too many arguments to a function'],
    [
      'loops',
      'turns.all(a, turns.exists(b, turns.filter(c, turns.map(d, d).size() > 0).size() > 0))',
      'can only be nested 3 deep',
    ],
    [
      'patterns',
      Array.from({ length: 9 }, (_, at) => `turns.mentions(r"${'\\w{90}'.repeat(9)}${at}")`).join('||'),
      'the patterns of this expression are too large in total',
    ],
  ])('is limited in %s', (_, expression, fault) => {
    expect(expression.length).toBeLessThanOrEqual(10_000)
    expect(faultOf(expression)).toMatch(fault)
  })

  it.each([
    'signals.overlapMs > 1.5 * 1000',
    'signals.overlapMs > 1500 && 3 < signals.toolCalls',
    'signals.toolCalls == 0 || 0.5 == turns.size()',
    'signals.talkRatio in [0, 0.5, metadata.a] && {"a": 1, "b": "c"}.size() > 1',
    'signals.toolCalls in [1, 2] && turns.size() in [1.0, 2.5]',
    'signals.words.agent / turns.size() + 1 - 2.5 > turns.size() * 0.5',
    'metadata.age >= 18 && metadata.a + metadata.b > 3 && metadata.vip',
    'metadata["order id"] == "4" && has(metadata["order id"])',
    'metadata.__proto__ == 1 && metadata.constructor == 1',
    'metrics.csat < 3 || metrics.resolved',
    'conversation.endedAt - conversation.startedAt > duration("5m")',
    'conversation.startedAt > timestamp("2026-01-01T00:00:00Z")',
    'cel.bind(n, turns.size(), n > 3 && n < 9)',
    'turns[0].tool.arguments.amount > 100',
    `${Array.from({ length: 300 }, () => 'metadata.a == 1').join(' || ')}`,
    `conversation.customerId in [${Array.from({ length: 900 }, (_, at) => `"c${at}"`).join(',')}]`,
  ])('is accepted: %#', (expression) => {
    expect(checkRule({ expression })).toEqual([])
  })

  it('has both of its expressions checked, and a score that is a number', () => {
    const faults = checkRule({ expression: 'foo', score: 'signals.overlapMs > 1' })
    expect(faults.map(({ path }) => path)).toEqual(['definition.expression', 'definition.score'])
    expect(faults[1]?.message).toBe('line 1, column 1: this is of type bool; it must be a number')
    for (const score of ['turns.size()', 'signals.overlapMs / 2', 'metrics.csat', '1.5']) {
      expect(checkRule({ expression: 'true', score })).toEqual([])
    }
    expect(checkDefinition('rule', { expression: 'true', score: '"1"' })).toEqual([
      { path: 'definition.score', message: 'line 1, column 1: this is of type string; it must be a number' },
    ])
  })

  it('is checked against the properties of a conversation', () => {
    const { metadata, signals, recording, reviewStatus, createdAt, updatedAt, ...rest } = Conversation.properties
    expect(Object.keys(types.Conversation).sort()).toEqual(Object.keys(rest).sort())
    for (const name of ['channel', 'direction', 'status'] as const) {
      const { enum: words = [] } = rest[name] as { enum?: unknown[] }
      expect(choices[`Conversation.${name}`], name).toEqual(words.filter((word) => word !== null))
    }
    expect([metadata, signals, recording, reviewStatus, createdAt, updatedAt]).not.toContain(undefined)
  })
})
