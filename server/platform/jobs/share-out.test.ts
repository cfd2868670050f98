import { describe, expect, it } from 'vitest'
import type { OrgId } from '../db/database.ts'
import { shareOut } from './share-out.ts'

const share = (backlogs: Record<string, number>, running: Record<string, number>, free: number) =>
  Object.fromEntries(
    shareOut(
      Object.entries(backlogs).map(([org, waiting]) => ({ org: org as OrgId, waiting })),
      new Map(Object.entries(running)) as unknown as Map<OrgId, number>,
      free,
    ),
  )

describe('slots per organization', () => {
  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 2],
    [8, 4],
    [64, 32],
  ])('of %i, a single one fills %i', (free, filled) => {
    expect(share({ a: 1_000 }, {}, free)).toEqual({ a: filled })
  })

  it('the next one finds a free one, and so does the one after', () => {
    expect(share({ a: 9, b: 9 }, { a: 4 }, 4)).toEqual({ b: 2 })
    expect(share({ a: 9, b: 9, c: 9 }, { a: 4, b: 2 }, 2)).toEqual({ c: 1 })
    expect(share({ d: 9 }, { a: 4, b: 2, c: 1 }, 1)).toEqual({ d: 1 })
  })

  it('are shared evenly, in the order of turns', () => {
    expect(share({ a: 9, b: 9, c: 9 }, {}, 8)).toEqual({ a: 2, b: 2, c: 2 })
    expect(share({ c: 9, a: 9, b: 9 }, {}, 2)).toEqual({ c: 1, a: 1 })
  })

  it('are never more than the waiting jobs', () => {
    expect(share({ a: 1, b: 9 }, {}, 8)).toEqual({ a: 1, b: 4 })
    expect(share({}, { a: 2 }, 6)).toEqual({})
  })

  it('go to the one with the fewest running first', () => {
    expect(share({ a: 9, b: 9 }, { a: 1 }, 1)).toEqual({ b: 1 })
  })

  it('are not all used by those that already have one', () => {
    expect(share({ a: 9 }, { a: 1, b: 2 }, 1)).toEqual({})
  })
})
