import { randomInt } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  makeAgent,
  makeAgentVersion,
  makeCompany,
  makeConversations,
  makeMonitor,
  makeOrganization,
} from '../../test/make.ts'
import { seededRandom } from '../../test/malformed.ts'
import { testServer } from '../../test/server.ts'
import { expectExactComparisons } from '../../test/support/analytics/brute-force.ts'
import { openHistory } from '../../test/support/analytics/history.ts'
import type { OrgId } from '../platform/db/database.ts'
import { minuteMs } from '../platform/durations.ts'
import { newcombe, rateTest } from '../statistics/rate-intervals.ts'
import { compareSides } from './compare.ts'
import { buildNext } from './days/build.ts'

const server = await testServer()
const { call, deps } = server

let key: string
beforeEach(async () => {
  ;({ key } = await makeOrganization(server))
})

type Row = {
  measure: { kind: string; monitorId?: string; statistic?: string }
  monitorName: string | null
  [name: string]: unknown
}

const compare = async (body: object, as = key) => {
  const { status, body: answer } = await call('POST', '/v1/analytics/compare', { key: as, body })
  expect(status, JSON.stringify(answer)).toBe(200)
  return answer
}

const issuesOf = async (body: object) => {
  const answer = await call('POST', '/v1/analytics/compare', { key, body })
  expect(answer.status, answer.text).toBe(400)
  return answer.body.details.issues
}

const kindsOf = ({ rows }: { rows: Row[] }) =>
  rows.map(({ measure: { kind, statistic } }) => (statistic === undefined ? kind : `${kind} ${statistic}`))

const on = (day: number, hour = 9) => `2026-03-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00Z`

/** Creates an agent with conversations of two versions, and returns their IDs. */
const makeVersions = async (each = 40, of: (version: number, at: number) => object = () => ({})) => {
  const agent = await makeAgent(server, key, { name: 'Mia' })
  const versions: { id: string; conversations: string[] }[] = []
  for (const at of [0, 1]) {
    const version = await makeAgentVersion(server, key, agent.id, `prompt ${at}`)
    const conversations = await makeConversations(
      server,
      key,
      Array.from({ length: each }, (_, n) => ({
        agent: undefined,
        agentId: agent.id,
        agentVersionId: version.id,
        startedAt: on(1 + (n % 20)),
        ...of(at, n),
      })),
    )
    versions.push({ id: version.id, conversations })
  }
  const [a, b] = versions as [(typeof versions)[number], (typeof versions)[number]]
  return { a, b, sides: { a: { agentVersionIds: [a.id] }, b: { agentVersionIds: [b.id] } } }
}

const judge = async (monitorId: string, conversations: string[], affected: number, score?: (at: number) => number) => {
  const results = conversations.map((conversationId, at) => ({
    conversationId,
    monitorId,
    result: at < affected ? 'affected' : 'not_affected',
    ...(score && { score: score(at) }),
  }))
  expect((await call('POST', '/v1/monitor-results', { key, body: { results } })).status).toBe(200)
}

describe('two versions', () => {
  it('are compared monitor by monitor, with general measures', async () => {
    const { a, b, sides } = await makeVersions(40, (version, at) => ({ durationSeconds: 60 + at + 300 * version }))
    const [refunds, greets] = [
      await makeMonitor(server, key, { name: 'Refunds' }),
      await makeMonitor(server, key, { name: 'Greets' }),
    ]
    await makeMonitor(server, key, { name: 'Disabled', enabled: false })
    await judge(refunds.id, a.conversations, 2, (at) => at % 5)
    await judge(refunds.id, b.conversations, 22, (at) => at % 5)
    await judge(greets.id, a.conversations, 20)
    await judge(greets.id, b.conversations, 21)

    const body = await compare(sides)
    expect(body).toMatchObject({
      a: { period: null, conversations: 40 },
      b: { period: null, conversations: 40 },
      warnings: [],
    })
    expect(kindsOf(body)).toEqual(['volume', 'duration p50', 'duration p95', 'rate', 'rate', 'score mean'])
    expect(body.rows.map(({ monitorName }: Row) => monitorName)).toEqual([
      null,
      null,
      null,
      'Greets',
      'Refunds',
      'Refunds',
    ])
    const shares = [
      { affected: 2, all: 40 },
      { affected: 22, all: 40 },
    ] as const
    const { low, high } = newcombe(...shares, 0.05)
    // Two rates, a median, and a mean. The number of conversations is not an estimate, and 40 conversations are too few
    // for a p95.
    expect(body.compared).toBe(4)
    expect(body.rows[4]).toMatchObject({
      measure: { kind: 'rate', monitorId: refunds.id },
      definitionChanged: false,
      a: { n: 40, value: 0.05 },
      b: { n: 40, value: 0.55 },
      difference: 0.5,
      differenceInterval95: { low: expect.closeTo(low, 9), high: expect.closeTo(high, 9) },
      p: expect.closeTo(rateTest(...shares), 12),
      isNotable: true,
    })
    // Percentiles are rounded: 79 and 380 seconds.
    expect(body.rows[1]).toMatchObject({ a: { n: 40 }, b: { n: 40 }, difference: 301, isNotable: true })
    expect(body.rows[3]).toMatchObject({ difference: expect.closeTo(0.025, 9), isNotable: false })
    expect(body.rows[5]).toMatchObject({ difference: 0, p: 1, adjustedP: 1, isNotable: false })
    expect(body.rows[0]).toMatchObject({ difference: 0, differenceInterval95: null, p: null, adjustedP: null })
  })

  it('can have a changed definition, and the same conversations', async () => {
    const { a, b, sides } = await makeVersions(30)
    const monitor = await makeMonitor(server, key, {
      kind: 'rule',
      definition: { expression: 'signals.toolFailures > 0' },
    })
    const body = { definition: { expression: 'signals.toolFailures > 3' } }
    expect((await call('PATCH', `/v1/monitors/${monitor.id}`, { key, body })).status).toBe(200)
    const measures = [{ kind: 'rate', monitorId: monitor.id }, { kind: 'volume' }]
    const { rows } = await compare({ ...sides, measures })
    expect(rows.map(({ definitionChanged }: Row) => definitionChanged)).toEqual([true, false])
    const past = { until: '2026-03-31T00:00:00Z' }
    const before = await compare({ a: { ...sides.a, ...past }, b: { ...sides.b, ...past }, measures })
    expect(before.rows[0].definitionChanged).toBe(false)

    const both = await compare({ a: sides.a, b: { agentVersionIds: [a.id, b.id] }, measures })
    expect(both.warnings).toEqual([
      'Some conversations are on both sides, so the difference between the others is larger.',
    ])
    const periods = { a: { since: on(1, 0), until: on(5, 0) }, b: { since: on(5, 0), until: on(9, 0) } }
    expect((await compare({ ...periods, measures })).warnings).toEqual([])
    const overlapping = { a: { since: on(1, 0), until: on(6, 0) }, b: { since: on(5, 0), until: on(9, 0) } }
    expect((await compare({ ...overlapping, measures })).warnings).toHaveLength(1)
  })
})

describe('periods, agents, and companies', () => {
  it('are compared in the same way', async () => {
    const company = await makeCompany(server, key, 'Acme')
    await makeConversations(server, key, [
      ...Array.from({ length: 12 }, (_, at) => ({ startedAt: on(1 + at), durationSeconds: 60 })),
      ...Array.from({ length: 5 }, () => ({ startedAt: on(20), companyId: company.id, durationSeconds: 90 })),
    ])
    const measures = [{ kind: 'duration', statistic: 'mean' }]
    const periods = await compare({ a: { since: on(1, 0), until: on(10, 0) }, b: { since: on(10, 0) }, measures })
    expect(periods).toMatchObject({
      a: { period: { since: '2026-03-01T00:00:00.000Z', until: '2026-03-10T00:00:00.000Z' }, conversations: 9 },
      b: { conversations: 8 },
      rows: [{ a: { n: 9, value: 60 }, b: { n: 8, value: (3 * 60 + 5 * 90) / 8 } }],
    })
    expect(periods.b.period.until).toBe(server.clock.now().toISOString())
    const companies = await compare({ a: { companyIds: [company.id] }, b: {}, measures })
    expect(companies).toMatchObject({ a: { conversations: 5 }, b: { conversations: 17, period: null } })
    const stranger = await makeOrganization(server)
    expect(await compare({ a: { companyIds: [company.id] }, b: {} }, stranger.key)).toMatchObject({
      a: { conversations: 0 },
      b: { conversations: 0 },
      rows: [{ measure: { kind: 'volume' }, difference: 0 }],
      compared: 0,
      warnings: [],
    })
  })

  it('can be a period and the one before', async () => {
    await makeConversations(server, key, [
      ...Array.from({ length: 3 }, () => ({ startedAt: on(5) })),
      ...Array.from({ length: 4 }, () => ({ startedAt: on(12) })),
    ])
    const body = { a: {}, b: { since: on(8, 0), until: on(15, 0) }, measures: [{ kind: 'volume' }] }
    expect(await compare({ ...body, compareTo: 'previous_period' })).toMatchObject({
      a: { period: { since: '2026-03-01T00:00:00.000Z', until: '2026-03-08T00:00:00.000Z' }, conversations: 3 },
      b: { conversations: 4 },
      rows: [{ difference: 1 }],
    })
    expect(await compare({ ...body, compareTo: 'previous_year' })).toMatchObject({
      a: { period: { since: '2025-03-08T00:00:00.000Z' }, conversations: 0 },
    })
    expect(await issuesOf({ ...body, compareTo: 'previous_period', a: { since: on(1) } })).toEqual([
      { path: 'a.since', message: 'cannot be combined with compareTo' },
    ])
    expect(await issuesOf({ ...body, compareTo: 'previous_period', b: {} })).toMatchObject([{ path: 'b' }])
    expect(await issuesOf({ ...body, timezone: 'Mars' })).toMatchObject([{ path: 'timezone' }])
  })

  it('equal a count of all rows, before and after sums are stored', { timeout: 300_000 }, async () => {
    const seed = Number(process.env.ANALYTICS_SEED ?? randomInt(2 ** 31))
    const random = seededRandom(seed)
    const history = await openHistory(server, random)
    let changes = 0
    const changeUntil = async (count: number) => {
      while (changes < count) changes += await history.step()
    }
    await changeUntil(1_500)
    await expectExactComparisons(server, history, random, 8)
    server.clock.advance(2 * minuteMs)
    while (await buildNext(deps, history.org));
    await expectExactComparisons(server, history, random, 30)
    // Some hours are read from stored sums, and changed hours are read from conversations.
    await changeUntil(2_000)
    await expectExactComparisons(server, history, random, 12)
  })
})

describe('a comparison', () => {
  it('refuses equal sides with a relative period, even though time passes while it reads them', async () => {
    const { id: org } = await makeOrganization(server)
    const start = Date.now()
    let readings = 0
    const side = { period: { last: '7d', timezone: 'UTC' } } as const
    const comparing = compareSides(
      { ...deps, clock: { now: () => new Date(start + readings++) } },
      { org: org as OrgId, entitlements: { monitors: true, observability: true, metrics: true } },
      { a: side, b: side },
    )
    await expect(comparing).rejects.toThrow('selects the same conversations as a')
    expect(readings).toBe(1)
  })

  it('names what is wrong', async () => {
    const side = { channels: ['call'] }
    expect(await issuesOf({ a: side, b: side })).toEqual([
      { path: 'b', message: 'selects the same conversations as a' },
    ])
    expect(await issuesOf({ a: side })).toMatchObject([{ path: 'b' }])
    expect(await issuesOf({ a: side, b: { period: { last: '7d', current: 'day' } } })).toMatchObject([
      { path: 'b.period' },
    ])
    expect(await issuesOf({ a: { since: '2999-01-01T00:00:00Z' }, b: side })).toEqual([
      { path: 'a.since', message: 'must be in the past if the filter has no until' },
    ])
    const stranger = await makeOrganization(server)
    const { id: monitorId } = await makeMonitor(server, stranger.key)
    const measures = [{ kind: 'volume' }, { kind: 'rate', monitorId }]
    expect(await issuesOf({ a: side, b: {}, measures })).toEqual([
      { path: 'measures[1].monitorId', message: 'does not exist in your organization' },
    ])
    expect(await issuesOf({ a: side, b: {}, measures: [{ kind: 'duration' }] })).toMatchObject([
      { path: 'measures[0].statistic' },
    ])
    expect(await issuesOf({ a: side, b: {}, measures: [] })).toMatchObject([{ path: 'measures' }])
    expect(await issuesOf({ a: side, b: {}, measures: [{ kind: 'volume' }, { kind: 'volume' }] })).toMatchObject([
      { path: 'measures' },
    ])
  })

  it('leaves out what the organization may not see', async () => {
    const plain = await makeOrganization(server, { entitlements: { monitors: false, metrics: false } })
    const sides = { a: { channels: ['call'] }, b: { channels: ['chat'] } }
    await makeConversations(server, plain.key, [{ durationSeconds: 60 }])
    expect(kindsOf(await compare(sides, plain.key))).toEqual(['volume', 'duration p50', 'duration p95'])
    const measures = [{ kind: 'metric', key: 'csat', statistic: 'mean' }]
    const { status } = await call('POST', '/v1/analytics/compare', { key: plain.key, body: { ...sides, measures } })
    expect(status).toBe(403)
  })

  it('compares the newest monitors if there are many', { timeout: 60_000 }, async () => {
    for (let made = 0; made < 51; made++) await makeMonitor(server, key, { name: `Monitor ${made}` })
    const { rows, warnings } = await compare({ a: { channels: ['call'] }, b: { channels: ['chat'] } })
    expect(rows.filter(({ measure }: Row) => measure.kind === 'rate')).toHaveLength(50)
    expect(rows.some(({ monitorName }: Row) => monitorName === 'Monitor 0')).toBe(false)
    expect(warnings).toEqual(['Only the 50 newest enabled monitors are compared. Name others in measures.'])
  })
})
