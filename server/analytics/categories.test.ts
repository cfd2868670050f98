import { beforeEach, describe, expect, it } from 'vitest'
import { makeAgent, makeConversations, makeMonitor, makeOrganization } from '../../test/make.ts'
import { serviceKey, testServer } from '../../test/server.ts'
import { noResult } from '../monitor-results/no-result.ts'
import { type ResultRow, upsertResults } from '../monitor-results/queries.ts'
import { insertMonitorVersion } from '../monitors/queries.ts'
import { orgIdOf } from '../platform/ids.ts'

const server = await testServer({
  EARSHOT_JUDGE_BASE_URL: 'http://127.0.0.1:9/v1',
  EARSHOT_JUDGE_MODEL: 'model-1',
})
const { call } = server

let key: string
let org: string
let monitorId: string
beforeEach(async () => {
  ;({ key, id: org } = await makeOrganization(server))
  monitorId = (await makeMonitor(server, key)).id
})

const post = (body: object, path = 'query') => call('POST', `/v1/analytics/${path}`, { key, body })
const ask = async (body: object) => {
  const { status, body: answer, text } = await post(body)
  expect(status, text).toBe(200)
  return answer
}
type Group = { key: string[]; label: string[]; n: number; value: number | null }
const figuresOf = ({ groups }: { groups: Group[] }) => groups.map(({ label, n, value }) => [...label, n, value])

const march = { since: '2026-03-01T00:00:00Z', until: '2026-04-01T00:00:00Z' }
const on = (day: number) => `2026-03-${String(day).padStart(2, '0')}T09:00:00Z`

/** Creates conversations on consecutive days, each with one result. */
const give = async (results: object[], more: (at: number) => object = () => ({})) => {
  const ids = await makeConversations(
    server,
    key,
    results.map((_, at) => ({ startedAt: on(at + 1), ...more(at) })),
  )
  const items = results.map((result, at) => ({ monitorId, conversationId: ids[at], result: 'unscored', ...result }))
  const { body } = await call('POST', '/v1/monitor-results', { key, body: { results: items } })
  expect(body.data.every(({ status }: { status: string }) => status === 'created')).toBe(true)
  return ids
}

type Stored = Pick<ResultRow, 'conversationId' | 'monitorId' | 'monitorVersion' | 'categories'>

/** Stores an unscored result for any version and kind of monitor. */
const store = (row: Stored) => {
  const given = { ...noResult, ...row, status: 'unscored' as const, evaluatedAt: null, evaluator: 'test' }
  return server.deps.db.transaction().execute((trx) => upsertResults(trx, orgIdOf(org), [given], server.clock.now()))
}

const named = (...categories: string[]) => ({ categories })

describe('the share of categories', () => {
  it('counts results with categories, except those that are not applicable', async () => {
    await give([
      named('billing'),
      named('billing', 'delivery'),
      named('other'),
      named(),
      named('not_applicable'),
      {},
      { result: 'affected' },
    ])
    const measure = { kind: 'category', monitorId }
    const { groups } = await ask({ measure })
    expect(figuresOf({ groups })).toEqual([
      ['billing', 4, 0.5],
      ['delivery', 4, 0.25],
      ['No category fits', 4, 0.25],
    ])
    expect(groups[0]).toMatchObject({
      key: ['billing'],
      interval95: { low: expect.any(Number), high: expect.any(Number) },
    })
    const [one] = (await ask({ measure: { ...measure, category: 'billing' } })).groups
    expect(one).toMatchObject({ key: [], n: 4, value: 0.5, interval95: groups[0].interval95 })
    const away = await ask({ measure: { ...measure, category: 'not_applicable' } })
    expect(figuresOf(away)).toEqual([[5, 0.2]])
    expect(figuresOf(await ask({ measure: { ...measure, category: 'unknown' } }))).toEqual([[4, 0]])
  })

  it('is grouped, filtered, split over time, and compared', async () => {
    const [leo, mia] = [await makeAgent(server, key, { name: 'Leo' }), await makeAgent(server, key, { name: 'Mia' })]
    await give([named('billing'), named('delivery'), named('billing'), named('gone')], (at) => ({
      agent: undefined,
      agentId: [leo, mia][at % 2]?.id,
      metadata: { plan: at < 3 ? 'gold' : 'free' },
    }))
    const measure = { kind: 'category', monitorId }
    expect(figuresOf(await ask({ measure, groupBy: ['agent'] })).sort()).toEqual([
      ['billing', 'Leo', 2, 1],
      ['billing', 'Mia', 2, 0],
      ['delivery', 'Leo', 2, 0],
      ['delivery', 'Mia', 2, 0.5],
      ['gone', 'Leo', 2, 0],
      ['gone', 'Mia', 2, 0.5],
    ])
    const gold = { metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] }
    expect(figuresOf(await ask({ measure, filter: gold }))).toContainEqual(['billing', 3, 2 / 3])
    const { groups } = await ask({
      measure,
      filter: { since: on(3), until: on(5) },
      interval: 'day',
      compareTo: 'previous_period',
    })
    const of = (category: string) => groups.find((group: Group) => group.key[0] === category)
    expect(of('billing')).toMatchObject({
      n: 2,
      value: 0.5,
      comparison: { n: 2, value: 0.5, difference: 0 },
      series: [
        { n: 1, value: 1 },
        { n: 1, value: 0 },
        { n: 0, value: null },
      ],
    })
    // The category only occurred in the earlier period, and still has a share of the results in both periods.
    expect(of('delivery')).toMatchObject({ n: 2, value: 0, comparison: { n: 2, value: 0.5, difference: -0.5 } })
    expect(of('delivery').comparison.differenceInterval95).toMatchObject({ low: expect.any(Number) })
  })

  it('uses the newest version that has a result, whether or not it names categories', async () => {
    const [, second] = await give([named('billing'), named('billing'), named('billing')])
    await insertMonitorVersion(server.deps.db, orgIdOf(org), monitorId, 2, {})
    await store({ conversationId: second ?? '', monitorId, monitorVersion: 2, categories: null })
    expect(figuresOf(await ask({ measure: { kind: 'category', monitorId } }))).toEqual([['billing', 2, 1]])
  })

  it('shows all categories of a judge with their labels', async () => {
    const output = {
      type: 'category',
      categories: [
        { key: 'billing', label: 'A bill' },
        { key: 'delivery', label: 'A delivery' },
      ],
      allowOther: true,
      allowNotApplicable: true,
    }
    const judge = await makeMonitor(server, key, { kind: 'judge', definition: { criteria: 'Why?', output } })
    const [conversationId] = await give([{}])
    await store({
      conversationId: conversationId ?? '',
      monitorId: judge.id,
      monitorVersion: 1,
      categories: ['billing'],
    })
    expect(figuresOf(await ask({ measure: { kind: 'category', monitorId: judge.id } }))).toEqual([
      ['A bill', 1, 1],
      ['A delivery', 1, 0],
      ['No category fits', 1, 0],
    ])
  })

  it('can be explained and compared for one category', async () => {
    await give(Array.from({ length: 20 }, (_, at) => named(at < 5 || at >= 15 ? 'billing' : 'delivery')))
    const measure = { kind: 'category', monitorId, category: 'billing' }
    const explained = await post({ measure, filter: { since: on(11), until: on(21) } }, 'explain')
    expect(explained.body).toMatchObject({ now: { n: 10, value: 0.5 }, before: { n: 10, value: 0.5 }, difference: 0 })
    const sides = { a: { since: on(1), until: on(6) }, b: { since: on(6), until: on(16) } }
    const compared = await post({ ...sides, measures: [measure] }, 'compare')
    expect(compared.body.rows).toMatchObject([{ a: { n: 5, value: 1 }, b: { n: 10, value: 0 }, difference: -1 }])
    const every = { kind: 'category', monitorId }
    for (const [path, body] of [
      ['explain', { measure: every, filter: march }],
      ['compare', { ...sides, measures: [every] }],
    ] as const) {
      const { status, body: answer } = await post(body, path)
      expect([status, answer.details.issues[0].path]).toEqual([
        400,
        path === 'explain' ? 'measure.category' : 'measures[0].category',
      ])
    }
  })
})

describe('groups by category', () => {
  it('measure anything, and a conversation counts in each of its groups', async () => {
    const durations = [10, 20, 30, 40]
    await give([named('billing'), named('billing', 'delivery'), named(), {}], (at) => ({
      durationSeconds: durations[at],
    }))
    const measure = { kind: 'duration', statistic: 'mean' }
    expect(figuresOf(await ask({ measure, groupBy: [`category:${monitorId.toUpperCase()}`] })).sort()).toEqual([
      ['None', 2, 35],
      ['billing', 2, 15],
      ['delivery', 1, 20],
    ])
    const byBoth = await ask({ measure: { kind: 'volume' }, groupBy: ['channel', `category:${monitorId}`] })
    expect(figuresOf(byBoth).sort()).toEqual([
      ['call', 'None', 2, 2],
      ['call', 'billing', 2, 2],
      ['call', 'delivery', 1, 1],
    ])
    expect(figuresOf(await ask({ measure: { kind: 'rate', monitorId }, groupBy: [`category:${monitorId}`] }))).toEqual(
      [],
    )
  })

  it.each([
    ['groupBy[0]', { groupBy: ['category:0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'] }],
    ['groupBy[0]', { groupBy: ['category:billing'] }],
    [
      'groupBy',
      { groupBy: ['category:0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', 'category:0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5e'] },
    ],
    ['measure.monitorId', { measure: { kind: 'category', monitorId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f' } }],
  ])('names the path %s', async (path, given) => {
    const { status, body } = await post({ measure: { kind: 'volume' }, ...given })
    expect(status).toBe(400)
    expect(body.details.issues[0].path).toBe(path)
  })

  it('cannot be combined with a group for each category', async () => {
    const measure = { kind: 'category', monitorId }
    for (const groupBy of [['agent', 'channel'], [`category:${monitorId}`]]) {
      expect((await post({ measure, groupBy })).status).toBe(400)
    }
    const chart = { title: 'Shares', width: 'half' }
    const charts = (kind: string, query: object) =>
      call('POST', '/v1/boards', { key, body: { name: 'B', charts: [{ ...chart, kind, query }] } })
    expect((await charts('heatmap', { measure, groupBy: ['agent'] })).status).toBe(201)
    expect((await charts('number', { measure: { ...measure, category: 'billing' } })).status).toBe(201)
    const faults = async (kind: string, query: object) =>
      (await charts(kind, query)).body.details.issues.map((issue: { path: string }) => issue.path)
    expect(await faults('number', { measure })).toEqual(['charts[0].query.measure.category'])
    expect(await faults('bar', { measure, groupBy: ['agent', 'channel'] })).toEqual(['charts[0].query.groupBy'])
    expect(await faults('bar', { measure: { kind: 'volume' }, groupBy: [`category:${org}`] })).toEqual([
      'charts[0].query.groupBy[0]',
    ])
  })

  it('need the entitlement', async () => {
    await call('PATCH', `/v1/organizations/${org}`, { key: serviceKey, body: { entitlements: { monitors: false } } })
    expect((await post({ measure: { kind: 'volume' }, groupBy: [`category:${monitorId}`] })).status).toBe(403)
    expect((await post({ measure: { kind: 'category', monitorId } })).status).toBe(403)
  })
})

describe('a field', () => {
  it('is measured if it is a number, or true or false', async () => {
    await give([
      { fields: { amount: 10, paid: true } },
      { fields: { amount: 20, paid: false } },
      { fields: { amount: null, paid: true } },
      { fields: { amount: 'many' } },
      {},
    ])
    const measure = { kind: 'field', monitorId, field: 'amount' }
    const [mean] = (await ask({ measure: { ...measure, statistic: 'mean' } })).groups
    expect(mean).toMatchObject({ n: 2, value: 15, interval95: { low: expect.any(Number) } })
    expect(figuresOf(await ask({ measure: { ...measure, statistic: 'sum' } }))).toEqual([[2, 30]])
    const paid = { ...measure, field: 'paid', statistic: 'mean' }
    expect(figuresOf(await ask({ measure: paid }))).toEqual([[3, 2 / 3]])
    expect(figuresOf(await ask({ measure: paid, groupBy: ['channel'] }))).toEqual([['call', 3, 2 / 3]])
    expect(figuresOf(await ask({ measure: { ...paid, field: 'none' } }))).toEqual([[0, null]])
  })
})
