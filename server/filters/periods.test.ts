import { beforeAll, describe, expect, it } from 'vitest'
import { makeAlertRule, makeConversations, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { type Period, resolvePeriod } from '../platform/db/periods.ts'
import { dayMs, hourMs } from '../platform/durations.ts'

const server = await testServer()
const { call, deps } = server

const berlin = 'Europe/Berlin'
// This Wednesday is three days after daylight saving time started in Berlin.
const wednesday = '2026-04-01T10:30:00Z'

describe('a period', () => {
  const cases: [period: Period, timezone: string, at: string, since: string, until: string][] = [
    [{ last: '90m' }, 'UTC', wednesday, '2026-04-01T09:00:00Z', wednesday],
    [{ last: '96h' }, berlin, wednesday, '2026-03-28T10:30:00Z', wednesday],
    [{ last: '4d' }, berlin, wednesday, '2026-03-28T11:30:00Z', wednesday],
    [{ last: '1w' }, 'UTC', wednesday, '2026-03-25T10:30:00Z', wednesday],
    [{ last: '1mo' }, 'UTC', '2026-03-31T12:00:00Z', '2026-02-28T12:00:00Z', '2026-03-31T12:00:00Z'],
    [{ current: 'day' }, berlin, '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
    [{ current: 'week' }, berlin, wednesday, '2026-03-29T22:00:00Z', '2026-04-05T22:00:00Z'],
    [{ current: 'quarter' }, 'UTC', wednesday, '2026-04-01T00:00:00Z', '2026-07-01T00:00:00Z'],
    [{ previous: 'day' }, 'America/New_York', wednesday, '2026-03-31T04:00:00Z', '2026-04-01T04:00:00Z'],
    [{ previous: 'month' }, berlin, wednesday, '2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z'],
    [{ previous: 'quarter' }, berlin, wednesday, '2025-12-31T23:00:00Z', '2026-03-31T22:00:00Z'],
    [{ previous: 'year' }, 'UTC', wednesday, '2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  ]

  it.each(cases)('%j in %s at %s is from %s until %s', async (period, timezone, at, since, until) => {
    const bounds = await resolvePeriod(deps.db, { ...period, timezone }, new Date(at))
    expect(bounds).toEqual({ since: new Date(since), until: new Date(until) })
  })
})

describe('a filter with a period', () => {
  let key: string
  let ids: string[]
  beforeAll(async () => {
    key = (await makeOrganization(server)).key
    const ages = [hourMs, 2 * hourMs, 3 * dayMs, 40 * dayMs]
    ids = await makeConversations(
      server,
      key,
      ages.map((age) => ({ startedAt: new Date(Date.now() - age).toISOString() })),
    )
  })
  const search = (filter: object, more: object = {}) =>
    call('POST', '/v1/conversations/search', { key, body: { filter, ...more } })
  const found = async (period: object) =>
    (await search({ period })).body.data.map(({ id }: { id: string }) => ids.indexOf(id))

  it('selects conversations by the time at which it is used', async () => {
    expect(await found({ last: '24h' })).toEqual([0, 1])
    expect(await found({ last: '1w', timezone: 'europe/berlin' })).toEqual([0, 1, 2])
    expect(await found({ last: '2mo' })).toEqual([0, 1, 2, 3])
    expect(await found({ previous: 'year' })).not.toContain(0)
  })

  it('has pages', async () => {
    const period = { last: '7d' }
    const first = (await search({ period }, { limit: 2 })).body
    const { data, nextCursor } = (await search({ period }, { limit: 2, cursor: first.nextCursor })).body
    expect([first.data.length, data.map(({ id }: { id: string }) => ids.indexOf(id)), nextCursor]).toEqual([
      2,
      [2],
      null,
    ])
  })

  it('is combined with results, and counted', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    const results = ids.map((conversationId) => ({ monitorId, conversationId, result: 'affected' }))
    await call('POST', '/v1/monitor-results', { key, body: { results } })
    const filter = { period: { last: '7d' }, monitors: [{ id: monitorId, result: 'affected' }] }
    const body = { filter, interval: 'day', timezone: 'Europe/Berlin' }
    const { count, series, explanation } = (await call('POST', '/v1/conversations/count', { key, body })).body
    expect([count, series.length]).toEqual([3, 8])
    expect(explanation).toContain('started in the last 7 days')
    expect((await search(filter)).body.data).toHaveLength(3)
  })

  it('is saved as it is, and described', async () => {
    const period = { previous: 'week', timezone: 'europe/berlin' }
    const body = { name: 'Last week', filter: { period } }
    const view = await call('POST', '/v1/saved-views', { key, body })
    expect(view.body).toMatchObject({
      filter: { period: { previous: 'week', timezone: 'Europe/Berlin' } },
      explanation: 'conversations, started last week in Europe/Berlin',
    })
  })

  it.each([
    [{ period: {} }, 'filter.period', 'needs exactly one'],
    [{ period: { last: '7d', current: 'day' } }, 'filter.period', 'needs exactly one'],
    [{ period: { last: '7 days' } }, 'filter.period.last', 'such as 7d'],
    [{ period: { last: '0d' } }, 'filter.period.last', 'such as 7d'],
    [{ period: { last: '7d', timezone: 'Mars/Base' } }, 'filter.period.timezone', 'IANA'],
    [{ period: { last: '7d' }, since: '2026-11-01T00:00:00Z' }, 'filter.period', 'cannot be combined'],
  ])('%j is rejected', async (filter, path, message) => {
    const { status, body } = await search(filter)
    expect([status, body.details.issues[0].path]).toEqual([400, path])
    expect(body.details.issues[0].message).toContain(message)
  })

  it('is rejected if the request selects the time in another way', async () => {
    const filter = { period: { last: '7d' } }
    const { id: monitorId } = await makeMonitor(server, key)
    const rule = { name: 'Traffic', condition: { kind: 'volume', direction: 'above', threshold: 0 }, filter }
    const run = { since: '2026-11-01T00:00:00Z', until: '2026-11-02T00:00:00Z', filter }
    const answers = [
      await call('POST', '/v1/alert-rules', { key, body: rule }),
      await call('POST', `/v1/monitors/${monitorId}/evaluations`, { key, body: run }),
    ]
    expect(answers.map(({ status, body }) => [status, body.details.issues[0].path])).toEqual([
      [400, 'filter.period'],
      [400, 'filter.period'],
    ])
    expect((await makeAlertRule(server, key)).id).toBeTruthy()
  })
})
