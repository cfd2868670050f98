import { beforeEach, describe, expect, it } from 'vitest'
import {
  makeAgent,
  makeAgentVersion,
  makeCompany,
  makeConversations,
  makeMonitor,
  makeOrganization,
  makeReview,
  makeTopic,
} from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { noResult } from '../monitor-results/no-result.ts'
import { upsertResults } from '../monitor-results/queries.ts'
import { insertMonitorVersion } from '../monitors/queries.ts'
import { orgIdOf } from '../platform/ids.ts'
import { newcombe, wilson } from '../statistics/rate-intervals.ts'

const server = await testServer()
const { call } = server
const { db } = server.deps

let key: string
let id: string
beforeEach(async () => {
  ;({ key, id } = await makeOrganization(server))
})

const ask = async (body: object, as = key) => {
  const { status, body: answer } = await call('POST', '/v1/analytics/query', { key: as, body })
  expect(status, JSON.stringify(answer)).toBe(200)
  return answer
}

const issuesOf = async (body: object) => {
  const answer = await call('POST', '/v1/analytics/query', { key, body })
  expect(answer.status, answer.text).toBe(400)
  return answer.body.details.issues
}

const on = (day: number, hour = 9) => `2026-03-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00Z`
const march = { since: on(1, 0), until: '2026-04-01T00:00:00Z' }

type ConversationInput = { score?: number; cost?: number; responseMs?: number; version?: number }

const give = async (monitorId: string, conversationId: string, affected: boolean, given: ConversationInput = {}) => {
  const { score = null, cost = null, responseMs = null, version = 1 } = given
  const row = {
    ...noResult,
    conversationId,
    monitorId,
    monitorVersion: version,
    status: 'scored' as const,
    result: affected ? ('affected' as const) : ('not_affected' as const),
    score,
    evaluatedAt: null,
    evaluator: 'test',
    cost,
    responseMs,
  }
  await db.transaction().execute((trx) => upsertResults(trx, orgIdOf(id), [row], server.clock.now()))
}

describe('volume', () => {
  it('counts all conversations without a filter', async () => {
    await makeConversations(server, key, [{ startedAt: on(1) }, { startedAt: on(2) }])
    expect(await ask({ measure: { kind: 'volume' } })).toEqual({
      period: null,
      comparedPeriod: null,
      groups: [{ key: [], label: [], isOther: false, n: 2, value: 2, interval95: null }],
      warnings: [],
    })
  })

  it('is 0 where nothing happened, also over time', async () => {
    const { groups } = await ask({ measure: { kind: 'volume' }, filter: march, interval: 'week' })
    expect(groups).toHaveLength(1)
    expect(groups[0]).toMatchObject({ n: 0, value: 0 })
    expect(groups[0].series.map(({ start }: { start: string }) => start.slice(0, 10))).toEqual([
      '2026-03-01',
      '2026-03-02',
      '2026-03-09',
      '2026-03-16',
      '2026-03-23',
      '2026-03-30',
    ])
  })

  it('is grouped by one or two dimensions, largest first, with names', async () => {
    const leo = await makeAgent(server, key, { name: 'Leo' })
    const mia = await makeAgent(server, key, { name: 'Mia' })
    const version = await makeAgentVersion(server, key, mia.id)
    const company = await makeCompany(server, key, 'Acme')
    const agent = (each: { id: string }) => ({ agent: undefined, agentId: each.id })
    await makeConversations(server, key, [
      { ...agent(mia), agentVersionId: version.id, direction: 'inbound', startedAt: on(1) },
      { ...agent(mia), agentVersionId: version.id, companyId: company.id, direction: 'outbound', startedAt: on(1) },
      { ...agent(leo), companyId: company.id, startedAt: on(1) },
    ])
    const grouped = async (...groupBy: string[]) =>
      (await ask({ measure: { kind: 'volume' }, groupBy })).groups.map(
        ({ label, n }: { label: string[]; n: number }) => [...label, n],
      )
    expect(await grouped('agent')).toEqual([
      ['Mia', 2],
      ['Leo', 1],
    ])
    expect(await grouped('version')).toEqual([
      ['1 of Mia', 2],
      ['None', 1],
    ])
    expect((await grouped('company', 'agent')).sort()).toEqual([
      ['Acme', 'Leo', 1],
      ['Acme', 'Mia', 1],
      ['None', 'Mia', 1],
    ])
    expect((await grouped('direction')).sort()).toEqual([
      ['None', 1],
      ['inbound', 1],
      ['outbound', 1],
    ])
    const { groups } = await ask({ measure: { kind: 'volume' }, groupBy: ['company', 'agent'] })
    expect(groups.map((group: { key: string[] }) => group.key)).toContainEqual([null, mia.id])
  })

  it('is grouped by topic, with merged topics as one', async () => {
    const ids = await makeConversations(server, key, [{}, {}, {}, {}])
    const topics: string[] = []
    for (const id of ids.slice(0, 3)) topics.push(await makeTopic(server, key, id))
    const [refunds, late, orders] = topics
    await call('PATCH', `/v1/topics/${orders}`, { key, body: { label: 'Orders' } })
    await call('POST', `/v1/topics/${late}/merge`, { key, body: { into: refunds } })
    const { groups } = await ask({ measure: { kind: 'volume' }, groupBy: ['topic'] })
    const found = groups.map(({ key: [id], label: [name], n }: { key: string[]; label: string[]; n: number }) => [
      id,
      name,
      n,
    ])
    expect(found).toHaveLength(3)
    expect(found).toEqual(
      expect.arrayContaining([
        [refunds, 'refund', 2],
        [orders, 'Orders', 1],
        [null, 'None', 1],
      ]),
    )
  })

  it('is grouped by metadata, end reason, hour, and weekday in a time zone', async () => {
    await makeConversations(server, key, [
      { startedAt: '2026-03-01T23:30:00Z', endReason: 'hangup', metadata: { plan: 'gold' } },
      { startedAt: '2026-03-02T00:30:00Z', metadata: { plan: 5 } },
      {
        startedAt: '2026-03-02T12:00:00Z',
        metadata: { plan: { nested: true } },
        transcript: [{ role: 'agent', text: 'Hello' }],
      },
    ])
    const labels = async (body: object) =>
      (await ask({ measure: { kind: 'volume' }, ...body })).groups
        .map(({ label, n }: { label: string[]; n: number }) => `${label} ${n}`)
        .sort()
    expect(await labels({ groupBy: ['metadata:plan'] })).toEqual(['5 1', 'None 1', 'gold 1'])
    expect(await labels({ groupBy: ['endReason'] })).toEqual(['None 2', 'hangup 1'])
    expect(await labels({ groupBy: ['provider'] })).toEqual(['None 2', 'turns 1'])
    expect(await labels({ groupBy: ['weekday'] })).toEqual(['Monday 2', 'Sunday 1'])
    expect(await labels({ groupBy: ['weekday'], timezone: 'Europe/Berlin' })).toEqual(['Monday 3'])
    expect(await labels({ groupBy: ['hourOfDay'], timezone: 'asia/kolkata' })).toEqual([
      '05:00 1',
      '06:00 1',
      '17:00 1',
    ])
  })

  it('shows the 50 largest groups, and the others together', async () => {
    const plans = Array.from({ length: 53 }, (_, at) => at)
    const of = (plan: number) => ({ startedAt: on(1), metadata: { plan: `p${plan}` } })
    await makeConversations(server, key, [...plans.map(of), ...plans.slice(0, 50).map(of)])
    const { groups, warnings } = await ask({
      measure: { kind: 'volume' },
      groupBy: ['metadata:plan'],
      filter: march,
      compareTo: 'previous_period',
    })
    expect(groups).toHaveLength(51)
    expect(groups[0]).toMatchObject({ n: 2, comparison: { n: 0, difference: 2 } })
    expect(groups[50]).toMatchObject({ key: [null], label: ['Other'], isOther: true, n: 3 })
    expect(groups[50].comparison).toMatchObject({ difference: null })
    expect(warnings).toEqual(['There are 53 groups. The 50 largest are shown, and the others together.'])
  })

  it('shows every hour of the week', async () => {
    await makeConversations(
      server,
      key,
      Array.from({ length: 60 }, (_, at) => ({ startedAt: on(2 + Math.floor(at / 24), at % 24) })),
    )
    const body = { measure: { kind: 'volume' }, groupBy: ['weekday', 'hourOfDay'] }
    const { groups, warnings } = await ask(body)
    expect(groups).toHaveLength(60)
    expect(warnings).toEqual([])
  })

  it('only counts what the filter selects, and nothing of another organization', async () => {
    await makeConversations(server, key, [
      { startedAt: on(1), metadata: { plan: 'gold' } },
      { startedAt: on(2), metadata: { plan: 'gold' } },
      { startedAt: on(1) },
    ])
    const filter = { until: on(2), metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] }
    expect((await ask({ measure: { kind: 'volume' }, filter })).groups[0].n).toBe(1)
    const stranger = await makeOrganization(server)
    expect((await ask({ measure: { kind: 'volume' } }, stranger.key)).groups[0].n).toBe(0)
  })
})

describe('rates and scores', () => {
  it('have intervals, and use the newest result of each conversation', async () => {
    const monitor = await makeMonitor(server, key)
    await insertMonitorVersion(db, orgIdOf(id), monitor.id, 2, {})
    const conversations = await makeConversations(server, key, [
      { startedAt: on(1) },
      { startedAt: on(1) },
      { startedAt: on(1), channel: 'chat' },
      { startedAt: on(1) },
    ])
    for (const [at, conversation] of conversations.slice(0, 3).entries()) {
      await give(monitor.id, conversation, at === 0, { score: at + 1 })
    }
    await give(monitor.id, conversations[0] as string, false, { version: 2, score: 5 })
    await give(monitor.id, conversations[1] as string, true, { version: 2, score: 5 })
    const rate = { kind: 'rate', monitorId: monitor.id }
    const all = await ask({ measure: rate })
    expect(all.groups[0]).toMatchObject({ n: 3, value: 1 / 3 })
    const { low, high } = wilson({ affected: 1, all: 3 }, 0.05)
    expect(all.groups[0].interval95.low).toBeCloseTo(low, 9)
    expect(all.groups[0].interval95.high).toBeCloseTo(high, 9)
    const byChannel = await ask({ measure: rate, groupBy: ['channel'], filter: march, interval: 'month' })
    expect(byChannel.groups).toMatchObject([
      { key: ['call'], n: 2, value: 0.5, series: [{ n: 2, value: 0.5 }] },
      { key: ['chat'], n: 1, value: 0 },
    ])
    const mean = await ask({ measure: { kind: 'score', monitorId: monitor.id, statistic: 'mean' } })
    expect(mean.groups[0]).toMatchObject({ n: 3, value: 13 / 3 })
    // Student's t with 2 degrees of freedom: 4.3027 standard errors.
    expect(mean.groups[0].interval95.high - 13 / 3).toBeCloseTo(4.302653 * (Math.sqrt(4 / 3) / Math.sqrt(3)), 4)
  })

  it('are compared with the period before', async () => {
    const monitor = await makeMonitor(server, key)
    const before = await makeConversations(server, key, Array(4).fill({ startedAt: on(3) }))
    const now = await makeConversations(server, key, Array(5).fill({ startedAt: on(10) }))
    for (const [at, each] of before.entries()) await give(monitor.id, each, at === 0)
    for (const [at, each] of now.entries()) await give(monitor.id, each, at < 4)
    const body = await ask({
      measure: { kind: 'rate', monitorId: monitor.id },
      filter: { since: on(8, 0), until: on(15, 0) },
      interval: 'day',
      compareTo: 'previous_period',
    })
    expect(body.comparedPeriod).toEqual({ since: '2026-03-01T00:00:00.000Z', until: '2026-03-08T00:00:00.000Z' })
    const [{ value, comparison, series }] = body.groups
    expect(value).toBe(0.8)
    expect(comparison).toMatchObject({ n: 4, value: 0.25 })
    expect(comparison.difference).toBeCloseTo(0.55, 12)
    const { low } = newcombe({ affected: 1, all: 4 }, { affected: 4, all: 5 }, 0.05)
    expect(comparison.differenceInterval95.low).toBeCloseTo(low, 9)
    expect(series[2]).toMatchObject({ n: 5 })
    expect(comparison.series).toHaveLength(7)
    expect(comparison.series[2]).toMatchObject({ n: 4 })
  })

  it('are compared with any dates', async () => {
    const monitor = await makeMonitor(server, key)
    const before = await makeConversations(server, key, Array(4).fill({ startedAt: on(3) }))
    const now = await makeConversations(server, key, Array(5).fill({ startedAt: on(20) }))
    for (const [at, each] of before.entries()) await give(monitor.id, each, at === 0)
    for (const [at, each] of now.entries()) await give(monitor.id, each, at < 4)
    const measure = { kind: 'rate', monitorId: monitor.id }
    const compareTo = { since: on(1, 0), until: on(6, 0) }
    const { comparedPeriod, groups } = await ask({ measure, filter: { since: on(20, 0), until: on(21, 0) }, compareTo })
    expect(comparedPeriod).toEqual({ since: '2026-03-01T00:00:00.000Z', until: '2026-03-06T00:00:00.000Z' })
    expect(groups[0]).toMatchObject({ value: 0.8, comparison: { n: 4, value: 0.25 } })
    expect((await ask({ measure, compareTo })).groups[0]).toMatchObject({ n: 9, comparison: { n: 4 } })
    expect(await issuesOf({ measure, compareTo: { since: on(6), until: on(6) } })).toEqual([
      { path: 'compareTo.until', message: 'must be later than since' },
    ])
    const issues = await issuesOf({ measure, compareTo: 'yesterday' })
    expect(issues[0]).toEqual({ path: 'compareTo', message: 'must be one of previous_period, previous_year' })
    const explained = { measure, filter: { since: on(20, 0), until: on(21, 0) }, compareTo }
    const { status, body } = await call('POST', '/v1/analytics/explain', { key, body: explained })
    expect(status).toBe(200)
    expect(body).toMatchObject({ comparedPeriod, now: { n: 5 }, before: { n: 4 } })
  })

  it('agreement compares judgments with the version that was judged', async () => {
    const monitor = await makeMonitor(server, key)
    const conversations = await makeConversations(server, key, Array(3).fill({ startedAt: on(1) }))
    for (const conversation of conversations) await give(monitor.id, conversation, true)
    const words = ['affected', 'not_affected', 'unsure'] as const
    for (const [at, conversationId] of conversations.entries()) {
      await makeReview(server, { key, conversationId }, [
        { monitorId: monitor.id, correctResult: words[at] ?? 'unsure' },
      ])
    }
    const { groups } = await ask({ measure: { kind: 'agreement', monitorId: monitor.id } })
    expect(groups[0]).toMatchObject({ n: 2, value: 0.5 })
  })

  it('latencies are those of all responses, of one judge or of all', async () => {
    const [conversation = '', unasked = ''] = await makeConversations(server, key, [
      { startedAt: on(1) },
      { startedAt: on(1) },
    ])
    const [one, other] = [await makeMonitor(server, key), await makeMonitor(server, key)]
    await give(one.id, conversation, true, { responseMs: 1_500 })
    await give(other.id, conversation, true, { responseMs: 500 })
    await give(other.id, unasked, true)
    const latency = async (measure: object) => (await ask({ measure: { kind: 'latency', ...measure } })).groups[0]
    expect(await latency({ statistic: 'mean' })).toMatchObject({ n: 2, value: 1 })
    expect(await latency({ statistic: 'p95', monitorId: one.id })).toMatchObject({ n: 1, value: 1.5 })
  })

  it('costs are those of all results, of one judge or of all', async () => {
    const [one, other] = [await makeMonitor(server, key), await makeMonitor(server, key)]
    const [conversation = ''] = await makeConversations(server, key, [{ startedAt: on(1) }])
    await give(one.id, conversation, true, { cost: 0.25 })
    await give(other.id, conversation, true, { cost: 0.5 })
    const cost = async (measure: object) => (await ask({ measure: { kind: 'cost', ...measure } })).groups[0]
    expect(await cost({ statistic: 'sum' })).toMatchObject({ n: 2, value: 0.75, interval95: null })
    expect(await cost({ statistic: 'mean', monitorId: one.id })).toMatchObject({ n: 1, value: 0.25, interval95: null })
  })
})

describe('values of conversations', () => {
  it('have percentiles with an interval between two of the values', async () => {
    const durations = Array.from({ length: 100 }, (_, at) => at + 1)
    await makeConversations(
      server,
      key,
      durations.map((durationSeconds) => ({ startedAt: on(1), durationSeconds })),
    )
    const measured = async (statistic: string) => (await ask({ measure: { kind: 'duration', statistic } })).groups[0]
    // 50 ± 1.96 × 5, rounded outward.
    expect(await measured('p50')).toEqual({
      key: [],
      label: [],
      isOther: false,
      n: 100,
      value: 50,
      interval95: { low: 40, high: 61 },
    })
    expect(await measured('p90')).toMatchObject({ value: 90, interval95: { low: 84, high: 97 } })
    expect(await measured('p99')).toMatchObject({ value: 99, interval95: null })
    expect(await measured('sum')).toMatchObject({ value: 5_050, interval95: null })
    expect(await measured('mean')).toMatchObject({ value: 50.5 })
  })

  it('of signals, metrics, and the delay of ingestion are measured', async () => {
    const startedAt = new Date(server.clock.now().getTime() - 60_000).toISOString()
    await makeConversations(server, key, [
      {
        startedAt,
        metrics: [
          { key: 'csat', value: true },
          { key: 'tier', value: 'gold' },
        ],
      },
    ])
    const metric = await ask({ measure: { kind: 'metric', key: 'csat', statistic: 'mean' } })
    expect(metric.groups[0]).toMatchObject({ n: 1, value: 1 })
    expect((await ask({ measure: { kind: 'metric', key: 'tier', statistic: 'mean' } })).groups[0]).toMatchObject({
      n: 0,
      value: null,
    })
    const delay = await ask({ measure: { kind: 'delay', statistic: 'mean' } })
    expect(delay.groups[0].n).toBe(1)
    expect(delay.groups[0].value).toBeGreaterThan(50)
    const signal = await ask({ measure: { kind: 'signal', signal: 'firstWordMs', statistic: 'p50' } })
    expect(signal.groups[0]).toMatchObject({ n: 0, value: null, interval95: null })
    const sound = await ask({ measure: { kind: 'sound', name: 'responseMs.agent.p95', statistic: 'p50' } })
    expect(sound.groups[0]).toMatchObject({ n: 0, value: null, interval95: null })
  })
})

describe('a query', () => {
  it('needs a period for intervals and comparisons', async () => {
    expect(await issuesOf({ measure: { kind: 'volume' }, interval: 'day' })).toEqual([
      { path: 'filter', message: 'needs a period, or since, with an interval' },
    ])
    expect(await issuesOf({ measure: { kind: 'volume' }, compareTo: 'previous_year' })).toMatchObject([
      { path: 'filter' },
    ])
    expect(
      await issuesOf({ measure: { kind: 'volume' }, interval: 'hour', filter: { since: '2020-01-01T00:00:00Z' } }),
    ).toMatchObject([{ path: 'interval' }])
  })

  it('rejects unknown monitors, groups, and zones', async () => {
    const stranger = await makeOrganization(server)
    const { id: monitorId } = await makeMonitor(server, stranger.key)
    expect(await issuesOf({ measure: { kind: 'rate', monitorId } })).toEqual([
      { path: 'measure.monitorId', message: 'does not exist in your organization' },
    ])
    expect(await issuesOf({ measure: { kind: 'volume' }, groupBy: ['color'] })).toMatchObject([{ path: 'groupBy[0]' }])
    expect(await issuesOf({ measure: { kind: 'volume' }, timezone: 'Mars' })).toMatchObject([{ path: 'timezone' }])
    expect(await issuesOf({ measure: { kind: 'duration' } })).toMatchObject([{ path: 'measure.statistic' }])
  })

  it('needs the entitlement of what it measures', async () => {
    const plain = await makeOrganization(server, { entitlements: { monitors: false, metrics: false } })
    const status = async (measure: object) =>
      (await call('POST', '/v1/analytics/query', { key: plain.key, body: { measure } })).status
    expect(await status({ kind: 'volume' })).toBe(200)
    expect(await status({ kind: 'cost', statistic: 'sum' })).toBe(403)
    expect(await status({ kind: 'metric', key: 'csat', statistic: 'sum' })).toBe(403)
  })

  it('counts a moving period until now, and compares the same part of the month before', async () => {
    const now = server.clock.now()
    const { period, comparedPeriod } = await ask({
      measure: { kind: 'volume' },
      filter: { period: { current: 'month', timezone: 'Europe/Berlin' } },
      compareTo: 'previous_period',
    })
    expect(period.until).toBe(now.toISOString())
    const [start, before] = [new Date(period.since), new Date(comparedPeriod.since)]
    const inBerlin = (at: Date) => at.toLocaleString('sv', { timeZone: 'Europe/Berlin' })
    expect(inBerlin(start)).toMatch(/-01 00:00:00$/)
    expect(inBerlin(before)).toMatch(/-01 00:00:00$/)
    expect(start.getTime() - before.getTime()).toBeGreaterThan(27 * 86_400_000)
  })
})
