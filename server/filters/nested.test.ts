import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  makeBucket,
  makeConversations,
  makeFinding,
  makeMonitor,
  makeOrganization,
  makeTopic,
} from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { runBulkAction } from '../bulk-actions/lifecycle.ts'
import { explainFilter } from './explain.ts'
import { type Filter, parseFilter } from './filter.ts'

/** Tests nested filters, and conditions on metrics, signals, and findings. */

const seed = Number(process.env.FILTER_SEED ?? randomInt(2 ** 31))
const server = await testServer()
const { call } = server

let key = ''
let ids: string[] = []
const refs: Record<string, string> = {}
const count = 40

const says = (number: number) =>
  Array.from({ length: 1 + (number % 4) }, () => ({ role: 'customer', text: number % 3 === 0 ? 'a refund' : 'hello' }))

beforeAll(async () => {
  key = (await makeOrganization(server)).key
  const monitor = await makeMonitor(server, key)
  refs.monitor = monitor.id
  refs.finding = (await makeFinding(server, key)).id
  refs.bucket = (await makeBucket(server, key)).id
  ids = await makeConversations(
    server,
    key,
    Array.from({ length: count }, (_, number) => ({
      externalId: `call-${number}`,
      startedAt: new Date(Date.UTC(2026, 10, 1, number)).toISOString(),
      channel: number % 2 === 0 ? 'call' : 'chat',
      ...(number % 5 > 0 && { durationSeconds: number * 10 }),
      ...(number % 4 === 0 && { customerId: `c-${number % 8}` }),
      metadata: { ...(number % 3 > 0 && { plan: number % 6 === 1 ? 'gold' : 'tin' }) },
      transcript: says(number),
      metrics:
        number % 2 === 0
          ? [
              { key: 'csat', value: number % 5 },
              { key: 'tag', value: number % 4 === 0 },
            ]
          : [],
    })),
  )
  const results = ids
    .filter((_, number) => number % 3 === 1)
    .map((conversationId, at) => ({ monitorId: monitor.id, conversationId, result: at % 2 ? 'affected' : 'unscored' }))
  await call('POST', '/v1/monitor-results', { key, body: { results } })
  for (const conversationId of ids.slice(0, 6)) {
    await call('POST', `/v1/findings/${refs.finding}/conversations`, { key, body: { conversationId } })
  }
  refs.topic = await makeTopic(server, key, ids[3])
  const some = { conversationIds: ids.filter((_, number) => number % 7 === 0) }
  await call('POST', `/v1/buckets/${refs.bucket}/conversations`, { key, body: some })
  for (const [tag, every] of [
    ['vip', 5],
    ['other', 8],
  ] as const) {
    const action = { kind: 'tag', add: [tag] }
    const tagged = { ids: ids.filter((_, number) => number % every === 0), action }
    await call('POST', '/v1/conversations/bulk', { key, body: tagged })
  }
  await server.deps.jobs.drain([runBulkAction], server.deps)
}, 60_000)

const search = async (filter: object): Promise<string[]> => {
  const { status, text, body } = await call('POST', '/v1/conversations/search', { key, body: { filter, limit: 200 } })
  expect(status, text).toBe(200)
  return body.data.map(({ id }: { id: string }) => id)
}

const countOf = async (filter: object): Promise<number> =>
  (await call('POST', '/v1/conversations/count', { key, body: { filter } })).body.count

const parts = (): object[] => [
  { channels: ['call'] },
  { statuses: ['completed'] },
  { minDurationSeconds: 100 },
  { maxDurationSeconds: 200, channels: ['chat'] },
  { customerId: 'c-4' },
  { text: 'refund' },
  { since: '2026-11-01T10:00:00Z', until: '2026-11-02T00:00:00Z' },
  { period: { last: '9999d' } },
  { metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] },
  { metadata: [{ key: 'plan', op: 'neq', value: 'gold' }] },
  { metadata: [{ key: 'plan', op: 'is_not_set' }] },
  { metrics: [{ key: 'csat', op: 'gte', value: '3' }] },
  { metrics: [{ key: 'csat', op: 'is_not_set' }] },
  { signals: [{ name: 'turns.customer', op: 'gt', value: 2 }] },
  { signals: [{ name: 'firstWordMs', op: 'neq', value: 2 }] },
  { monitors: [{ id: refs.monitor, result: 'affected' }] },
  { monitors: [{ id: refs.monitor }] },
  { bucketId: refs.bucket },
  { findingIds: [refs.finding] },
  { conversationIds: ids.filter((_, number) => number % 9 === 0) },
  { tags: ['vip'] },
  { tags: ['vip', 'other'] },
  { topicIds: [refs.topic] },
]

describe('a filter within a filter', () => {
  it('selects what the filters select one by one', async () => {
    process.stdout.write(`nested filters: FILTER_SEED=${seed}\n`)
    const all = parts()
    const alone = await Promise.all(all.map(search))
    const at = fc.nat({ max: all.length - 1 })
    const drawn = fc.sample(
      fc.record({
        own: fc.option(at, { nil: undefined }),
        anyOf: fc.option(fc.array(at, { minLength: 1, maxLength: 4 }), { nil: undefined }),
        exclude: fc.option(fc.array(at, { minLength: 1, maxLength: 3 }), { nil: undefined }),
      }),
      { numRuns: 60, seed },
    )
    const everyone = await search({})
    for (const { own, anyOf, exclude } of drawn) {
      const filter = {
        ...(own !== undefined && all[own]),
        ...(anyOf && { anyOf: anyOf.map((part) => all[part]) }),
        ...(exclude && {
          exclude: exclude.length === 1 ? all[exclude[0] ?? 0] : { anyOf: exclude.map((part) => all[part]) },
        }),
      }
      const wanted = everyone.filter(
        (id) =>
          (own === undefined || alone[own]?.includes(id)) &&
          (!anyOf || anyOf.some((part) => alone[part]?.includes(id))) &&
          !exclude?.some((part) => alone[part]?.includes(id)),
      )
      expect(await search(filter), JSON.stringify(filter)).toEqual(wanted)
      expect(await countOf(filter), JSON.stringify(filter)).toBe(wanted.length)
    }
  }, 60_000)

  it('has one level, at most ten alternatives, and only valid parts', async () => {
    const pathsOf = async (filter: object) => {
      const { status, body } = await call('POST', '/v1/conversations/count', { key, body: { filter } })
      expect(status).toBe(400)
      return body.details.issues.map(({ path }: { path: string }) => path)
    }
    expect(await pathsOf({ exclude: { exclude: {} } })).toEqual(['filter.exclude.exclude'])
    expect(await pathsOf({ anyOf: [{ anyOf: [{}] }] })).toEqual(['filter.anyOf[0].anyOf'])
    expect(await pathsOf({ anyOf: [] })).toEqual(['filter.anyOf'])
    expect(await pathsOf({ anyOf: Array.from({ length: 11 }, () => ({ text: 'a' })) })).toEqual(['filter.anyOf'])
    expect(await pathsOf({ exclude: {} })).toEqual(['filter.exclude'])
    expect(await pathsOf({ exclude: { metadata: [] } })).toEqual(['filter.exclude'])
    expect(await pathsOf({ exclude: { anyOf: [{ text: 'a' }, {}] } })).toEqual(['filter.exclude'])
    const bad = { text: '…', metrics: [{ key: 'a', op: 'gt' }] }
    expect(await pathsOf({ ...bad, anyOf: [{ text: 'a' }, bad], exclude: bad })).toEqual([
      'filter.text',
      'filter.metrics[0].value',
      'filter.anyOf[1].text',
      'filter.anyOf[1].metrics[0].value',
      'filter.exclude.text',
      'filter.exclude.metrics[0].value',
    ])
    expect(await pathsOf({ signals: [{ name: 'turns', op: 'gt', value: 1 }] })).toEqual(['filter.signals[0].name'])
  })

  it('with the same meaning has the same spelling', () => {
    const one: Filter = {
      anyOf: [{ text: 'b' }, { text: 'a', metrics: [] }, { text: 'b' }],
      exclude: { channels: ['call'] },
    }
    expect(parseFilter(one)).toEqual({ anyOf: [{ text: 'a' }, { text: 'b' }], exclude: { channels: ['call'] } })
    expect(parseFilter({ exclude: { anyOf: [{ channels: ['call'] }] } })).toEqual({ exclude: { channels: ['call'] } })
    expect(parseFilter({ anyOf: [{ text: 'a' }, {}] })).toEqual({})
    expect(parseFilter(parseFilter(one) as Filter)).toEqual(parseFilter(one))
  })

  it('is described in words', () => {
    const names = new Map([[refs.finding ?? '', 'Refunds rise']])
    const say = (filter: Filter) => explainFilter(parseFilter(filter), names)
    expect(
      say({
        anyOf: [{ text: 'a', customerId: 'c' }, { channels: ['chat'] }],
        exclude: { findingIds: [refs.finding ?? ''] },
      }),
    ).toBe('conversations, either chats or (of customer “c”, mentioning “a”), except attached to finding Refunds rise')
    expect(
      say({
        channels: ['call'],
        metrics: [{ key: 'csat', op: 'lt', value: '3' }],
        signals: [{ name: 'responseLatencyMs.p95', op: 'gt', value: 3_000 }],
        anyOf: [{ text: 'a' }],
      }),
    ).toBe('calls, where metric csat is less than “3” and responseLatencyMs.p95 is more than 3000, mentioning “a”')
  })
})

it('a condition on a metric compares like one on metadata', async () => {
  const numbersOf = async (op: string, value?: string) =>
    (await search({ metrics: [{ key: 'csat', op, ...(value !== undefined && { value }) }] }))
      .map((id) => ids.indexOf(id))
      .filter((number) => number >= 0)
      .sort((a, b) => a - b)
  const even = Array.from({ length: count }, (_, number) => number).filter((number) => number % 2 === 0)
  expect(await numbersOf('eq', '3')).toEqual(even.filter((number) => number % 5 === 3))
  expect(await numbersOf('neq', '3')).toEqual(even.filter((number) => number % 5 !== 3))
  expect(await numbersOf('gt', '2.5')).toEqual(even.filter((number) => number % 5 > 2.5))
  expect(await numbersOf('is_set')).toEqual(even)
  expect(await numbersOf('gt', 'x')).toEqual([])
  expect(await search({ metrics: [{ key: 'tag', op: 'is_true' }] })).toHaveLength(count / 4)
})

it('a bucket follows results that only a nested filter asks for', async () => {
  const filters = { exclude: { monitors: [{ id: refs.monitor, result: 'not_affected' }] }, customerId: 'later' }
  const bucket = await call('POST', '/v1/buckets', { key, body: { name: 'Nested', type: 'dynamic', filters } })
  expect(bucket.status).toBe(201)
  for (const nested of [{ exclude: { bucketId: refs.bucket } }, { anyOf: [{ bucketId: refs.bucket }] }]) {
    const body = { name: 'Bad', type: 'dynamic', filters: nested }
    expect((await call('POST', '/v1/buckets', { key, body })).status).toBe(400)
  }
})
