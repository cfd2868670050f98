import { randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import { makeCompany, makeConversations, makeMonitor, makeOrganization } from '../../../test/make.ts'
import { seededRandom } from '../../../test/malformed.ts'
import { testServer } from '../../../test/server.ts'
import { minuteMs } from '../../platform/durations.ts'
import { orgIdOf } from '../../platform/ids.ts'
import { measuredSounds } from '../../sound-measures/names.ts'
import { buildNext, checkDays } from './build.ts'
import { findCheckedState, listStoredDays } from './queries.ts'

/** Tests that answers are the same before and after sums are stored. */

const server = await testServer()
const { deps } = server
const { db } = deps

const openDay = async (conversations: object[]) => {
  const { key, id } = await makeOrganization(server)
  const org = orgIdOf(id)
  const ask = async (query: object) => {
    const { status, text, body } = await server.call('POST', '/v1/analytics/query', {
      key,
      body: { filter: { since: '2026-03-10T00:00:00Z', until: '2026-03-11T00:00:00Z' }, ...query },
    })
    expect(status, text).toBe(200)
    return body.groups
  }
  const at = (n: number) => new Date(Date.parse('2026-03-10T00:00:00Z') + n * minuteMs).toISOString()
  const store = async (given: object[]) => {
    const started = given.map((one, n) => ({ startedAt: at(n), ...one }))
    const ids = []
    for (let from = 0; from < started.length; from += 100)
      ids.push(...(await makeConversations(server, key, started.slice(from, from + 100))))
    return ids
  }
  const ids = await store(conversations)
  return {
    key,
    org,
    ids,
    ask,
    store,
    build: async () => {
      server.clock.advance(2 * minuteMs)
      while (await buildNext(deps, org));
      expect(await listStoredDays(db, org, undefined, undefined)).toHaveLength(1)
    },
    expectChecked: async () => {
      while (await checkDays(deps, org));
      expect(await findCheckedState(db, org)).toMatchObject({ differingDays: 0 })
    },
  }
}

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

it('very large and very small metrics are counted', { timeout: 120_000 }, async () => {
  const extremes: Record<string, number[]> = {
    tiny: [1e-200, 2e-200, 5e-324],
    small: [1e-90, -2e-90],
    large: [1e90, 3e90],
    huge: [1e200, 1.7e308],
    mixed: [1.7e308, -1.7e308, 3],
  }
  const metrics = (n: number) =>
    Object.entries(extremes).map(([key, values]) => ({ key, value: values[n % values.length] ?? 0 }))
  const { ask, store, build, expectChecked } = await openDay(times(201, (n) => ({ metrics: metrics(n) })))
  await store(times(3, (n) => ({ metrics: metrics(n), startedAt: `2026-03-09T0${n}:00:00Z` })))
  const queries = Object.keys(extremes).flatMap((key) =>
    ['mean', 'sum', 'p50'].map((statistic) => ({ key, statistic })),
  )
  const askAll = async () => {
    const answers = []
    for (const { key, statistic } of queries) {
      const [group] = await ask({ measure: { kind: 'metric', key, statistic }, compareTo: 'previous_period' })
      answers.push(group)
    }
    return answers
  }
  const answers = await askAll()
  await build()
  for (const [at, { value, interval95, comparison }] of (await askAll()).entries()) {
    const [query, of] = [queries[at], answers[at]]
    const size = Math.min(9e99, Math.max(...(extremes[query?.key ?? ''] ?? []).map(Math.abs)))
    expect(Math.abs(value - of.value), JSON.stringify(query)).toBeLessThanOrEqual(1e-9 * 201 * size)
    expect(interval95 === null, JSON.stringify(query)).toBe(of.interval95 === null)
    expect(comparison.differenceInterval95 === null, JSON.stringify(query)).toBe(query?.statistic !== 'mean')
  }
  expect(await ask({ measure: { kind: 'metric', key: 'huge', statistic: 'p50' } })).toMatchObject([{ value: 9e99 }])
  await expectChecked()
})

it('measures of sound are the same, and follow later measurements', { timeout: 120_000 }, async () => {
  const { org, ids, ask, build, expectChecked } = await openDay(times(200, () => ({})))
  const measure = (n: number) => ({
    responseMs: { agent: { count: 2, p50: 300 + n, p95: 900 + 7 * n, max: 1_000 + 9 * n }, customer: null },
    interruptions: { agent: n % 3, customer: null },
    speechDb: { agent: -20.5 - (n % 9), customer: null },
    talkRatio: n % 2 === 0 ? 0.4 : null,
    dropouts: 0,
    packetGaps: n % 4,
    loudnessLufs: { agent: -23.4 - (n % 7), customer: null },
    echoDb: { agent: null, customer: n % 5 === 0 ? -31.2 : null },
    holdMusicMs: n % 6 === 0 ? 8_000 + n : 0,
    reportedLatencyDifferenceMs: (n % 11) * 40 - 100,
  })
  const store = (some: string[], soundOf: (n: number) => object) =>
    db.transaction().execute(async (trx) => {
      for (const [n, id] of some.entries()) {
        const sound = JSON.stringify(soundOf(n))
        await trx
          .updateTable('conversations')
          .set({ sound })
          .where('organization_id', '=', org)
          .where('id', '=', id)
          .execute()
      }
      await deps.reactions.soundSettled(trx, org, { conversationIds: some })
    })
  const askAll = async () => {
    const answers = []
    for (const name of measuredSounds) {
      for (const statistic of ['mean', 'p95']) {
        answers.push(await ask({ measure: { kind: 'sound', name, statistic }, interval: 'hour', groupBy: ['agent'] }))
      }
    }
    return answers
  }
  await store(ids.slice(0, 150), (n) => (n % 10 === 0 ? {} : measure(n)))
  const answers = await askAll()
  const [slowest] = await ask({ measure: { kind: 'sound', name: 'responseMs.agent.max', statistic: 'mean' } })
  expect(slowest).toMatchObject({ n: 135 })
  await build()
  expect(await askAll()).toEqual(answers)
  await store(ids.slice(100), measure)
  const later = await askAll()
  expect(later).not.toEqual(answers)
  await build()
  expect(await askAll()).toEqual(later)
  await expectChecked()
})

it('percentiles in the middle between two steps are rounded in the same way', async () => {
  const seed = Number(process.env.ANALYTICS_SEED ?? randomInt(2 ** 31))
  const random = seededRandom(seed)
  const middles = [101, 113, 127, 1_730, 1_790, 205.5, 2_025, 2_075, 505, 995]
  const { ask, build } = await openDay(
    times(200, () => ({
      metrics: middles.map((value) => ({ key: String(value), value: value * 10 ** random.below(4) })),
    })),
  )
  const askAll = async () => {
    const answers = []
    for (const key of middles)
      answers.push(await ask({ measure: { kind: 'metric', key: String(key), statistic: 'p50' }, interval: 'hour' }))
    return answers
  }
  const answers = await askAll()
  await build()
  expect(await askAll(), `seed ${seed}`).toEqual(answers)
})

it('if many groups have the same size, the same ones are shown', { timeout: 120_000 }, async () => {
  const { key, ask, store, build } = await openDay([])
  const companies = await Promise.all(times(60, (n) => makeCompany(server, key, `Company ${n}`)))
  await store(times(244, (n) => ({ companyId: companies[n % 61]?.id })))
  const askAll = () => ask({ measure: { kind: 'volume' }, groupBy: ['company'] })
  const answers = await askAll()
  await build()
  expect(await askAll()).toEqual(answers)
})

it('metrics of days with very many keys are not stored', { timeout: 120_000 }, async () => {
  const metrics = (n: number) => [
    { key: 'csat', value: n },
    ...times(3, (at) => ({ key: `key ${n}-${at}`, value: at })),
  ]
  const { org, ask, store, build, expectChecked } = await openDay(times(200, (n) => ({ metrics: metrics(n) })))
  const csat = { measure: { kind: 'metric', key: 'csat', statistic: 'p90' }, groupBy: ['channel'], interval: 'hour' }
  const answers = await ask(csat)
  await build()
  const storedSubjects = async () => {
    const rows = await db
      .selectFrom('analytics_days')
      .select('subject')
      .distinct()
      .where('organization_id', '=', org)
      .execute()
    return rows.map(({ subject }) => subject)
  }
  expect((await storedSubjects()).filter((subject) => subject.startsWith('metric'))).toEqual(['metrics:omitted'])
  expect(await storedSubjects()).toContain('volume')
  expect(await ask(csat)).toEqual(answers)
  await store([{ startedAt: '2026-03-10T12:00:00Z', metrics: [{ key: 'csat', value: 9_000 }] }])
  expect(await ask(csat)).not.toEqual(answers)
  await build()
  expect(await ask({ measure: { kind: 'metric', key: 'csat', statistic: 'sum' } })).toMatchObject([
    { n: 201, value: 199 * 100 + 9_000 },
  ])
  await expectChecked()
})

it('categories and fields are measured', async () => {
  const { key, ids, ask, build, expectChecked } = await openDay(times(200, () => ({})))
  const { id: monitorId } = await makeMonitor(server, key)
  const results = ids.map((conversationId, n) => ({
    monitorId,
    conversationId,
    result: 'unscored',
    categories: [n % 4 === 0 ? 'billing' : 'delivery'],
    fields: { amount: n },
  }))
  const { status, text } = await server.call('POST', '/v1/monitor-results', { key, body: { results } })
  expect(status, text).toBe(200)
  const measures = [
    { kind: 'category', monitorId },
    { kind: 'category', monitorId, category: 'billing' },
    ...['mean', 'sum', 'p50'].map((statistic) => ({ kind: 'field', monitorId, field: 'amount', statistic })),
  ]
  const askAll = () =>
    Promise.all(
      measures.flatMap((measure) => [
        ask({ measure }),
        ask({ measure, interval: 'hour' }),
        ask({ measure, groupBy: ['channel'] }),
      ]),
    )
  const answers = await askAll()
  expect(answers[3]).toMatchObject([{ n: 200, value: 0.25 }])
  expect(answers[6]).toMatchObject([{ n: 200, value: 99.5 }])
  await build()
  expect(await askAll()).toEqual(answers)
  await expectChecked()
})
