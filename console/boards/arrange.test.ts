import { expect, it } from 'vitest'
import { moved, stored, withWidth } from './arrange.ts'
import type { ChartInput } from './queries.ts'

const chart = (id: string): ChartInput => ({
  id,
  title: id,
  kind: 'number',
  width: 'half',
  query: { measure: { kind: 'volume' } },
})

const charts = ['a', 'b', 'c'].map(chart)
const idsOf = (all: ChartInput[]) => all.map(({ id }) => id).join('')

it('moves charts', () => {
  expect(idsOf(moved(charts, 'a', 2))).toBe('bca')
  expect(idsOf(moved(charts, 'c', 0))).toBe('cab')
  expect(moved(charts, 'gone', 0)).toEqual(charts)
})

it('replaces a chart, or adds it', () => {
  expect(stored(charts, { ...chart('b'), title: 'New' }).map(({ title }) => title)).toEqual(['a', 'New', 'c'])
  const { id: _, ...fresh } = chart('d')
  expect(stored(charts, fresh)).toHaveLength(4)
  expect(idsOf(stored(charts, chart('gone')))).toBe('abcgone')
})

it('resizes a chart', () => {
  expect(withWidth(charts, 'b', 'full').map(({ width }) => width)).toEqual(['half', 'full', 'half'])
})
