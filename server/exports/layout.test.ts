import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cellsOfCalls, cellsOfObservations, columnNames, slugsOf } from './layout.ts'

const layoutOf = (names: string[], cells = cellsOfCalls) => {
  const slugs = slugsOf(names)
  const monitors = names.map((name, at) => ({ id: name, name, slug: slugs[at] ?? '', version: 1 }))
  return { ...cells, monitors, versions: 'current' as const, reasoning: true, about: [] }
}

describe('the slugs of monitors', () => {
  it.each([
    [['Refund asked?'], ['refund_asked']],
    [['  Größe — naïve Ⅳ ﬁne  '], ['große_naive_iv_fine']],
    [
      ['返金を求めた？', 'हिन्दी में', '한국어', 'Жалоба', 'Tiếng Việt'],
      ['返金を求めた', 'हिन्दी_में', '한국어', 'жалоба', 'tieng_viet'],
    ],
    [
      ['!', '', '…'],
      ['monitor', 'monitor_2', 'monitor_3'],
    ],
    [['𠮷'.repeat(70)], ['𠮷'.repeat(60)]],
    [
      ['返金', '返金！'],
      ['返金', '返金_2'],
    ],
    [
      ['a', 'A', 'a!'],
      ['a', 'a_2', 'a_3'],
    ],
    [
      ['a', 'A', 'a 2'],
      ['a', 'a_3', 'a_2'],
    ],
    [
      ['a 2', 'a', 'a', 'a_2'],
      ['a_2', 'a', 'a_3', 'a_2_2'],
    ],
    [
      ['Agent', 'agent'],
      ['agent_2', 'agent_3'],
    ],
    [
      ['x'.repeat(80), `${'x'.repeat(80)}y`],
      ['x'.repeat(60), `${'x'.repeat(58)}_2`],
    ],
    [[`${'x'.repeat(59)} y`], ['x'.repeat(59)]],
  ])('of %j are %j', (names, slugs) => {
    expect(slugsOf(names)).toEqual(slugs)
  })

  it('name every column once, in letters and digits, with at most 60 characters', () => {
    const name = fc.oneof(
      fc.constantFrom(
        'a',
        'A',
        'a_2',
        'a 2',
        'agent',
        'Agent',
        'agent_2',
        'a_result',
        'a_value',
        'arm',
        'monitor',
        'x'.repeat(61),
      ),
      fc.string({ unit: 'grapheme', maxLength: 80 }),
    )
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 20 }), (names) => {
        for (const cells of [cellsOfCalls, cellsOfObservations]) {
          const columns = columnNames(layoutOf(names, cells))
          expect(new Set(columns).size).toBe(columns.length)
        }
        for (const slug of slugsOf(names)) {
          expect(slug).toMatch(/^[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}_]*$/u)
          expect([...slug].length).toBeLessThanOrEqual(60)
        }
      }),
    )
  })
})

it('columns are in the order of the monitors, with reasoning on request', () => {
  const layout = layoutOf(['B', 'A'])
  const of = (slug: string) => ['result', 'score', 'version', 'evaluated_at'].map((column) => `${slug}_${column}`)
  expect(columnNames({ ...layout, reasoning: false }).slice(14)).toEqual([...of('b'), ...of('a')])
  expect(columnNames(layout).slice(14)).toEqual([...of('b'), 'b_reasoning', ...of('a'), 'a_reasoning'])
})

it('columns of an experiment start with the arm, and each outcome with its observed value', () => {
  const columns = columnNames(layoutOf(['B', 'A'], cellsOfObservations)).slice(14)
  const of = (slug: string) =>
    ['observation', 'value', 'result', 'score', 'version', 'evaluated_at', 'reasoning'].map((name) => `${slug}_${name}`)
  expect(columns).toEqual(['arm', 'arm_name', 'unit', ...of('b'), ...of('a')])
})
