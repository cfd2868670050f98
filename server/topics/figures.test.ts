import { describe, expect, it } from 'vitest'
import { bySize, bySurprise, computeFigures, surpriseOf } from './figures.ts'
import type { StoredTopic } from './queries.ts'

const topic = (id: string, groupId: string | null = null, isGroup = false): StoredTopic => ({
  id,
  groupId,
  isGroup,
  terms: [],
  label: null,
  hidden: false,
  createdAt: new Date(0),
  endedAt: null,
  mergedIntoId: null,
})

const topics = [topic('group', null, true), topic('a', 'group'), topic('b', 'group'), topic('c')]
const counts = [
  { topicId: 'a', interval: -1, conversations: 30 },
  { topicId: 'a', interval: 0, conversations: 10 },
  { topicId: 'a', interval: 1, conversations: 20 },
  { topicId: 'b', interval: 1, conversations: 5 },
  { topicId: 'c', interval: -1, conversations: 10 },
  { topicId: 'c', interval: 0, conversations: 40 },
  { topicId: null, interval: 1, conversations: 15 },
  { topicId: 'ended', interval: 0, conversations: 10 },
  { topicId: null, interval: -1, conversations: 60 },
]

describe('figures', () => {
  const { conversations, byDay, outliers, ofTopics } = computeFigures(topics, counts, 2)
  const of = (id: string) => ofTopics.find((one) => one.topic.id === id)?.figures

  it('are shares of all conversations, with the previous period', () => {
    expect(conversations).toBe(100)
    expect(byDay).toEqual([60, 40])
    expect(of('a')).toMatchObject({ conversations: 30, previousShare: 0.3, trend: [10, 20] })
    expect(of('a')?.share?.value).toBe(0.3)
    expect(of('b')).toMatchObject({ conversations: 5, previousShare: 0, trend: [0, 5] })
  })

  it('of a group are those of its topics', () => {
    expect(of('group')).toMatchObject({ conversations: 35, previousShare: 0.3, trend: [10, 25] })
  })

  it('count topics that ended as outliers', () => {
    expect(outliers).toMatchObject({ conversations: 25, trend: [10, 15], previousShare: 0.6 })
  })

  it('of a merged topic belong to the topic it was merged into, and its group', () => {
    const merged = topics.map((one) => (one.id === 'c' ? { ...one, mergedIntoId: 'a', groupId: 'group' } : one))
    const figures = new Map(computeFigures(merged, counts, 2).ofTopics.map((one) => [one.topic.id, one.figures]))
    expect(figures.has('c')).toBe(false)
    expect(figures.get('a')).toMatchObject({ conversations: 70, previousShare: 0.4, trend: [50, 20] })
    expect(figures.get('group')).toMatchObject({ conversations: 75, trend: [50, 25] })
  })

  it('are sorted by change or by size', () => {
    const ids = (compare: typeof bySize) => ofTopics.toSorted(compare).map((one) => one.topic.id)
    expect(ids(bySurprise)).toEqual(['c', 'b', 'group', 'a'])
    expect(ids(bySize)).toEqual(['c', 'group', 'a', 'b'])
  })
})

describe('surprise', () => {
  it('is the change in standard errors of two shares', () => {
    expect(surpriseOf({ some: 40, all: 100 }, { some: 10, all: 100 })).toBeCloseTo(4.899, 3)
    expect(surpriseOf({ some: 10, all: 100 }, { some: 40, all: 100 })).toBeCloseTo(-4.899, 3)
    expect(surpriseOf({ some: 0, all: 100 }, { some: 0, all: 100 })).toBe(0)
  })

  it('is unknown without conversations in both periods', () => {
    expect(surpriseOf({ some: 4, all: 10 }, { some: 0, all: 0 })).toBeNull()
    expect(surpriseOf({ some: 0, all: 0 }, { some: 4, all: 10 })).toBeNull()
  })
})
