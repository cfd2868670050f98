import { beforeEach, describe, expect, it } from 'vitest'
import {
  makeAgent,
  makeAgentVersion,
  makeAlertRule,
  makeCompany,
  makeConversations,
  makeFinding,
  makeKey,
  makeMonitor,
  makeOrganization,
} from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { openFakes } from '../../test/support/destinations/fakes.ts'
import type { Chart } from '../destinations/chart.ts'
import { deliverMessage } from '../destinations/deliveries/jobs.ts'
import { hourMs, minuteMs } from '../platform/durations.ts'
import { checkAlertRules } from './jobs.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32' })
const { call, clock, deps } = server

let key: string
let org: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  key = made.key
  org = made.id
  // Rules from other tests in this file must not be due.
  await deps.db.updateTable('alert_rules').set({ enabled: false }).execute()
})

const check = async () => {
  await deps.jobs.enqueue(deps.db, checkAlertRules, {})
  await deps.jobs.drain([checkAlertRules], deps)
}

/** Advances the clock, and runs checks as often as a service would. */
const checkAfter = async (ms: number) => {
  clock.advance(ms)
  await check()
}

const minutesAgo = (minutes: number) => new Date(clock.now().getTime() - minutes * minuteMs).toISOString()

/** Creates recent conversations. The first `affected` of them are affected. */
const converse = async (monitorId: string, affected: number, others: number, fields: object = {}) => {
  const ids = await makeConversations(
    server,
    key,
    Array.from({ length: affected + others }, () => ({ startedAt: minutesAgo(2), ...fields })),
  )
  const results = ids.map((conversationId, index) => ({
    monitorId,
    conversationId,
    result: index < affected ? 'affected' : 'not_affected',
  }))
  const { status, text } = await call('POST', '/v1/monitor-results', { key, body: { results } })
  if (status >= 300) throw new Error(text)
  return ids
}

const incidentsOf = async (ruleId: string) =>
  (await call('GET', `/v1/alert-incidents?ruleId=${ruleId}`, { key })).body.data as Record<string, unknown>[]
const stateOf = async (ruleId: string) => (await call('GET', `/v1/alert-rules/${ruleId}`, { key })).body.state

describe('a new organization', () => {
  it('has three rules, which can be disabled', async () => {
    const { data } = (await call('GET', '/v1/alert-rules', { key })).body
    expect(data.map(({ condition, state }: { condition: object; state: string }) => [condition, state])).toEqual([
      [{ kind: 'spike' }, 'ok'],
      [{ kind: 'failures', source: 'judges', threshold: 5 }, 'ok'],
      [{ kind: 'no_data', forMinutes: 1_440 }, 'ok'],
    ])
    const path = `/v1/alert-rules/${data[0].id}`
    expect((await call('PATCH', path, { key, body: { enabled: false } })).body.enabled).toBe(false)
    expect((await call('DELETE', path, { key })).status).toBe(204)
  })
})

describe('a rate rule', () => {
  const rule = async (fields: object = {}, condition: object = {}) => {
    const { id: monitorId } = await makeMonitor(server, key, { name: 'Asks for a person' })
    const asked = { kind: 'rate', monitorId, direction: 'above', threshold: 0.2, ...condition }
    const { id } = await makeAlertRule(server, key, { condition: asked, ...fields })
    return { id: id as string, monitorId: monitorId as string }
  }

  it('fires when the interval excludes the threshold, and not before', async () => {
    const { id, monitorId } = await rule()
    await converse(monitorId, 12, 28)
    await check()
    expect([await incidentsOf(id), await stateOf(id)]).toEqual([[], 'ok'])
    const ids = await converse(monitorId, 20, 20)
    await checkAfter(minuteMs)
    const [incident, ...more] = await incidentsOf(id)
    expect(more).toEqual([])
    expect(incident).toMatchObject({
      alertRuleId: id,
      status: 'firing',
      severity: 'warning',
      group: null,
      value: 0.4,
      sample: 80,
      text: '40.0% of conversations were affected (30.0–51.0%, n = 80), above 20.0%, in the last hour.',
    })
    expect(incident?.interval).toMatchObject({ low: expect.closeTo(0.3, 1), high: expect.closeTo(0.51, 1) })
    expect(incident?.conversationIds).toHaveLength(3)
    expect(ids.slice(0, 20)).toEqual(expect.arrayContaining(incident?.conversationIds as string[]))
    expect(await stateOf(id)).toBe('firing')
  })

  it('fires on the measured rate if configured to', async () => {
    const { id, monitorId } = await rule({}, { certainty: 'point' })
    await converse(monitorId, 12, 28)
    await check()
    expect(await incidentsOf(id)).toHaveLength(1)
  })

  it('never fires with fewer conversations than its minimum', async () => {
    const { id, monitorId } = await rule({ minimumSample: 50 })
    await converse(monitorId, 40, 0)
    await check()
    expect(await incidentsOf(id)).toEqual([])
  })

  it('resolves after a while in which the condition is not met, with one incident per episode', async () => {
    const { id, monitorId } = await rule()
    await converse(monitorId, 30, 10)
    for (let minute = 0; minute < 3; minute++) await checkAfter(minuteMs)
    expect(await incidentsOf(id)).toHaveLength(1)
    await converse(monitorId, 0, 300)
    await checkAfter(minuteMs)
    expect(await stateOf(id)).toBe('firing')
    await checkAfter(16 * minuteMs)
    expect(await incidentsOf(id)).toMatchObject([{ status: 'resolved', resolvedByUserId: null }])
    await converse(monitorId, 400, 0)
    await checkAfter(minuteMs)
    expect((await incidentsOf(id)).map(({ status }) => status)).toEqual(['firing', 'resolved'])
  })

  it('watches each agent on its own', async () => {
    const { id, monitorId } = await rule({ groupBy: 'agent' })
    const leo = await makeAgent(server, key, { name: 'Leo' })
    const mia = await makeAgent(server, key, { name: 'Mia' })
    await converse(monitorId, 30, 10, { agent: undefined, agentId: leo.id })
    await converse(monitorId, 1, 39, { agent: undefined, agentId: mia.id })
    await check()
    expect(await incidentsOf(id)).toMatchObject([{ group: { key: leo.id, label: 'Leo' }, value: 0.75, sample: 40 }])
  })

  it('counts what its filter selects', async () => {
    const filter = { metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] }
    const { id, monitorId } = await rule({ filter })
    await converse(monitorId, 40, 0, { metadata: { plan: 'basic' } })
    await converse(monitorId, 1, 39, { metadata: { plan: 'gold' } })
    await check()
    expect(await incidentsOf(id)).toEqual([])
    await converse(monitorId, 60, 0, { metadata: { plan: 'gold' } })
    await checkAfter(minuteMs)
    expect(await incidentsOf(id)).toMatchObject([{ sample: 100, value: 0.61 }])
  })

  it('is disabled with its monitor', async () => {
    const { id, monitorId } = await rule()
    await converse(monitorId, 40, 0)
    await check()
    expect((await call('DELETE', `/v1/monitors/${monitorId}`, { key })).status).toBe(204)
    expect((await call('GET', `/v1/alert-rules/${id}`, { key })).body).toMatchObject({ enabled: false, state: 'ok' })
  })
})

describe('other conditions', () => {
  const fires = async (condition: object, fields: object = {}) => {
    const { id } = await makeAlertRule(server, key, { condition, minimumSample: 5, ...fields })
    await check()
    return (await incidentsOf(id)).map(({ group, text }) => [(group as { label: string } | null)?.label, text])
  }

  it('score: fires if the interval of the mean is beyond the threshold', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    const ids = await makeConversations(
      server,
      key,
      Array.from({ length: 20 }, () => ({ startedAt: minutesAgo(2) })),
    )
    const results = ids.map((conversationId, index) => ({
      monitorId,
      conversationId,
      result: 'affected',
      score: 0.6 + (index % 5) / 10,
    }))
    await call('POST', '/v1/monitor-results', { key, body: { results } })
    const condition = { kind: 'score', monitorId, statistic: 'mean', direction: 'above' }
    expect(await fires({ ...condition, threshold: 0.75 })).toEqual([])
    expect(await fires({ ...condition, threshold: 0.7 })).toEqual([
      [undefined, 'The mean score was 0.8 (n = 20), above 0.7, in the last hour.'],
    ])
  })

  it('signal: fires if the share of values beyond the threshold exceeds the percentile', async () => {
    const durations = [...new Array(70).fill(60), ...new Array(30).fill(900)]
    await makeConversations(
      server,
      key,
      durations.map((durationSeconds) => ({ startedAt: minutesAgo(30), durationSeconds })),
    )
    const condition = { kind: 'signal', signal: 'durationSeconds', direction: 'above' }
    expect(await fires({ ...condition, statistic: 'p50', threshold: 300 })).toEqual([])
    expect(await fires({ ...condition, statistic: 'p95', threshold: 300 })).toEqual([
      [undefined, 'The 95th percentile of durationSeconds was 900 s (n = 100), above 300 s, in the last hour.'],
    ])
  })

  it('sound: fires if a measure of recordings exceeds the threshold', async () => {
    const ids = await makeConversations(
      server,
      key,
      Array.from({ length: 60 }, () => ({ startedAt: minutesAgo(30) })),
    )
    await server.deps.db
      .updateTable('conversations')
      .set({ sound: JSON.stringify({ responseMs: { agent: { count: 1, p50: 800, p95: 3_000, max: 3_000 } } }) })
      .where('organization_id', '=', org)
      .where('id', 'in', ids.slice(20))
      .execute()
    const condition = { kind: 'sound', name: 'responseMs.agent.p95', statistic: 'p50', direction: 'above' }
    expect(await fires({ ...condition, threshold: 3_500 })).toEqual([])
    expect(await fires({ ...condition, threshold: 2_500 })).toEqual([
      [undefined, 'The median of sound responseMs.agent.p95 was 3,000 ms (n = 40), above 2,500 ms, in the last hour.'],
    ])
  })

  it('volume: fires if there are too few conversations', async () => {
    await makeConversations(server, key, [{ startedAt: minutesAgo(10) }, { startedAt: minutesAgo(90) }])
    expect(await fires({ kind: 'volume', direction: 'below', threshold: 1 })).toEqual([])
    expect(await fires({ kind: 'volume', direction: 'below', threshold: 2 })).toEqual([
      [undefined, '1 conversation started in the last hour, below 2.'],
    ])
  })

  it('no_data: fires within a minute of its time, and resolves with the next conversation', async () => {
    // Conversations arrive at the database's time but start at the test's time.
    const filter = { channels: ['call'] }
    const { id } = await makeAlertRule(server, key, { condition: { kind: 'no_data', forMinutes: 60 }, filter })
    await check()
    expect(await incidentsOf(id)).toEqual([])
    await makeConversations(server, key, [{ startedAt: minutesAgo(0) }])
    await checkAfter(59 * minuteMs)
    expect(await incidentsOf(id)).toEqual([])
    await checkAfter(minuteMs + 5_000)
    expect(await incidentsOf(id)).toMatchObject([{ status: 'firing', text: 'No conversation for 1 hour.' }])
    await makeConversations(server, key, [{ startedAt: minutesAgo(0) }])
    await checkAfter(minuteMs)
    expect(await stateOf(id)).toBe('ok')
  })

  it('no_data: names the silent agent', async () => {
    const agent = (name: string) => ({ externalId: name, name, channel: 'voice' })
    await makeConversations(server, key, [
      { startedAt: minutesAgo(120), agent: agent('Leo') },
      { startedAt: minutesAgo(10), agent: agent('Mia') },
    ])
    expect(await fires({ kind: 'no_data', forMinutes: 60 }, { groupBy: 'agent' })).toEqual([
      ['Leo', 'No conversation for 2 hours.'],
    ])
  })

  it('no_data: forgets a silent agent after a day, and one with an incident after a week', async () => {
    const agent = (name: string) => ({ externalId: name, name, channel: 'voice' })
    const anHourAgo = { startedAt: minutesAgo(120), agent: agent('Leo') }
    const daysAgo = { startedAt: minutesAgo(2 * 24 * 60), agent: agent('Mia') }
    await makeConversations(server, key, [anHourAgo, daysAgo])
    const condition = { kind: 'no_data', forMinutes: 60 }
    const { id } = await makeAlertRule(server, key, { condition, groupBy: 'agent' })
    await check()
    expect(await incidentsOf(id)).toMatchObject([{ group: { label: 'Leo' }, status: 'firing' }])
    await checkAfter(6 * 24 * hourMs)
    expect(await incidentsOf(id)).toMatchObject([{ group: { label: 'Leo' }, status: 'firing' }])
    await checkAfter(24 * hourMs)
    expect(await incidentsOf(id)).toMatchObject([{ group: { label: 'Leo' }, status: 'resolved' }])
  })

  it('no_data: names the silent company or version', async () => {
    const { id: companyId } = await makeCompany(server, key)
    const { id: agentId } = await makeAgent(server, key)
    const { id: agentVersionId } = await makeAgentVersion(server, key, agentId)
    const fields = { agent: undefined, agentId, agentVersionId, companyId }
    await makeConversations(server, key, [
      { startedAt: minutesAgo(150), ...fields },
      { startedAt: minutesAgo(120), ...fields },
      { startedAt: minutesAgo(10) },
    ])
    const condition = { kind: 'no_data', forMinutes: 60 }
    const text = 'No conversation for 2 hours.'
    expect(await fires(condition, { groupBy: 'company' })).toEqual([['Acme Dental', text]])
    expect(await fires(condition, { groupBy: 'version' })).toEqual([['Leo, version 1', text]])
  })

  it('change: compares each window once with the one before', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    const condition = { kind: 'change', monitorId, direction: 'up', falseAlarmsPerYear: 12 }
    const { id } = await makeAlertRule(server, key, { condition, minimumSample: 5 })
    // At half past the hour, all results in the last complete hour count.
    clock.advance(hourMs - (clock.now().getTime() % hourMs) + 30 * minuteMs)
    await converse(monitorId, 2, 98, { startedAt: minutesAgo(100) })
    await converse(monitorId, 30, 70, { startedAt: minutesAgo(40) })
    await check()
    const [incident] = await incidentsOf(id)
    expect(incident).toMatchObject({ value: 0.3, sample: 100, status: 'firing' })
    expect(incident?.text).toContain('a clear change from the period before')
    await checkAfter(10 * minuteMs)
    expect(await stateOf(id)).toBe('firing')
    await checkAfter(hourMs)
    expect(await stateOf(id)).toBe('firing')
  })

  it('failures: counts what finally failed', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    await converse(monitorId, 3, 0)
    // Results of external monitors can't fail, but results of judges can.
    await deps.db
      .updateTable('monitor_results')
      .set({ status: 2, result: null, score: null })
      .where('monitor_id', '=', monitorId)
      .execute()
    expect(await fires({ kind: 'failures', source: 'judges', threshold: 4 })).toEqual([])
    expect(await fires({ kind: 'failures', source: 'judges', threshold: 3 })).toEqual([
      [undefined, '3 failed evaluations in the last hour.'],
    ])
    for (const source of ['webhooks', 'destinations', 'sync', 'schedules', 'jobs']) {
      expect(await fires({ kind: 'failures', source, threshold: 1 })).toEqual([])
    }
  })

  it('finding: opens one incident for each finding, until it is closed', async () => {
    const { id } = await makeAlertRule(server, key, {
      condition: { kind: 'finding', events: ['created', 'reopened'], minPriority: 'high' },
    })
    clock.advance(1_000)
    const { id: findingId } = await makeFinding(server, key)
    await check()
    expect(await incidentsOf(id)).toEqual([])
    const triage = (body: object) => call('POST', `/v1/findings/${findingId}/triage`, { key, body })
    await triage({ priority: 'urgent' })
    await checkAfter(minuteMs)
    expect(await incidentsOf(id)).toMatchObject([{ status: 'firing', group: { key: findingId } }])
    await triage({ status: 'resolved' })
    await checkAfter(minuteMs)
    expect(await incidentsOf(id)).toMatchObject([{ status: 'resolved' }])
  })

  it.each([{ kind: 'spike' }, { kind: 'experiment_health' }, { kind: 'judge_budget', percent: 80 }])(
    '%j: does not fire in an organization where nothing happens',
    async (condition) => {
      expect(await fires(condition)).toEqual([])
    },
  )
})

describe('people', () => {
  it('acknowledge and resolve an incident, which stays resolved while the condition is met', async () => {
    const { id } = await makeAlertRule(server, key)
    await makeConversations(server, key, [{ startedAt: minutesAgo(1) }])
    await check()
    const [incident] = await incidentsOf(id)
    const path = `/v1/alert-incidents/${incident?.id}`
    const acknowledged = await call('POST', `${path}/acknowledge`, { key })
    expect(acknowledged.body).toMatchObject({ status: 'acknowledged', acknowledgedAt: clock.now().toISOString() })
    expect((await call('POST', `${path}/acknowledge`, { key })).status).toBe(409)
    const resolved = await call('POST', `${path}/resolve`, { key })
    expect(resolved.body.timeline.map(({ kind }: { kind: string }) => kind)).toEqual([
      'opened',
      'acknowledged',
      'resolved',
    ])
    await checkAfter(minuteMs)
    expect(await incidentsOf(id)).toHaveLength(1)
    // The condition stops being met, and is met again later.
    await checkAfter(2 * hourMs)
    await makeConversations(server, key, [{ startedAt: minutesAgo(1) }])
    await checkAfter(minuteMs)
    expect((await incidentsOf(id)).map(({ status }) => status)).toEqual(['firing', 'resolved'])
  })

  it('comment on an incident', async () => {
    const { id } = await makeAlertRule(server, key)
    await makeConversations(server, key, [{ startedAt: minutesAgo(1) }])
    await check()
    const [incident] = await incidentsOf(id)
    const path = `/v1/alert-incidents/${incident?.id}/comments`
    const body = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'A bad deploy.' }] }] }
    const { status, headers } = await call('POST', path, { key, body: { body } })
    expect(status).toBe(201)
    expect((await call('GET', headers.get('location') as string, { key })).body.body).toEqual(body)
    expect((await call('GET', path, { key })).body.data).toHaveLength(1)
    const empty = { type: 'doc', content: [{ type: 'paragraph' }] }
    expect((await call('POST', path, { key, body: { body: empty } })).status).toBe(400)
  })

  it('mute a rule: incidents open silently, and are sent afterwards if they are still open', async () => {
    const fakes = await openFakes(deps)
    const url = `${fakes.origin}/services/T0000/B0000/abcdefghijklmnop`
    const body = { name: 'On call', kind: 'slack', settings: { url } }
    const destination = await call('POST', '/v1/destinations', { key, body })
    const { id } = await makeAlertRule(server, key, { name: 'Traffic', destinationIds: [destination.body.id] })
    const until = new Date(clock.now().getTime() + hourMs).toISOString()
    expect((await call('POST', `/v1/alert-rules/${id}/mute`, { key, body: { until } })).body.state).toBe('muted')
    await makeConversations(server, key, [{ startedAt: minutesAgo(1) }])
    await check()
    const deliverAll = () => deps.jobs.drain([deliverMessage], fakes.deps)
    await deliverAll()
    expect([(await incidentsOf(id)).length, fakes.sent.length]).toEqual([1, 0])
    clock.advance(hourMs)
    await makeConversations(server, key, [{ startedAt: minutesAgo(1) }])
    await checkAfter(minuteMs)
    await deliverAll()
    expect(fakes.sent.map(({ body: { text } }) => text)).toEqual([expect.stringContaining('Traffic')])
  })

  it('acknowledge an incident of a muted rule, which is then not sent afterwards', async () => {
    const fakes = await openFakes(deps)
    const url = `${fakes.origin}/services/T0000/B0000/abcdefghijklmnop`
    const body = { name: 'On call', kind: 'slack', settings: { url } }
    const destination = await call('POST', '/v1/destinations', { key, body })
    const { id } = await makeAlertRule(server, key, { destinationIds: [destination.body.id] })
    const until = new Date(clock.now().getTime() + hourMs).toISOString()
    await call('POST', `/v1/alert-rules/${id}/mute`, { key, body: { until } })
    await makeConversations(server, key, [{ startedAt: minutesAgo(1) }])
    await check()
    const [incident] = await incidentsOf(id)
    expect((await call('POST', `/v1/alert-incidents/${incident?.id}/acknowledge`, { key })).status).toBe(200)
    clock.advance(hourMs)
    await makeConversations(server, key, [{ startedAt: minutesAgo(1) }])
    await checkAfter(minuteMs)
    await deps.jobs.drain([deliverMessage], fakes.deps)
    expect(fakes.sent).toEqual([])
    expect((await incidentsOf(id)).map(({ status }) => status)).toEqual(['acknowledged'])
  })
})

describe('news about an incident', () => {
  it('reaches each destination once, and again as a reminder', async () => {
    const fakes = await openFakes(deps)
    const pagerduty = { name: 'Pager', kind: 'pagerduty', settings: { routingKey: '0123456789abcdef0123456789abcdef' } }
    const destination = await call('POST', '/v1/destinations', { key, body: pagerduty })
    const fields = {
      destinationIds: [destination.body.id],
      repeatEveryMinutes: 30,
      runbookUrl: 'https://wiki.example.com/x',
    }
    const { id } = await makeAlertRule(server, key, { ...fields, severity: 'critical' })
    await makeConversations(server, key, [{ startedAt: minutesAgo(1) }])
    for (const afterMs of [0, minuteMs, minuteMs, 30 * minuteMs]) await checkAfter(afterMs)
    await deps.jobs.drain([deliverMessage], fakes.deps)
    const [incident] = await incidentsOf(id)
    await call('POST', `/v1/alert-incidents/${incident?.id}/resolve`, { key })
    await deps.jobs.drain([deliverMessage], fakes.deps)
    // The reminder replaced the first message, which had not been sent yet.
    expect(fakes.sent.map(({ body }) => [body.event_action, body.dedup_key])).toEqual([
      ['trigger', `earshot-${incident?.id}`],
      ['resolve', `earshot-${incident?.id}`],
    ])
    expect(fakes.sent[0]?.body).toMatchObject({ payload: { severity: 'critical' } })
    const { timeline } = (await call('GET', `/v1/alert-incidents/${incident?.id}`, { key })).body
    expect(timeline.map(({ kind }: { kind: string }) => kind)).toEqual(['opened', 'repeated', 'resolved'])
  })

  it('contains a chart of the group that it is about, where images are shown', async () => {
    const fakes = await openFakes(deps)
    const settings = { url: `${fakes.origin}/workflows/abc?sig=abcdefghijklmnop` }
    const body = { name: 'On call', kind: 'teams', settings }
    const destination = await call('POST', '/v1/destinations', { key, body })
    const { id: monitorId } = await makeMonitor(server, key)
    const condition = { kind: 'rate', monitorId, direction: 'above', threshold: 0.2 }
    await makeAlertRule(server, key, { condition, groupBy: 'agent', destinationIds: [destination.body.id] })
    await converse(monitorId, 5, 35, { startedAt: minutesAgo(200) })
    await converse(monitorId, 30, 10)
    await check()
    await deps.jobs.drain([deliverMessage], fakes.deps)
    expect(JSON.stringify(fakes.sent[0]?.body)).toContain('data:image/png;base64,')
    const { message } = await deps.db
      .selectFrom('destination_deliveries')
      .select('message')
      .where('destination_id', '=', destination.body.id)
      .executeTakeFirstOrThrow()
    const { chart } = message as { chart?: Chart }
    expect(chart).toMatchObject({ threshold: 0.2, label: 'The last 6 hours' })
    expect(chart?.points.flatMap(({ value }, at) => (value === null ? [] : [[at, value]]))).toEqual([
      [10, 0.125],
      [23, 0.75],
    ])
  })

  it('is sent once when two workers check at once', async () => {
    const { id } = await makeAlertRule(server, key)
    await makeConversations(server, key, [{ startedAt: minutesAgo(1) }])
    await Promise.all(Array.from({ length: 4 }, () => check()))
    expect(await incidentsOf(id)).toHaveLength(1)
  })
})

describe('a rule', () => {
  it.each([
    [{ condition: { kind: 'rate', direction: 'above', threshold: 0.2 } }, 'condition.monitorId', 'is required'],
    [{ condition: { kind: 'no_data', forMinutes: 0 } }, 'condition.forMinutes', 'at least 1'],
    [{ condition: { kind: 'weather' } }, 'condition', ''],
    [{ condition: { kind: 'spike' }, groupBy: 'agent' }, 'groupBy', 'is not used by the condition spike'],
    [{ filter: { since: '2026-11-01T00:00:00Z' } }, 'filter.since', 'is not allowed'],
    [{ windowMinutes: 4 }, 'windowMinutes', '5'],
    [{ destinationIds: ['0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'] }, 'destinationIds[0]', 'is not a destination'],
    [{ ownerUserId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f' }, 'ownerUserId', 'is not a member'],
    [
      { condition: { kind: 'spike', monitorId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f' } },
      'condition.monitorId',
      'is not a monitor',
    ],
  ])('is rejected with %j', async (fields, path, message) => {
    const condition = { kind: 'volume', direction: 'above', threshold: 10 }
    const body = { name: 'Rule', condition, ...fields }
    const { status, body: answer } = await call('POST', '/v1/alert-rules', { key, body })
    expect([status, answer.details?.issues]).toEqual([
      400,
      expect.arrayContaining([{ path: expect.stringContaining(path), message: expect.stringContaining(message) }]),
    ])
  })

  it('is written by members, not by viewers', async () => {
    const { key: viewerKey } = await makeKey(server, key, 'viewer')
    const body = { name: 'Rule', condition: { kind: 'spike' } }
    expect((await call('POST', '/v1/alert-rules', { key: viewerKey, body })).status).toBe(403)
  })

  it('keeps what a PATCH leaves out, and loses deleted destinations', async () => {
    const settings = { url: 'https://hooks.slack.com/services/T0000/B0000/abcdefghijklmnop' }
    const destination = await call('POST', '/v1/destinations', {
      key,
      body: { name: 'On call', kind: 'slack', settings },
    })
    const rule = await makeAlertRule(server, key, { destinationIds: [destination.body.id], groupBy: 'company' })
    const path = `/v1/alert-rules/${rule.id}`
    const { body } = await call('PATCH', path, { key, body: { windowMinutes: 120 } })
    expect(body).toEqual({ ...rule, windowMinutes: 120, updatedAt: expect.any(String) })
    await call('DELETE', `/v1/destinations/${destination.body.id}`, { key })
    expect((await call('GET', path, { key })).body.destinationIds).toEqual([])
  })
})

describe('a preview', () => {
  it('shows when the rule would have fired', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    const dayAgo = 24 * 60
    await converse(monitorId, 2, 98, { startedAt: minutesAgo(3 * dayAgo) })
    await converse(monitorId, 60, 40, { startedAt: minutesAgo(2 * dayAgo) })
    await converse(monitorId, 2, 98, { startedAt: minutesAgo(dayAgo) })
    const condition = { kind: 'rate', monitorId, direction: 'above', threshold: 0.2 }
    const { status, body } = await call('POST', '/v1/alert-rules/preview', {
      key,
      body: { condition, windowMinutes: 60 },
    })
    expect(status).toBe(200)
    expect(body.incidents).toMatchObject([{ group: null, value: 0.6, resolvedAt: expect.any(String) }])
    expect(body.incidentCount).toBe(1)
    expect(body.series.length).toBeLessThanOrEqual(500)
    const refused = await call('POST', '/v1/alert-rules/preview', { key, body: { condition: { kind: 'spike' } } })
    expect(refused.status).toBe(400)
  })

  it('finds the silence between conversations', async () => {
    await makeConversations(
      server,
      key,
      Array.from({ length: 48 }, (_, hour) =>
        hour > 20 && hour < 30 ? [] : [{ startedAt: minutesAgo(hour * 60 + 30) }],
      ).flat(),
    )
    const condition = { kind: 'no_data', forMinutes: 240 }
    const { body } = await call('POST', '/v1/alert-rules/preview', { key, body: { condition } })
    expect(body.incidentCount).toBe(1)
  })
})
