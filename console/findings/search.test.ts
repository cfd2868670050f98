import { expect, it } from 'vitest'
import { filterOf, readFindingsSearch } from './search.ts'

it('reads filters from the URL, in which the router has parsed numbers', () => {
  expect(readFindingsSearch({ layout: 'list', open: 'f', findingType: 1, tags: 'billing', status: 'open' })).toEqual({
    layout: 'list',
    open: 'f',
    findingType: '1',
    tags: 'billing',
    status: 'open',
  })
  expect(readFindingsSearch({ tags: 2026 })).toEqual({ tags: '2026' })
})

it('ignores empty, unknown, and structured values', () => {
  expect(readFindingsSearch({ layout: 'grid', open: '', status: ['open'], priority: {}, other: 'x' })).toEqual({})
})

it('sends only the filters to the API', () => {
  expect(filterOf({ layout: 'list', open: 'f', tags: 'billing' })).toEqual({ tags: 'billing' })
})
