import { describe, expect, it } from 'vitest'
import { rootsAfter } from './merged.ts'

const known = [
  { id: 'refunds', mergedIntoId: null },
  { id: 'late', mergedIntoId: 'refunds' },
  { id: 'orders', mergedIntoId: null },
]
const nothing = { splits: [], ended: [] }

describe('merged topics', () => {
  it('stay merged when both are found again', () => {
    expect([...rootsAfter(known, { ...nothing, ids: ['late', 'new', 'refunds'] })]).toEqual([['late', 'refunds']])
  })

  it('include what splits off a merged topic, but not what splits off the other one', () => {
    const splits = [
      { id: 'late', into: [0, 1] },
      { id: 'refunds', into: [2, 3] },
    ]
    const roots = rootsAfter(known, { ...nothing, ids: ['late', 'later', 'refunds', 'newer'], splits })
    expect([...roots]).toEqual([
      ['late', 'refunds'],
      ['later', 'refunds'],
    ])
  })

  it('belong to the successor of the topic that ended', () => {
    const ended = [{ id: 'refunds', mergedIntoId: 'orders' }]
    expect([...rootsAfter(known, { ...nothing, ids: ['late', 'orders'], ended })]).toEqual([['late', 'orders']])
  })

  it('are listed by themselves if the topic ended without another successor', () => {
    for (const mergedIntoId of [null, 'late']) {
      const ended = [{ id: 'refunds', mergedIntoId }]
      expect(rootsAfter(known, { ...nothing, ids: ['late', 'orders'], ended }).size).toBe(0)
    }
  })

  it('never represent each other', () => {
    const both = [
      { id: 'a', mergedIntoId: 'gone' },
      { id: 'b', mergedIntoId: 'a' },
    ]
    const ended = [{ id: 'gone', mergedIntoId: 'b' }]
    const roots = rootsAfter(both, { ...nothing, ids: ['a', 'b'], ended })
    for (const root of roots.values()) expect(roots.has(root)).toBe(false)
  })
})
