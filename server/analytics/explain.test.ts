import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversations, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'

const server = await testServer()
const { call } = server

let key: string
beforeEach(async () => {
  ;({ key } = await makeOrganization(server))
})

const explain = (body: object, as = key) => call('POST', '/v1/analytics/explain', { key: as, body })

const filter = { since: '2026-03-08T00:00:00Z', until: '2026-03-15T00:00:00Z' }

/** Creates two weeks of calls from two agents on two plans. The second week is the current period. */
const makeWeeks = async (made: (week: number, agent: string, plan: string, at: number) => object, each = 60) => {
  const given = [0, 1].flatMap((week) =>
    ['leo', 'mia'].flatMap((agent) =>
      ['gold', 'free'].flatMap((plan) =>
        Array.from({ length: each }, (_, at) => ({
          startedAt: new Date(Date.UTC(2026, 2, 1 + 7 * week, at % 24, at)).toISOString(),
          agent: { externalId: agent, name: agent, channel: 'voice' },
          metadata: { plan },
          ...made(week, agent, plan, at),
        })),
      ),
    ),
  )
  const ids: string[] = []
  for (let from = 0; from < given.length; from += 100) {
    ids.push(...(await makeConversations(server, key, given.slice(from, from + 100))))
  }
  return given.map((one, at) => ({ ...one, id: ids[at] }))
}

describe('a change', () => {
  it('of a mean is explained by the group that moved it', async () => {
    await makeWeeks((week, agent, _plan, at) => ({
      durationSeconds: 100 + (at % 20) + (week === 1 && agent === 'mia' ? 80 : 0),
    }))
    const { status, body } = await explain({ measure: { kind: 'duration', statistic: 'mean' }, filter })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      period: { since: '2026-03-08T00:00:00.000Z' },
      comparedPeriod: { since: '2026-03-01T00:00:00.000Z', until: '2026-03-08T00:00:00.000Z' },
      now: { n: 240, value: 149.5 },
      before: { n: 240, value: 109.5 },
      difference: 40,
      warnings: [],
    })
    expect(body.drivers).toHaveLength(1)
    expect(body.drivers[0]).toMatchObject({
      dimension: 'agent',
      label: 'mia',
      now: { n: 120, value: 189.5 },
      before: { n: 120, value: 109.5 },
      contribution: 40,
    })
    expect(body.drivers[0].q).toBeLessThan(0.001)
    expect(body.groups).toBeGreaterThanOrEqual(5)
  })

  it('of a rate can come from metadata', async () => {
    const monitor = await makeMonitor(server, key)
    const conversations = await makeWeeks((_week, _agent, plan) => ({ metadata: { plan } }))
    const results = conversations.map(({ id, startedAt, metadata: { plan } }, at) => ({
      conversationId: id,
      monitorId: monitor.id,
      result:
        at % 10 === 0 || (startedAt >= filter.since && plan === 'gold' && at % 2 === 0) ? 'affected' : 'not_affected',
    }))
    expect((await call('POST', '/v1/monitor-results', { key, body: { results } })).status).toBe(200)
    const { body } = await explain({ measure: { kind: 'rate', monitorId: monitor.id }, filter })
    expect(body.now.value).toBeGreaterThan(body.before.value + 0.1)
    expect(body.drivers[0]).toMatchObject({ dimension: 'metadata:plan', key: 'gold', label: 'gold' })
    const named = await explain({ measure: { kind: 'rate', monitorId: monitor.id }, filter, metadataKeys: ['other'] })
    expect(named.body.drivers.map(({ dimension }: { dimension: string }) => dimension)).not.toContain('metadata:plan')
  })

  it('of a number of conversations can come from an agent that no longer has any', async () => {
    const agents = await makeWeeks((week, agent) => ({
      agent: { externalId: week === 0 ? agent : 'leo', name: week === 0 ? agent : 'leo', channel: 'voice' },
      ...(week === 1 && agent === 'mia' && { startedAt: '2026-02-20T10:00:00Z' }),
    }))
    expect(agents).toHaveLength(480)
    const { body } = await explain({ measure: { kind: 'volume' }, filter })
    expect(body).toMatchObject({ now: { n: 120 }, before: { n: 240 }, difference: -120 })
    expect(body.drivers[0]).toMatchObject({
      dimension: 'agent',
      label: 'mia',
      now: { n: 0 },
      before: { n: 120 },
      contribution: -120,
    })
  })

  it('by chance has no explanation, and percentiles are explained by the mean', async () => {
    await makeWeeks((_week, _agent, _plan, at) => ({ durationSeconds: 100 + ((at * 7) % 40) }))
    const { body } = await explain({ measure: { kind: 'duration', statistic: 'p95' }, filter })
    expect(body.drivers).toEqual([])
    expect(body.warnings).toEqual(['This explains the mean, because groups don’t add up to a percentile or sum.'])
  })

  it('is empty without conversations, and only contains those of the organization', async () => {
    await makeWeeks((week) => ({ durationSeconds: 100 * (week + 1) }))
    const other = await makeOrganization(server)
    const { status, body } = await explain({ measure: { kind: 'volume' }, filter }, other.key)
    expect(status).toBe(200)
    expect(body).toMatchObject({ now: { n: 0 }, before: { n: 0 }, drivers: [], groups: 0 })
  })

  it('needs a period', async () => {
    const { status, body } = await explain({ measure: { kind: 'volume' }, filter: {} })
    expect(status).toBe(400)
    expect(body.details.issues[0].path).toBe('filter')
  })
})
