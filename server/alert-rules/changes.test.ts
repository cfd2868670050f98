import { beforeEach, describe, expect, it } from 'vitest'
import {
  makeActiveWebhookEndpoint,
  makeAlertRule,
  makeConversations,
  makeFinding,
  makeMember,
  makeMonitor,
  makeOrganization,
} from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import type { OrgId } from '../platform/db/database.ts'
import { dayMs, hourMs, minuteMs } from '../platform/durations.ts'
import { orgIdOf } from '../platform/ids.ts'
import { checkRule } from './check-rule.ts'
import { checkAlertRules } from './jobs.ts'
import { getRule } from './queries.ts'

const server = await testServer()
const { call, clock, deps } = server

let key: string
let org: OrgId
beforeEach(async () => {
  const made = await makeOrganization(server)
  key = made.key
  org = orgIdOf(made.id)
  await deps.db.updateTable('alert_rules').set({ enabled: false }).execute()
})

const check = async (options = {}) => {
  await deps.jobs.enqueue(deps.db, checkAlertRules, {})
  await deps.jobs.drain([checkAlertRules], deps, options)
}
const checkAfter = async (ms: number) => {
  clock.advance(ms)
  await check()
}
const minutesAgo = (minutes: number) => new Date(clock.now().getTime() - minutes * minuteMs).toISOString()
const converseNow = () => makeConversations(server, key, [{ startedAt: minutesAgo(1) }])

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
}

const patch = (id: string, body: object) => call('PATCH', `/v1/alert-rules/${id}`, { key, body })
const incidentsOf = async (ruleId: string) =>
  (await call('GET', `/v1/alert-incidents?ruleId=${ruleId}`, { key })).body.data as { id: string; status: string }[]
const statusesOf = async (ruleId: string) => (await incidentsOf(ruleId)).map(({ status }) => status)
const resolve = (id: string | undefined) => call('POST', `/v1/alert-incidents/${id}/resolve`, { key })
const timelineOf = async (id: string | undefined) =>
  (await call('GET', `/v1/alert-incidents/${id}`, { key })).body.timeline.map(({ kind }: { kind: string }) => kind)

describe('a changed rule', () => {
  it('fires again after it was disabled, although its incident was resolved by hand', async () => {
    const { id } = await makeAlertRule(server, key)
    await converseNow()
    await check()
    await patch(id, { enabled: false })
    expect(await statusesOf(id)).toEqual(['resolved'])
    await patch(id, { enabled: true })
    await checkAfter(minuteMs)
    expect(await statusesOf(id)).toEqual(['firing', 'resolved'])
  })

  it('fires when its new threshold is met, although the incident of the old one was resolved by hand', async () => {
    const { id } = await makeAlertRule(server, key)
    await converseNow()
    await check()
    await resolve((await incidentsOf(id))[0]?.id)
    await patch(id, { name: 'Traffic' })
    await checkAfter(minuteMs)
    expect(await statusesOf(id)).toEqual(['resolved'])
    await converseNow()
    await patch(id, { condition: { kind: 'volume', direction: 'above', threshold: 1 } })
    await checkAfter(minuteMs)
    expect(await statusesOf(id)).toEqual(['firing', 'resolved'])
  })

  it('resolves incidents of groups that it no longer watches', async () => {
    const { id } = await makeAlertRule(server, key, { groupBy: 'agent' })
    await converseNow()
    await check()
    expect(await statusesOf(id)).toEqual(['firing'])
    await patch(id, { groupBy: null })
    expect(await statusesOf(id)).toEqual(['resolved'])
    await checkAfter(minuteMs)
    expect(await statusesOf(id)).toEqual(['firing', 'resolved'])
  })

  it('can be changed after its owner has left', async () => {
    const member = await makeMember(server, key, 'member')
    const { id } = await makeAlertRule(server, key, { ownerUserId: member.userId })
    expect((await call('DELETE', `/v1/members/${member.id}`, { key })).status).toBe(204)
    expect((await patch(id, { name: 'Traffic' })).status).toBe(200)
    expect((await patch(id, { ownerUserId: member.userId })).status).toBe(400)
  })

  it('can be renamed but not enabled after its monitor was deleted', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    const { id } = await makeAlertRule(server, key, { condition: { kind: 'spike', monitorId } })
    await call('DELETE', `/v1/monitors/${monitorId}`, { key })
    expect((await patch(id, { name: 'Old' })).body).toMatchObject({ name: 'Old', enabled: false })
    expect((await patch(id, { enabled: true })).status).toBe(400)
  })

  it('is checked immediately, even if a check that read it before ends afterwards', async () => {
    const { id } = await makeAlertRule(server, key, { windowMinutes: 43_200 })
    const before = await getRule(deps.db, org, id)
    clock.advance(1_000)
    await patch(id, { windowMinutes: 60 })
    const attempt = { transaction: () => Promise.reject(new Error('nothing changes')) } as never
    await checkRule(deps, org, before, { now: clock.now(), attempt })
    const stored = await deps.db
      .selectFrom('alert_rules')
      .select(['next_check_at', 'checked_until'])
      .where('organization_id', '=', org)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(stored).toEqual({ next_check_at: clock.now(), checked_until: null })
  })
})

describe('a rule that cannot be checked', () => {
  it('does not stop others, and is checked less often', async () => {
    const broken = await makeAlertRule(server, key)
    const { id } = await makeAlertRule(server, key)
    await deps.db
      .updateTable('alert_rules')
      .set({ condition: JSON.stringify({ kind: 'rate', monitorId: 'none', direction: 'above', threshold: 0 }) })
      .where('organization_id', '=', org)
      .where('id', '=', broken.id)
      .execute()
    await converseNow()
    await check({ allowFailures: true })
    expect(await statusesOf(id)).toEqual(['firing'])
    const { next_check_at: nextCheckAt } = await deps.db
      .selectFrom('alert_rules')
      .select('next_check_at')
      .where('organization_id', '=', org)
      .where('id', '=', broken.id)
      .executeTakeFirstOrThrow()
    expect(nextCheckAt.getTime()).toBeGreaterThanOrEqual(clock.now().getTime() + minuteMs)
    await resolve((await incidentsOf(id))[0]?.id)
    // Retrying the failed job would delay the next checks of the organization.
    await patch(id, { condition: { kind: 'volume', direction: 'below', threshold: 10 } })
    await check()
    expect(await statusesOf(id)).toEqual(['firing', 'resolved'])
  })
})

describe('a group or a rule without conversations', () => {
  it('stays firing for a day, because nothing shows that it has recovered', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    const condition = { kind: 'rate', monitorId, direction: 'above', threshold: 0.2 }
    const { id } = await makeAlertRule(server, key, { condition })
    await converse(monitorId, 40, 0)
    await check()
    for (const ms of [3 * hourMs, hourMs, hourMs]) await checkAfter(ms)
    expect(await statusesOf(id)).toEqual(['firing'])
    await checkAfter(dayMs)
    expect(await statusesOf(id)).toEqual(['resolved'])
  })

  it('is noticed however long the rule waits', async () => {
    const agent = { externalId: 'leo', name: 'Leo', channel: 'voice' }
    await makeConversations(server, key, [{ startedAt: minutesAgo(10_080 + 30), agent }])
    const condition = { kind: 'no_data', forMinutes: 10_080 }
    const { id } = await makeAlertRule(server, key, { condition, groupBy: 'agent' })
    await check()
    expect(await statusesOf(id)).toEqual(['firing'])
  })
})

describe('a change', () => {
  it('that was found while the rule was muted is sent afterwards, before the next window ends', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    const condition = { kind: 'change', monitorId, direction: 'up', falseAlarmsPerYear: 12 }
    const { id } = await makeAlertRule(server, key, { condition, minimumSample: 5, repeatEveryMinutes: 5 })
    clock.advance(hourMs - (clock.now().getTime() % hourMs) + 10 * minuteMs)
    await converse(monitorId, 2, 98, { startedAt: minutesAgo(80) })
    await converse(monitorId, 30, 70, { startedAt: minutesAgo(20) })
    const until = new Date(clock.now().getTime() + 5 * minuteMs).toISOString()
    await call('POST', `/v1/alert-rules/${id}/mute`, { key, body: { until } })
    await check()
    const [incident] = await incidentsOf(id)
    expect(await timelineOf(incident?.id)).toEqual(['opened'])
    await checkAfter(6 * minuteMs)
    await checkAfter(6 * minuteMs)
    expect(await timelineOf(incident?.id)).toEqual(['opened', 'repeated'])
  })

  it('is not looked for between windows that overlap', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    const condition = { kind: 'change', monitorId, direction: 'up', falseAlarmsPerYear: 12, comparedTo: 'same_weekday' }
    const body = { name: 'Change', condition, windowMinutes: 10_081 }
    const { status, body: answer } = await call('POST', '/v1/alert-rules', { key, body })
    expect([status, answer.details?.issues]).toEqual([400, [expect.objectContaining({ path: 'windowMinutes' })]])
    const preview = { condition, windowMinutes: 10_081 }
    expect((await call('POST', '/v1/alert-rules/preview', { key, body: preview })).status).toBe(400)
  })
})

describe('failures', () => {
  it('count when work finally fails, not when it began', async () => {
    const { id: endpointId } = await makeActiveWebhookEndpoint(server, key)
    const { body: delivery } = await call('POST', `/v1/webhook-endpoints/${endpointId}/test`, { key })
    await deps.db
      .updateTable('webhook_deliveries')
      .set({ status: 'failed', next_attempt_at: null, attempts: 1, created_at: new Date(minutesAgo(26 * 60)) })
      .where('organization_id', '=', org)
      .where('id', '=', delivery.id)
      .execute()
    const condition = { kind: 'failures', source: 'webhooks', threshold: 1 }
    const { id } = await makeAlertRule(server, key, { condition })
    await check()
    expect(await statusesOf(id)).toEqual([])
    await deps.db
      .insertInto('webhook_attempts')
      .values({
        organization_id: org,
        delivery_id: delivery.id,
        number: 11,
        attempted_at: clock.now(),
        duration_ms: 1,
        status_code: 503,
      })
      .execute()
    await checkAfter(minuteMs)
    expect(await statusesOf(id)).toEqual(['firing'])
  })

  it('count when judges give up, even if the conversation is older', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    await converse(monitorId, 3, 0, { startedAt: minutesAgo(10 * 60) })
    await deps.db
      .updateTable('monitor_results')
      .set({ status: 2, result: null, score: null, evaluated_at: clock.now() })
      .where('monitor_id', '=', monitorId)
      .execute()
    const condition = { kind: 'failures', source: 'judges', threshold: 3 }
    const { id } = await makeAlertRule(server, key, { condition })
    await check()
    expect(await statusesOf(id)).toEqual(['firing'])
  })
})

describe('findings', () => {
  it('do not resolve because there are many others', async () => {
    const { id } = await makeAlertRule(server, key, { condition: { kind: 'finding', events: ['created'] } })
    clock.advance(1_000)
    const first = await makeFinding(server, key)
    await check()
    for (let count = 0; count < 101; count++) await makeFinding(server, key)
    for (let minute = 0; minute < 3; minute++) await checkAfter(minuteMs)
    const open = await call('GET', `/v1/alert-incidents?ruleId=${id}&status=firing&limit=200`, { key })
    const keys = open.body.data.map(({ group }: { group: { key: string } }) => group.key)
    expect(keys).toContain(first.id)
    expect(keys).toHaveLength(102)
  })
})

it('rejects a preview of more groups and windows than fit into memory', async () => {
  const agents = Array.from({ length: 26 }, (_, index) => ({ externalId: `a${index}`, name: 'Leo', channel: 'voice' }))
  await makeConversations(
    server,
    key,
    agents.map((agent) => ({ startedAt: minutesAgo(30), agent })),
  )
  const condition = { kind: 'volume', direction: 'above', threshold: 1 }
  const preview = (windowMinutes: number) =>
    call('POST', '/v1/alert-rules/preview', { key, body: { condition, groupBy: 'agent', windowMinutes } })
  expect((await preview(5)).body.details.issues).toEqual([
    { path: 'groupBy', message: expect.stringContaining('longer window') },
  ])
  expect((await preview(60)).status).toBe(200)
})
