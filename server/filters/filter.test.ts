import { describe, expect, it } from 'vitest'
import { ApiError } from '../platform/errors.ts'
import { itemReader } from '../platform/http/items.ts'
import { explainFilter } from './explain.ts'
import { Filter, parseFilter } from './filter.ts'
import type { Selection } from './queries.ts'

const issuesOf = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    if (error instanceof ApiError) return error.details?.issues
    throw error
  }
  throw new Error('nothing was refused')
}

const leo = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'
const mia = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e60'

describe('the schema', () => {
  const read = itemReader(Filter)

  it('only accepts listed properties', () => {
    expect(read({})).toEqual({})
    for (const filter of [
      { monitors: [] },
      { monitors: [{ result: 'all' }] },
      { monitors: [{ id: leo, result: 'failed' }] },
      { monitors: Array.from({ length: 21 }, (_, i) => ({ id: leo.slice(0, -2) + String(i + 10) })) },
      { match: 'none' },
      { bucketId: 'refunds' },
      { agentIds: [] },
      { agentIds: ['leo'] },
      { agentIds: [leo, leo] },
      { agentIds: Array.from({ length: 101 }, (_, i) => leo.slice(0, -3) + String(i + 100)) },
      { channels: ['fax'] },
      { since: '2026-11-01' },
      { since: '2026-11-01T00:00:00' },
      { minDurationSeconds: '5' },
      { minDurationSeconds: -1 },
      { customerId: '' },
      { customerId: null },
      { text: '' },
      { text: 'x'.repeat(501) },
      { reviewStatus: ['none'] },
      { metadata: Array.from({ length: 9 }, () => ({ key: 'a', op: 'is_set' })) },
      { metadata: [{ key: 'a'.repeat(121), op: 'is_set' }] },
      { metadata: [{ key: 'a', op: 'eq', value: 'a'.repeat(501) }] },
      { metadata: [{ key: 'a', op: 'eq', value: 5 }] },
      { metadata: [{ key: 'a', op: 'like', value: 'b' }] },
      { metadata: [{ op: 'is_set' }] },
      { metadata: [{ key: 'a', op: 'is_set', organizationId: leo }] },
    ]) {
      expect(read(filter), JSON.stringify(filter)).toBeInstanceOf(ApiError)
    }
  })

  it('has a valid example', () => {
    for (const example of (Filter as { examples?: unknown[] }).examples ?? []) expect(read(example)).toEqual(example)
  })
})

describe('a filter', () => {
  it('returns all its faults with their paths', () => {
    const filter: Filter = {
      since: '2026-11-02T00:00:00Z',
      until: '2026-11-02T01:00:00+01:00',
      minDurationSeconds: 61,
      maxDurationSeconds: 60,
      text: '"…" - !',
      metadata: [
        { key: 'a', op: 'eq' },
        { key: 'b', op: 'is_set' },
        { key: 'c', op: 'lte' },
      ],
    }
    const issues = [
      { path: 'filter.until', message: 'must be later than since' },
      { path: 'filter.maxDurationSeconds', message: 'must not be less than minDurationSeconds' },
      { path: 'filter.text', message: 'must contain a word to search for' },
      { path: 'filter.metadata[0].value', message: 'is required for eq' },
      { path: 'filter.metadata[2].value', message: 'is required for lte' },
    ]
    expect(issuesOf(() => parseFilter(filter, 'filter'))).toEqual(issues)
    expect(issuesOf(() => parseFilter(filter))).toEqual(
      issues.map((issue) => ({ ...issue, path: issue.path.slice('filter.'.length) })),
    )
  })

  it('has at most as many dashes before a word as the database supports', () => {
    const issues = [{ path: 'text', message: 'contains too many - in a row' }]
    for (const text of [`${'-'.repeat(20)}fee`, `${'- '.repeat(200)}fee`, `late ${'-"'.repeat(20)}fee`]) {
      expect(issuesOf(() => parseFilter({ text }))).toEqual(issues)
    }
    for (const text of ['--- fee', 'one-two '.repeat(60), '-a '.repeat(150)])
      expect(parseFilter({ text })).toEqual({ text })
  })

  it('requires a value for comparisons and drops it for other operators', () => {
    for (const op of ['eq', 'neq', 'contains', 'not_contains', 'gt', 'gte', 'lt', 'lte'] as const) {
      expect(issuesOf(() => parseFilter({ metadata: [{ key: 'a', op }] }))).toHaveLength(1)
      expect(parseFilter({ metadata: [{ key: 'a', op, value: '' }] })).toEqual({
        metadata: [{ key: 'a', op, value: '' }],
      })
    }
    for (const op of ['is_set', 'is_not_set', 'is_true', 'is_false'] as const) {
      expect(parseFilter({ metadata: [{ key: 'a', op, value: 'x' }] })).toEqual({ metadata: [{ key: 'a', op }] })
    }
  })

  it('with the same meaning has the same spelling', () => {
    const one: Filter = {
      agentIds: [mia, leo.toUpperCase(), leo],
      channels: ['voicemail', 'call'],
      since: '2026-11-02T01:00:00+01:00',
      metadata: [{ op: 'is_set', key: 'a', value: 'ignored' }],
      text: 'refund',
    }
    const same: Filter = {
      text: 'refund',
      metadata: [{ key: 'a', op: 'is_set' }],
      since: '2026-11-02T00:00:00.000Z',
      channels: ['call', 'voicemail'],
      agentIds: [leo, mia],
    }
    expect(JSON.stringify(parseFilter(one))).toBe(JSON.stringify(parseFilter(same)))
    expect(JSON.stringify(parseFilter({ metadata: [] }))).toBe('{}')
    expect(parseFilter(parseFilter(one))).toEqual(parseFilter(one))
    expect(parseFilter(one)).toEqual(same)
  })
})

describe('conditions on monitors', () => {
  it('with the same meaning have the same spelling', () => {
    const affected = { id: leo, result: 'affected' } as const
    const unscored = { id: mia, result: 'unscored' } as const
    expect(parseFilter({ monitors: [unscored, { ...affected, id: leo.toUpperCase() }], match: 'all' })).toEqual({
      monitors: [affected, unscored],
    })
    expect(parseFilter({ monitors: [unscored, affected], match: 'any' })).toEqual({
      monitors: [affected, unscored],
      match: 'any',
    })
    expect(parseFilter({ monitors: [affected], match: 'any' })).toEqual({ monitors: [affected] })
    expect(parseFilter({ monitors: [affected, { id: mia }], match: 'any' })).toEqual({ monitors: [affected] })
    expect(parseFilter({ monitors: [{ id: mia }, { id: leo, result: 'all' }], match: 'any' })).toEqual({
      monitors: [
        { id: leo, result: 'all' },
        { id: mia, result: 'all' },
      ],
    })
    expect(parseFilter({ match: 'any' })).toEqual({})
  })

  it('list a monitor only once', () => {
    expect(issuesOf(() => parseFilter({ monitors: [{ id: leo }, { id: mia }, { id: leo.toUpperCase() }] }))).toEqual([
      { path: 'monitors[2].id', message: 'is listed twice' },
    ])
  })
})

describe('the explanation', () => {
  const names = new Map([
    [leo, 'Leo'],
    [mia, 'Mia'],
  ])
  const said = (selection: Selection) => explainFilter(selection, names)

  it('describes everything in a filter', () => {
    expect(
      said({
        channels: ['call', 'chat'],
        directions: ['inbound'],
        statuses: ['completed', 'in_progress'],
        agentIds: [leo],
        since: '2026-11-01T00:00:00.000Z',
        until: '2026-12-01T08:30:15.000Z',
        minDurationSeconds: 60,
        customerId: 'customer-4711',
        text: 'refund',
        metadata: [
          { key: 'plan', op: 'eq', value: 'gold' },
          { key: 'seats', op: 'gt', value: '3' },
          { key: 'vip', op: 'is_true' },
        ],
        reviewStatus: 'in_progress',
      }),
    ).toBe(
      'calls and chats, inbound, completed or in progress, of agent Leo, of customer “customer-4711”, ' +
        'started since 1 Nov 2026 00:00 UTC and before 1 Dec 2026 08:30:15 UTC, at least 60 s long, ' +
        'mentioning “refund”, where plan is “gold”, seats is more than “3” and vip is true, ' +
        'with a review in progress',
    )
  })

  it.each<[Selection, string]>([
    [{}, 'all conversations'],
    [{ channels: ['voicemail'] }, 'all voicemails'],
    [{ agentIds: [leo, mia] }, 'conversations, of agent Leo or Mia'],
    [{ agentVersionIds: ['unknown'] }, 'conversations, of version unknown'],
    [{ agentGroupIds: [mia] }, 'conversations, of an agent in group Mia'],
    [{ companyIds: [mia] }, 'conversations, for company Mia'],
    [{ companyIds: ['1', '2', '3', '4', '5', '6'] }, 'conversations, for company 1, 2, 3, 4, 5 or 6'],
    [{ companyIds: ['1', '2', '3', '4', '5', '6', '7'] }, 'conversations, for company 1, 2, 3, 4, 5 or 2 others'],
    [{ until: '2026-02-03T04:05:06.007Z' }, 'conversations, started before 3 Feb 2026 04:05:06.007 UTC'],
    [{ minDurationSeconds: 0, maxDurationSeconds: 9 }, 'conversations, 0 to 9 s long'],
    [{ maxDurationSeconds: 0 }, 'conversations, at most 0 s long'],
    [{ metadata: [{ key: '', op: 'neq', value: '' }] }, 'conversations, where “” is set but is not “”'],
    [{ reviewStatus: 'none' }, 'conversations, with no review'],
    [{ monitors: [{ id: leo, result: 'affected' }] }, 'conversations, affected by Leo'],
    [
      {
        monitors: [
          { id: leo, result: 'not_affected' },
          { id: mia, result: 'unscored' },
        ],
        match: 'any',
      },
      'conversations, not affected by Leo or unscored by Mia',
    ],
    [
      {
        monitors: [
          { id: leo, result: 'all' },
          { id: mia, result: 'all' },
        ],
      },
      'conversations, with a result of Leo or Mia',
    ],
  ])('of %j', (selection, words) => {
    expect(said(selection)).toBe(words)
  })
})
