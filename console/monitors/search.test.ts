import { expect, it } from 'vitest'
import { readMonitorSearch, readNewMonitorSearch } from './search.ts'

it('keeps known values of the URL', () => {
  const search = { version: 3, tab: 'versions', time: 'last:30d', result: 'not_affected', from: 1, to: 2 }
  expect(readMonitorSearch(search)).toEqual(search)
  expect(readNewMonitorSearch({ kind: 'judge' })).toEqual({ kind: 'judge' })
})

it('ignores values that the page cannot show', () => {
  const search = { version: 0, tab: 'secrets', time: 31, result: 'maybe', from: 1.5, to: '2', other: true }
  expect(readMonitorSearch(search)).toEqual({})
  expect(readNewMonitorSearch({ kind: 'toString' })).toEqual({})
})
