import { expect, it } from 'vitest'
import { conversationsOf } from './links.ts'
import type { Group, Query } from './queries.ts'

const period = { last: '7d', timezone: 'UTC' }

const group = (...key: (string | null)[]): Group => ({
  key,
  label: [],
  isOther: false,
  n: 1,
  value: 1,
  interval95: null,
})

const volume: Query = { measure: { kind: 'volume' } }

it('links to the conversations of a group and period', () => {
  const query: Query = { measure: { kind: 'rate', monitorId: 'm' }, groupBy: ['agent', 'metadata:plan'] }
  const filter = { period, agentIds: ['a', 'b'], metadata: [{ key: 'tier', op: 'is_set' as const }] }
  const span = { start: '2026-11-01T00:00:00.000Z', end: '2026-11-02T00:00:00.000Z' }
  expect(conversationsOf({ query, filter, group: group('a', 'gold'), span })).toEqual({
    to: '/conversations',
    search: {
      filter: {
        agentIds: ['a'],
        metadata: [
          { key: 'tier', op: 'is_set' },
          { key: 'plan', op: 'eq', value: 'gold' },
        ],
        since: span.start,
        until: span.end,
        monitors: [{ id: 'm', result: 'affected' }],
      },
    },
  })
})

it('links to the conversations of a topic', () => {
  const query: Query = { ...volume, groupBy: ['topic'] }
  expect(conversationsOf({ query, filter: { period }, group: group('t') })).toEqual({
    to: '/conversations',
    search: { filter: { period, topicIds: ['t'] } },
  })
  expect(conversationsOf({ query, filter: { period }, group: group(null) })).toBeUndefined()
})

it('links to nothing if no filter selects the group', () => {
  const linkOf = (groupBy: string[], of: Group) =>
    conversationsOf({ query: { ...volume, groupBy }, filter: { period }, group: of })
  expect(linkOf(['weekday'], group('1'))).toBeUndefined()
  expect(linkOf(['company'], group(null))).toBeUndefined()
  expect(linkOf(['agent'], { ...group('a'), isOther: true })).toBeUndefined()
  expect(linkOf([], group())).toEqual({ to: '/conversations', search: { filter: { period } } })
})

it('links to the conversations of a category, and of a field', () => {
  const query: Query = { measure: { kind: 'category', monitorId: 'm' }, groupBy: ['agent'] }
  const categories = { monitorId: 'm', any: ['billing'] }
  const of = (given: Query, filter: object, ...key: string[]) =>
    conversationsOf({ query: given, filter: { period, ...filter }, group: group(...key) })
  expect(of(query, {}, 'billing', 'a')).toEqual({
    to: '/conversations',
    search: { filter: { period, agentIds: ['a'], categories } },
  })
  const one: Query = { measure: { kind: 'category', monitorId: 'm', category: 'billing' } }
  expect(of(one, {})).toMatchObject({ search: { filter: { categories } } })
  const amount: Query = { measure: { kind: 'field', monitorId: 'm', field: 'amount', statistic: 'mean' } }
  const fields = [{ monitorId: 'm', field: 'amount', op: 'is_set' }]
  expect(of(amount, {})).toMatchObject({ search: { filter: { fields } } })
  // A filter has one condition on categories.
  expect(of(query, { categories: { monitorId: 'n', any: ['late'] } }, 'billing', 'a')).toBeUndefined()
})
