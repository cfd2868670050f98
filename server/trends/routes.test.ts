import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversation, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { noResult } from '../monitor-results/no-result.ts'
import { upsertResults } from '../monitor-results/queries.ts'
import { insertMonitorVersion } from '../monitors/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import { orgIdOf } from '../platform/ids.ts'

const server = await testServer()
const { call } = server
const { db } = server.deps

let org: OrgId
let key: string
let monitorId: string
beforeEach(async () => {
  const organization = await makeOrganization(server)
  org = orgIdOf(organization.id)
  key = organization.key
  monitorId = (await makeMonitor(server, key)).id
})

type ResultWord = 'affected' | 'not_affected' | 'unscored' | 'failed'

/** Creates a call with a result from a monitor version. */
const give = async (
  startedAt: string,
  found: ResultWord,
  { version = 1, score = null as number | null, cost = null as number | null, id = '' } = {},
) => {
  const conversationId = id || (await makeConversation(server, key, { startedAt })).id
  const isScored = found === 'affected' || found === 'not_affected'
  const row = {
    ...noResult,
    conversationId,
    monitorId,
    monitorVersion: version,
    score,
    evaluatedAt: null,
    evaluator: 'test',
    ...(isScored ? { status: 'scored' as const, result: found } : { status: found, result: null }),
    cost,
  }
  await db.transaction().execute((trx) => upsertResults(trx, org, [row], server.clock.now()))
  return conversationId as string
}

const trend = async (query: string) => {
  const { status, body } = await call('GET', `/v1/monitors/${monitorId}/trend?${query}`, { key })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

const counts = (bucket: Record<string, number>) => [bucket.affected, bucket.notAffected, bucket.unscored, bucket.failed]

describe('the trend of a monitor', () => {
  it('has a bucket per day, with rate, interval, and mean score, including days without calls', async () => {
    await give('2026-03-02T08:00:00Z', 'affected', { score: 4 })
    await give('2026-03-02T09:00:00Z', 'not_affected', { score: 1 })
    await give('2026-03-02T10:00:00Z', 'not_affected')
    await give('2026-03-02T11:00:00Z', 'unscored', { score: 9 })
    await give('2026-03-04T23:59:59.999Z', 'failed')
    const body = await trend('since=2026-03-02T00:00:00Z&until=2026-03-05T00:00:00Z')
    expect(body).toMatchObject({ interval: 'day', timezone: 'UTC' })
    const [first, second, third, ...more] = body.data
    expect(more).toEqual([])
    expect(first).toMatchObject({
      start: '2026-03-02T00:00:00.000Z',
      end: '2026-03-03T00:00:00.000Z',
      affectedRate: 1 / 3,
      meanScore: 2.5,
    })
    // These are the bounds of Wilson's interval for 1 of 3.
    expect(first.low).toBeCloseTo(0.0615, 4)
    expect(first.high).toBeCloseTo(0.7923, 4)
    expect(counts(first)).toEqual([1, 2, 1, 0])
    expect(second).toEqual({
      start: '2026-03-03T00:00:00.000Z',
      end: '2026-03-04T00:00:00.000Z',
      affected: 0,
      notAffected: 0,
      unscored: 0,
      failed: 0,
      affectedRate: null,
      low: null,
      high: null,
      meanScore: null,
      cost: null,
    })
    expect(counts(third)).toEqual([0, 0, 0, 1])
  })

  it("sums the cost of a judge's results, if known", async () => {
    await db.updateTable('monitors').set({ kind: 'judge' }).where('id', '=', monitorId).execute()
    await give('2026-03-02T08:00:00Z', 'affected', { cost: 0.5 })
    await give('2026-03-02T09:00:00Z', 'failed', { cost: 0.25 })
    await give('2026-03-02T10:00:00Z', 'not_affected')
    await give('2026-03-03T10:00:00Z', 'not_affected')
    const { data } = await trend('since=2026-03-02T00:00:00Z&until=2026-03-04T00:00:00Z')
    expect(data.map(({ cost }: { cost: number | null }) => cost)).toEqual([0.75, null])
  })

  it('cuts the first and last bucket to the period, including its start and excluding its end', async () => {
    await give('2026-03-02T11:59:59.999Z', 'affected')
    await give('2026-03-02T12:00:00Z', 'affected')
    await give('2026-03-03T06:00:00Z', 'affected')
    const { data } = await trend('since=2026-03-02T12:00:00Z&until=2026-03-03T06:00:00Z')
    expect(data.map(({ start, end, affected }: Record<string, unknown>) => [start, end, affected])).toEqual([
      ['2026-03-02T12:00:00.000Z', '2026-03-03T00:00:00.000Z', 1],
      ['2026-03-03T00:00:00.000Z', '2026-03-03T06:00:00.000Z', 0],
    ])
  })

  it('follows the days and weeks of a time zone across clock changes', async () => {
    // Daylight saving time begins in Berlin on the 29th, so that day has 23 hours.
    await give('2026-03-28T23:30:00Z', 'affected')
    await give('2026-03-29T21:59:00Z', 'affected')
    await give('2026-03-29T22:00:00Z', 'not_affected')
    const window = 'since=2026-03-28T00:00:00%2B01:00&until=2026-03-31T00:00:00%2B02:00'
    const days = (await trend(`${window}&timezone=Europe/Berlin`)).data
    expect(days.map(({ start }: { start: string }) => start)).toEqual([
      '2026-03-27T23:00:00.000Z',
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ])
    expect(days.map(counts)).toEqual([
      [0, 0, 0, 0],
      [2, 0, 0, 0],
      [0, 1, 0, 0],
    ])
    const hours = (await trend(`${window}&timezone=Europe/Berlin&interval=hour`)).data
    expect(hours).toHaveLength(71)
    const weeks = (await trend(`${window}&timezone=Europe/Berlin&interval=week`)).data
    expect(weeks.map(({ end }: { end: string }) => end)).toEqual([
      '2026-03-29T22:00:00.000Z',
      '2026-03-30T22:00:00.000Z',
    ])
  })

  it('starts each day at its own midnight, even if clocks change at midnight', async () => {
    const startsIn = async (timezone: string, window: string) =>
      (await trend(`${window}&timezone=${timezone}`)).data.map(({ start }: { start: string }) => start.slice(0, 16))
    // In Cairo, the 24th starts at one o'clock, and the following days at midnight.
    const cairo = 'until=2026-04-26T21:30:00Z&since='
    expect(await startsIn('Africa/Cairo', `${cairo}2026-04-22T22:00:00Z`)).toEqual([
      '2026-04-22T22:00',
      '2026-04-23T22:00',
      '2026-04-24T21:00',
      '2026-04-25T21:00',
      '2026-04-26T21:00',
    ])
    expect(await startsIn('Africa/Cairo', `${cairo}2026-04-24T05:00:00Z`)).toEqual([
      '2026-04-24T05:00',
      '2026-04-24T21:00',
      '2026-04-25T21:00',
      '2026-04-26T21:00',
    ])
    // In Havana, November 2, 2025, has two midnights, which no day in 2026 has. A period that starts between them must
    // not lose any calls.
    await give('2025-11-02T04:45:00Z', 'affected')
    const havana = 'since=2025-11-02T04:30:00Z&until=2025-11-04T05:00:00Z'
    expect(await startsIn('America/Havana', havana)).toEqual([
      '2025-11-02T04:30',
      '2025-11-02T05:00',
      '2025-11-03T05:00',
    ])
    const { data } = await trend(`${havana}&timezone=America/Havana`)
    expect(data.map(counts)[0]).toEqual([1, 0, 0, 0])
    // On Lord Howe Island, clocks move by half an hour at two o'clock. Kathmandu's offset ends in a quarter of an hour.
    expect(
      await startsIn('Australia/Lord_Howe', 'interval=hour&since=2026-10-03T14:30:00Z&until=2026-10-03T18:00:00Z'),
    ).toEqual(['2026-10-03T14:30', '2026-10-03T15:00', '2026-10-03T16:00', '2026-10-03T17:00'])
    expect(
      await startsIn('Asia/Kathmandu', 'interval=hour&since=2026-11-01T04:40:00Z&until=2026-11-01T06:00:00Z'),
    ).toEqual(['2026-11-01T04:40', '2026-11-01T05:15'])
  })

  it('counts the newest version with a result for each call, or the requested one', async () => {
    await insertMonitorVersion(db, org, monitorId, 2, {})
    await db
      .updateTable('monitors')
      .set({ current_version: 2 })
      .where('organization_id', '=', org)
      .where('id', '=', monitorId)
      .execute()
    const id = await give('2026-03-02T08:00:00Z', 'affected')
    await give('', 'unscored', { version: 2, id })
    await give('2026-03-02T09:00:00Z', 'affected')
    const day = 'since=2026-03-02T00:00:00Z&until=2026-03-03T00:00:00Z'
    const of = async (query: string) => counts((await trend(day + query)).data[0])
    expect(await of('')).toEqual([1, 0, 1, 0])
    expect(await of('&version=1')).toEqual([2, 0, 0, 0])
    expect(await of('&version=2')).toEqual([0, 0, 1, 0])
    expect(await of('&version=3')).toEqual([0, 0, 0, 0])
  })

  it('covers the last thirty days by default, with a bucket per day', async () => {
    const now = server.clock.now()
    await give(new Date(now.getTime() - 1_000).toISOString(), 'affected')
    const { data } = await trend('')
    expect(data).toHaveLength(30)
    expect(data.at(-1)).toMatchObject({ end: now.toISOString() })
    expect(data.slice(-2).reduce((sum: number, { affected }: { affected: number }) => sum + affected, 0)).toBe(1)
  })

  it.each([
    ['that ends at midnight', 'until=2026-03-05T00:00:00Z', 30, '2026-02-03T00:00:00.000Z'],
    ['in which clocks go forward', 'until=2026-04-09T22:30:00Z&timezone=Europe/Berlin', 30, '2026-03-11T23:00:00.000Z'],
    ['in which clocks go back', 'until=2026-11-10T22:30:00Z&timezone=Europe/Berlin', 30, '2026-10-11T22:00:00.000Z'],
    ['by the hour', 'until=2026-03-05T00:00:00Z&interval=hour', 30 * 24, '2026-02-03T00:00:00.000Z'],
    ['by the week', 'until=2026-03-05T00:00:00Z&interval=week', 5, '2026-02-03T00:00:00.000Z'],
  ])('of thirty days %s has them all', async (_name, query, buckets, start) => {
    const { data } = await trend(query)
    expect([data.length, data[0].start]).toEqual([buckets, start])
  })

  it('has at most a thousand buckets', async () => {
    expect((await trend('interval=hour&since=2026-01-01T00:00:00Z&until=2026-02-11T16:00:00Z')).data).toHaveLength(
      1_000,
    )
    const refused = async (query: string) => {
      const { status, body } = await call('GET', `/v1/monitors/${monitorId}/trend?${query}`, { key })
      expect(status).toBe(400)
      return body.details.issues.map(({ path }: { path: string }) => path)
    }
    expect(await refused('interval=hour&since=2026-01-01T00:00:00Z&until=2026-02-11T16:00:01Z')).toEqual(['interval'])
    expect(await refused('interval=hour&since=0001-01-01T00:00:00Z&until=9999-12-31T00:00:00Z')).toEqual(['interval'])
    expect(await refused('since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z')).toEqual(['until'])
    expect(await refused('interval=month')).toEqual(['interval'])
    for (const timezone of ['Mars/Olympus', '%2B02:00', "UTC'--", 'x'.repeat(65)]) {
      expect(await refused(`timezone=${timezone}`)).toEqual(['timezone'])
    }
  })
})
