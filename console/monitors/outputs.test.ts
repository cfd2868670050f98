import { describe, expect, it } from 'vitest'
import { categoriesOf, categoryLabel, mayHaveFields, mayNameCategories, measuredFieldsOf } from './outputs.ts'

const of = (kind: 'rule' | 'judge' | 'external', definition: Record<string, unknown>) => ({
  kind,
  currentVersion: { number: 1, definition, createdAt: '2026-11-20T10:00:00.000Z' },
})

const judge = of('judge', {
  output: { type: 'category', categories: [{ key: 'billing', label: 'A bill' }], allowOther: true },
})

describe('categories', () => {
  it('of a judge have its labels and the reserved ones', () => {
    expect(categoriesOf(judge)).toEqual([
      { value: 'billing', label: 'A bill' },
      { value: 'other', label: 'No category fits' },
    ])
    expect(categoryLabel(judge, 'billing')).toBe('A bill')
    expect(categoryLabel(judge, 'gone')).toBe('gone')
    expect(categoryLabel(undefined, 'not_applicable')).toBe('Not applicable')
  })

  it('of a rule are the keys of its map', () => {
    const rule = of('rule', { categories: `{'late': metadata['a b'] == 'x:y', "rude" : true}`, fields: "{'n': 1}" })
    expect(categoriesOf(rule).map(({ value }) => value)).toEqual(['late', 'rude'])
    expect(measuredFieldsOf(rule)).toEqual(['n'])
  })

  it('may be unknown', () => {
    const external = of('external', {})
    expect([mayNameCategories(external), mayHaveFields(external), categoriesOf(external)]).toEqual([true, true, []])
    const plain = of('judge', { output: { type: 'boolean' } })
    expect([mayNameCategories(plain), mayHaveFields(plain)]).toEqual([false, false])
  })
})

it('only numbers and booleans of an extraction are measured', () => {
  const fields = [
    { key: 'amount', type: 'number' },
    { key: 'isPaid', type: 'boolean' },
    { key: 'name', type: 'string' },
  ]
  expect(measuredFieldsOf(of('judge', { output: { type: 'extract', fields } }))).toEqual(['amount', 'isPaid'])
})
