import { describe, expect, it } from 'vitest'
import { matchClusters } from './match.ts'

const cluster = (...members: string[]) => ({ members: new Set(members) })
const known = (id: string, ...members: string[]) => ({ id, members: new Set(members) })

describe('the clusters of a rebuild', () => {
  it('keep their IDs if their members stay together, in any order and with new members', () => {
    const matched = matchClusters(
      [known('a', '1', '2', '3'), known('b', '4', '5', '6')],
      [cluster('5', '6', '7', '8', '4'), cluster('1', '2', '9')],
    )
    expect(matched).toEqual({ ids: ['b', 'a'], splits: [], merges: [], ended: [] })
  })

  it('are new if nothing was there before', () => {
    const matched = matchClusters([known('a', '1', '2')], [cluster('1', '2'), cluster('3', '4')])
    expect(matched).toEqual({ ids: ['a', undefined], splits: [], merges: [], ended: [] })
  })

  it('record a split in which the largest part keeps the ID', () => {
    const matched = matchClusters([known('a', '1', '2', '3', '4', '5')], [cluster('4', '5'), cluster('1', '2', '3')])
    expect(matched).toEqual({ ids: [undefined, 'a'], splits: [{ id: 'a', into: [1, 0] }], merges: [], ended: [] })
  })

  it('record a merge, which keeps the ID of its largest part', () => {
    const matched = matchClusters([known('a', '1', '2'), known('b', '3', '4', '5')], [cluster('1', '2', '3', '4', '5')])
    expect(matched).toEqual({ ids: ['b'], splits: [], merges: [{ ids: ['a'], into: 0 }], ended: [] })
  })

  it('record what ended', () => {
    const matched = matchClusters([known('a', '1', '2'), known('b', '3', '4')], [cluster('1', '2')])
    expect(matched).toEqual({ ids: ['a'], splits: [], merges: [], ended: ['b'] })
  })
})
