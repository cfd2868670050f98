import { describe, expect, it } from 'vitest'
import { coveringByTopic } from './coverage.ts'
import type { Covered, StoredTopic } from './queries.ts'

const topic = (id: string, more: Partial<StoredTopic> = {}): StoredTopic => ({
  id,
  groupId: null,
  isGroup: false,
  terms: [],
  label: null,
  hidden: false,
  createdAt: new Date(0),
  endedAt: null,
  mergedIntoId: null,
  ...more,
})

const results = (topicId: string, monitorId: string, affected: number, evaluated: number): Covered => ({
  topicId,
  monitorId,
  name: `Monitor ${monitorId}`,
  affected,
  evaluated,
})

describe('a monitor', () => {
  it('covers a topic from half of the evaluated conversations', () => {
    const covering = coveringByTopic(
      [topic('refunds')],
      [results('refunds', 'b', 10, 20), results('refunds', 'a', 5, 5), results('refunds', 'c', 9, 20)],
    )
    expect(covering.get('refunds')).toEqual([
      { id: 'a', name: 'Monitor a' },
      { id: 'b', name: 'Monitor b' },
    ])
  })

  it('does not cover a topic of which it evaluated hardly anything', () => {
    expect(coveringByTopic([topic('refunds')], [results('refunds', 'a', 4, 4)]).get('refunds')).toEqual([])
  })

  it('covers a group or a merged topic by the sum of its topics', () => {
    const topics = [
      topic('group', { isGroup: true }),
      topic('refunds', { groupId: 'group' }),
      topic('late', { groupId: 'group', mergedIntoId: 'refunds' }),
      topic('orders', { groupId: 'group' }),
    ]
    const covering = coveringByTopic(topics, [
      results('refunds', 'a', 0, 4),
      results('late', 'a', 6, 6),
      results('orders', 'a', 0, 10),
    ])
    expect(covering.get('refunds')).toEqual([{ id: 'a', name: 'Monitor a' }])
    expect(covering.has('late')).toBe(false)
    expect(covering.get('group')).toEqual([])
  })

  it('does not cover topics that ended', () => {
    expect(coveringByTopic([], [results('gone', 'a', 20, 20)]).size).toBe(0)
  })
})
