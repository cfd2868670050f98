import { describe, expect, it } from 'vitest'
import { readConversationsSearch } from './search.ts'

describe('the URL of the list', () => {
  it('contains the filter, the view, the open conversation, and the position', () => {
    const search = {
      filter: { text: 'refund', agentIds: ['a'], monitors: [{ id: 'm', result: 'affected' }], minDurationSeconds: 60 },
      view: 'v',
      open: 'c',
      at: 1.5,
      turn: 0,
    }
    expect(readConversationsSearch(search)).toEqual(search)
  })

  it('loses only the fields that the form cannot show', () => {
    const filter = { text: 'refund', agentIds: 'a', companyIds: [1], monitors: ['m'], metadata: [null], since: null }
    expect(readConversationsSearch({ filter })).toEqual({ filter: { text: 'refund' } })
  })

  it.each([null, 'text', 5, [], {}, [{ text: 'refund' }]])('has no filter if it is %j', (filter) => {
    expect(readConversationsSearch({ filter })).toEqual({})
  })

  it('contains filters within the filter', () => {
    const filter = {
      anyOf: [{ text: 'refund' }, { metrics: [{ key: 'csat', op: 'lt', value: '3' }] }],
      exclude: { signals: [{ name: 'talkRatio', op: 'gt', value: 0.5 }] },
      findingIds: ['f'],
      fields: [{ monitorId: 'm', field: 'reason', op: 'in', values: ['late'] }],
      similarTo: { text: 'refund not received' },
    }
    expect(readConversationsSearch({ filter })).toEqual({ filter })
    expect(readConversationsSearch({ filter: { anyOf: [null], exclude: 'x', metrics: 5 } })).toEqual({})
  })

  it.each([
    { metadata: [{}] },
    { monitors: [{ id: 5 }] },
    { signals: [{ name: 'talkRatio' }] },
    { period: {} },
    { period: { last: 7 } },
    { categories: { monitorId: 'm', any: 'billing' } },
    { fields: [{ field: 'amount', op: 'is_set' }] },
    { fields: [{ monitorId: 'm', field: 'amount', op: 'in', values: '5' }] },
    { anyOf: [{ metrics: [{ key: 'csat' }] }] },
    { exclude: { text: null } },
    { similarTo: 'refund' },
    { similarTo: { turn: 1 } },
  ])('loses conditions that the form cannot show: %j', (filter) => {
    expect(readConversationsSearch({ filter: { ...filter, text: 'refund' } })).toEqual({ filter: { text: 'refund' } })
  })

  it('contains the columns and the sort, without what the list cannot show', () => {
    const columns = [{ key: 'startedAt', width: 120 }, { key: 'metadata:plan' }]
    const sort = { by: 'durationSeconds', direction: 'asc' }
    expect(readConversationsSearch({ columns, sort })).toEqual({ columns, sort })
    expect(readConversationsSearch({ columns: [...columns, null, { key: 5 }], sort: { by: 'x' } })).toEqual({
      columns,
      sort: { by: 'x', direction: 'desc' },
    })
    expect(readConversationsSearch({ columns: [5], sort: 'x' })).toEqual({})
  })

  it('ignores negative and non-numeric positions', () => {
    expect(readConversationsSearch({ at: -1, turn: '3', open: '', view: 4 })).toEqual({})
  })
})
