import { expect, it } from 'vitest'
import { csvOf, toCsv } from './csv.ts'

it('quotes cells, and keeps spreadsheets from running them', () => {
  expect(
    toCsv([
      ['a,b', 1.5, null],
      ['say "hi"', -2, '=1+1'],
    ]),
  ).toBe('"a,b",1.5,\r\n"say ""hi""",-2,\'=1+1')
})

it('writes a row for each group and period', () => {
  const figure = { n: 2, value: 0.5, interval95: { low: 0.1, high: 0.9 } }
  const groups = [
    { key: ['a'], label: ['Front desk'], isOther: false, ...figure, series: [{ start: 's', end: 'e', ...figure }] },
  ]
  const answer = { period: null, comparedPeriod: null, groups, warnings: [] }
  const query = { measure: { kind: 'volume' as const }, groupBy: ['agent'] }
  expect(csvOf({ query }, answer)).toBe('agent,n,value,low,high\r\nFront desk,2,0.5,0.1,0.9')
  expect(csvOf({ query: { ...query, interval: 'day' } }, answer)).toBe(
    'agent,start,end,n,value,low,high\r\nFront desk,s,e,2,0.5,0.1,0.9',
  )
})
