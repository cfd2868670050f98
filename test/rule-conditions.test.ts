import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { signalNames } from '../console/conversations/signal-names.ts'
import { soundNames } from '../console/conversations/sound-names.ts'
import {
  comparisons,
  dataKinds,
  people,
  places,
  type RuleCondition,
  readRule,
  writeRule,
} from '../console/monitors/conditions/rule-text.ts'
import { checkRule } from '../server/monitors/rules/check.ts'

/** Checks that the console and the server agree on the meaning of rules that are written as conditions. */

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((given) => given.trim() !== '')
const word = text.map((given) => given.replaceAll(',', '').trim()).filter((given) => given !== '')
const op = fc.constantFrom(...(Object.keys(comparisons) as (keyof typeof comparisons)[]))
const value = fc.oneof(
  fc.integer({ min: -1e6, max: 1e6 }),
  fc.integer({ min: -999, max: 999 }).map((n) => n / 8),
)
const of = fc.constantFrom(...dataKinds)
const not = fc.boolean()
const kind = <const K extends string>(name: K) => fc.constant(name)

const condition: fc.Arbitrary<RuleCondition> = fc.oneof(
  fc
    .record({
      kind: kind('words'),
      who: fc.constantFrom(...people),
      where: fc.constantFrom(...places),
      messages: fc.integer({ min: 1, max: 20 }),
      words: fc.array(word, { minLength: 1, maxLength: 4 }),
      not,
    })
    // The number only matters at the start or end.
    .map((made) => (made.where === 'anywhere' ? { ...made, messages: 3 } : made)),
  fc.record({ kind: kind('signal'), name: fc.constantFrom(...signalNames), op, value, not }),
  fc.record({ kind: kind('sound'), name: fc.constantFrom(...soundNames), op, value, not }),
  fc.record({ kind: kind('duration'), op, value, not }),
  fc.oneof(
    fc.record({
      kind: kind('field'),
      field: kind('channel'),
      value: fc.constantFrom('call', 'chat', 'voicemail'),
      not,
    }),
    fc.record({ kind: kind('field'), field: kind('direction'), value: fc.constantFrom('inbound', 'outbound'), not }),
    fc.record({ kind: kind('field'), field: kind('endReason'), value: text, not }),
  ),
  fc.record({ kind: kind('tool'), name: text, what: fc.constantFrom('called' as const, 'failed' as const), not }),
  fc.record({ kind: kind('text'), of, key: text, value: text, not }),
  fc.record({ kind: kind('number'), of, key: text, op, value, not }),
  fc.record({ kind: kind('truth'), of, key: text, value: fc.boolean(), not }),
  fc.record({ kind: kind('known'), of, key: text, not }),
)

const conditions = fc
  .record({ match: fc.constantFrom('all' as const, 'any' as const), conditions: fc.array(condition, { maxLength: 6 }) })
  // With fewer than two conditions, `all` and `any` mean the same.
  .map((made) => (made.conditions.length < 2 ? { ...made, match: 'all' as const } : made))

describe('the conditions of a rule', () => {
  it('are read back as they were written', () => {
    fc.assert(
      fc.property(conditions, (given) => {
        expect(readRule(writeRule(given))).toEqual(given)
      }),
      { numRuns: 2_000 },
    )
  })

  it('are always a valid rule', () => {
    fc.assert(
      fc.property(conditions, (given) => {
        fc.pre(given.conditions.length > 0)
        const expression = writeRule(given)
        expect(checkRule({ expression }), expression).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it('are read from rules written by hand, if they have the same form', () => {
    expect(readRule("turns.by('customer').mentions('real person|human') && signals.toolFailures > 0")).toEqual({
      match: 'all',
      conditions: [
        { kind: 'words', who: 'customer', where: 'anywhere', messages: 3, words: ['real person', 'human'], not: false },
        { kind: 'signal', name: 'toolFailures', op: 'gt', value: 0, not: false },
      ],
    })
  })

  it.each([
    "turns.by('agent').mentions('record(ed|ing)')",
    "signals.toolFailures > 0 && (signals.toolCalls > 3 || metadata['plan'] == 'gold')",
    'signals.toolFailures > 0 && signals.toolCalls > 3 || signals.talkRatio > 0.5',
    'conversation.durationSeconds > 15 * 60',
    '!(signals.toolCalls > 3) && true',
    "turns.mentions('')",
    "turns.mentions('yes, please')",
    "turns.mentions('hi ')",
    String.raw`metadata['plan'] == 'caf\u00e9'`,
    String.raw`metadata['plan'] == '\x41BC'`,
    String.raw`turns.mentions('a\bc')`,
    'signals.toolCalls >',
  ])('are not read from other rules: %s', (rule) => {
    expect(readRule(rule)).toBeUndefined()
  })
})
