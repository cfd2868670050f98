import { afterAll, describe, expect, it } from 'vitest'
import { type SubjectFields, subjectOf } from '../../../test/support/monitors/rule-subjects.ts'
import { checkFieldCondition, checkRule } from './check.ts'
import { outcomes } from './outcome.ts'
import { openRules } from './rules.ts'
import type { RuleSource } from './source.ts'

const rules = openRules({ threads: 1 })
afterAll(rules.close)

const turns = ['agent: Hello, Acme here', 'customer: I want a refund of 20', 'agent: One moment', 'customer: Thanks']

const ask = async (source: Partial<RuleSource>, told: SubjectFields = { turns }) => {
  const { results, notes } = await rules.evaluate({
    rules: [{ expression: 'true', ...source }],
    subjects: [subjectOf(told)],
  })
  return { result: results[0], ...notes.get(0) }
}

const categoriesOf = async (categories: string, told?: SubjectFields) => (await ask({ categories }, told)).categories
const fieldsOf = async (fields: string, told?: SubjectFields) => (await ask({ fields }, told)).fields

describe('the categories of a rule', () => {
  it('are those that are true, in order', async () => {
    expect(await categoriesOf("{'long': turns.size() > 3, 'b': false, 'refund': turns.mentions('refund')}")).toEqual([
      'long',
      'refund',
    ])
    expect(await categoriesOf("{'b': false}")).toEqual([])
  })

  it('are unknown if one of them is', async () => {
    expect(await ask({ categories: "{'a': true, 'gold': metadata.plan == 'gold'}" })).toEqual({
      result: outcomes.affected,
    })
    expect(await ask({ categories: "{'a': metadata.vip}" }, { metadata: { vip: 'yes' } })).toEqual({
      result: outcomes.affected,
    })
  })

  it('come with evidence, even if the rule is not affected', async () => {
    expect(await ask({ expression: 'false', categories: "{'refund': turns.mentions('refund of')}" })).toEqual({
      result: outcomes.notAffected,
      categories: ['refund'],
      evidence: [{ turn: 1, quote: 'refund of' }],
    })
  })

  it('never count as not affected if none fits, or the rule does not apply', async () => {
    const other = { expression: 'false', categories: "{'a': false, 'other': true}" }
    expect(await ask(other)).toMatchObject({
      result: outcomes.unscored,
      reason: 'no category fits',
      categories: ['other'],
    })
    expect(await ask({ ...other, expression: 'true' })).toMatchObject({ result: outcomes.affected })
    const away = { categories: "{'not_applicable': conversation.channel == 'call'}" }
    for (const expression of ['true', 'false']) {
      expect(await ask({ ...away, expression })).toMatchObject({
        result: outcomes.unscored,
        categories: ['not_applicable'],
      })
    }
  })

  it('are kept if the rule itself has no answer', async () => {
    const source = { expression: 'metadata.a == 1', categories: "{'long': true}", fields: "{'n': 1}" }
    expect(await ask(source)).toEqual({
      result: outcomes.unscored,
      reason: 'metadata has no a',
      categories: ['long'],
      fields: { n: 1 },
    })
  })
})

describe('the fields of a rule', () => {
  it('have the types of JSON', async () => {
    const fields = `{'plan': metadata.plan, 'size': turns.size(), 'half': turns.size() / 8.0, 'is': turns.size() == 4,
      'at': conversation.startedAt, 'roles': turns.map(t, t.role), 'first': turns[0].text}`
    expect(await fieldsOf(fields, { turns, metadata: { plan: 'gold' } })).toEqual({
      plan: 'gold',
      size: 4,
      half: 0.5,
      is: true,
      at: '2026-11-20T10:00:00.000Z',
      roles: ['agent', 'customer', 'agent', 'customer'],
      first: 'Hello, Acme here',
    })
  })

  it('are null if they are unknown or cannot be stored, without affecting the others', async () => {
    const fields = "{'a': metadata.none, 'b': metadata.map, 'c': metadata.list, 'd': 1.0 / 0.0, 'e': 'x'}"
    expect(await fieldsOf(fields, { metadata: { map: { a: 1 }, list: [1] } })).toEqual({
      a: null,
      b: null,
      c: null,
      d: null,
      e: 'x',
    })
  })

  it('are limited in length', async () => {
    const metadata = { text: `\0${'🙂'.repeat(600)}`, list: Array.from({ length: 101 }, () => 'x'.repeat(201)) }
    const fields = await fieldsOf("{'text': metadata.text, 'list': metadata.list}", { metadata })
    expect(fields?.text).toBe('🙂'.repeat(500))
    expect(fields?.list).toEqual(Array(100).fill('x'.repeat(200)))
  })

  it('share the limits of the rule', async () => {
    const large = `{'a': ${Array(12).fill('metadata.text').join(' + ')}}`
    expect(await ask({ fields: large }, { metadata: { text: 'x'.repeat(3_000_000) } })).toEqual({
      result: outcomes.failed,
      reason: 'this builds a value that is too large',
    })
  })
})

describe('saving a rule with a map', () => {
  it.each([
    ['categories', '[1]', "line 1, column 1: this must be a map, such as {'late': signals.longestSilenceMs > 5000}"],
    ['categories', 'metadata', 'line 1, column 1: this must be a map'],
    ['categories', '{}', 'line 1, column 1: the map must have 1 to 20 keys'],
    ['categories', "{'a': 1}", 'line 1, column 7: this is of type int; a category must be true or false'],
    ['categories', "{'a b': true}", 'line 1, column 2: "a b" must be letters, digits, and underscores'],
    ['categories', '{metadata.a: true}', "line 1, column 2: a key must be a literal, such as 'late'"],
    ['categories', "{'a': true,\n 'a': false}", 'line 2, column 2: a is listed twice'],
    ['categories', "{'a': signals.tolFailures > 0}", 'line 1, column 15: signals has no field tolFailures'],
    [
      'categories',
      `{${Array.from({ length: 21 }, (_, at) => `'c${at}': true`).join(', ')}}`,
      'line 1, column 1: the map must have 1 to 20 keys',
    ],
    ['fields', "{'a': turns}", 'line 1, column 7: this is of type list<Turn>; a field must be a string'],
    ['fields', "{'a': turns[0]}", 'is of type Turn; a field must be a string'],
    ['fields', "{'a': {'b': 1}}", 'a field must be a string'],
    ['fields', "{'a': duration('1s')}", 'is of type duration; a field must be a string'],
  ])('finds what is wrong with %s: %s', (name, text, message) => {
    expect(checkRule({ expression: 'true', [name]: text })).toEqual([
      { path: `definition.${name}`, message: expect.stringContaining(message) },
    ])
  })

  it('accepts 20 categories and lists of strings', () => {
    const categories = `{${Array.from({ length: 20 }, (_, at) => `'c${at}': metadata.a`).join(', ')}}`
    const fields = "{'a': ['x'], 'b': turns.map(t, t.text), 'c': metadata.d, 'e': [], 'f': null}"
    expect(checkRule({ expression: 'true', categories, fields })).toEqual([])
  })
})

describe('a condition on extracted fields', () => {
  const keys = ['amount', 'reason', 'items']

  it.each([
    ['fields.amount > 20', undefined],
    ["has(fields.reason) && fields.reason.mentions('late') || 'cup' in fields.items", undefined],
    ['fields.amont > 20', 'line 1, column 8: there is no field amont; did you mean amount?'],
    ["fields['x'] == 1", 'there is no field x; there are amount, reason, items'],
    ['has(fields.amont)', 'did you mean amount?'],
    ['metadata.plan == "gold"', 'line 1, column 1: there is no variable metadata; there are fields'],
    ['fields.amount + 1', undefined],
    ['1', 'this is of type int; it must be true or false'],
  ])('is checked when it is saved: %s', (expression, message) => {
    const fault = checkFieldCondition(expression, keys)
    if (message === undefined) expect(fault).toBeUndefined()
    else expect(fault).toContain(message)
  })

  const over = async (expression: string, fields: object) => {
    const { results, notes } = await rules.evaluate({
      rules: [{ expression, over: 'fields' }],
      subjects: [{ facts: JSON.stringify({ fields }), transcript: null, unreadable: null }],
    })
    return { result: results[0], ...notes.get(0) }
  }

  it('reads the fields, of which null ones are missing', async () => {
    const fields = { amount: 24.5, reason: null, items: ['cup'] }
    expect(await over('fields.amount > 20', fields)).toEqual({ result: outcomes.affected })
    expect(await over("'lid' in fields.items", fields)).toEqual({ result: outcomes.notAffected })
    expect(await over('fields.reason == null', fields)).toEqual({ result: outcomes.affected })
    expect(await over("fields.reason == 'late'", fields)).toEqual({
      result: outcomes.unscored,
      reason: 'fields has no reason',
    })
  })
})
