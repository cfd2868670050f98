import { beforeEach, expect, it } from 'vitest'
import {
  makeActiveWebhookEndpoint,
  makeAlertRule,
  makeConversations,
  makeMonitor,
  makeOrganization,
} from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { countWaiting } from '../../test/support/count-waiting.ts'
import { openReceiver } from '../../test/support/webhooks/receiver.ts'
import { checkAlertRules, sweepAlertIncidents } from '../alert-rules/jobs.ts'
import { deliverMessage } from '../destinations/deliveries/jobs.ts'
import type { OrgId } from '../platform/db/database.ts'
import { dayMs, minuteMs } from '../platform/durations.ts'
import { newId, orgIdOf } from '../platform/ids.ts'
import { deliver } from '../webhooks/deliveries/jobs.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32' })
const { call, clock, deps } = server
const { db } = deps

let key: string
let org: OrgId
beforeEach(async () => {
  const made = await makeOrganization(server)
  key = made.key
  org = orgIdOf(made.id)
  await db.updateTable('alert_rules').set({ enabled: false }).execute()
})

const run = async (job: typeof checkAlertRules) => {
  await deps.jobs.enqueue(db, job, {})
  await deps.jobs.drain([job], deps)
}
const minutesAgo = (minutes: number) => new Date(clock.now().getTime() - minutes * minuteMs).toISOString()
const converse = () => makeConversations(server, key, [{ startedAt: minutesAgo(1) }])
const incidentsOf = async (ruleId: string) =>
  (await call('GET', `/v1/alert-incidents?ruleId=${ruleId}`, { key })).body.data as {
    id: string
    conversationIds: string[]
  }[]
const deliveryOf = async (destinationId: string) => {
  const { data } = (await call('GET', `/v1/destinations/${destinationId}/deliveries`, { key })).body
  return (await call('GET', `/v1/destinations/${destinationId}/deliveries/${data[0].id}`, { key })).body
}
const makeDestination = async (kind: string, settings: object): Promise<string> =>
  (await call('POST', '/v1/destinations', { key, body: { name: kind, kind, settings } })).body.id

it('is sent once to a webhook endpoint that both subscribes and is a destination', async () => {
  const receiver = await openReceiver(204)
  const events = ['alert_incident.opened']
  const endpoint = await makeActiveWebhookEndpoint(server, key, { url: receiver.url, events })
  const destinationId = await makeDestination('webhook', { endpointId: endpoint.id })
  const { id } = await makeAlertRule(server, key, { destinationIds: [destinationId] })
  await converse()
  await run(checkAlertRules)
  await deps.jobs.drain([deliverMessage, deliver], deps)
  expect(receiver.received.map(({ body }) => JSON.parse(body).data.alertRuleId)).toEqual([id])
})

it('still reaches a subscribed endpoint with a disabled destination', async () => {
  const receiver = await openReceiver(204)
  const events = ['alert_incident.opened']
  const endpoint = await makeActiveWebhookEndpoint(server, key, { url: receiver.url, events })
  const destinationId = await makeDestination('webhook', { endpointId: endpoint.id })
  await call('PATCH', `/v1/destinations/${destinationId}`, { key, body: { status: 'disabled' } })
  await makeAlertRule(server, key, { destinationIds: [destinationId] })
  await converse()
  await run(checkAlertRules)
  await deps.jobs.drain([deliverMessage, deliver], deps)
  expect(receiver.received).toHaveLength(1)
})

it('loses erased conversations, and so do its messages, which are sent nevertheless', async () => {
  const receiver = await openReceiver(204)
  const endpoint = await makeActiveWebhookEndpoint(server, key, {
    url: receiver.url,
    events: ['alert_incident.opened'],
  })
  const destinationId = await makeDestination('webhook', { endpointId: endpoint.id })
  const { id: monitorId } = await makeMonitor(server, key)
  const { id } = await makeAlertRule(server, key, {
    condition: { kind: 'rate', monitorId, direction: 'above', threshold: 0.5, certainty: 'point' },
    minimumSample: 1,
    destinationIds: [destinationId],
  })
  const [conversationId = ''] = await converse()
  const results = [{ monitorId, conversationId, result: 'affected' }]
  await call('POST', '/v1/monitor-results', { key, body: { results } })
  await run(checkAlertRules)
  expect((await incidentsOf(id))[0]?.conversationIds).toEqual([conversationId])
  expect(JSON.stringify(await deliveryOf(destinationId))).toContain(conversationId)
  expect((await call('DELETE', `/v1/conversations/${conversationId}`, { key })).status).toBe(204)
  expect((await incidentsOf(id))[0]?.conversationIds).toEqual([])
  expect(JSON.stringify(await deliveryOf(destinationId))).not.toContain(conversationId)
  await deps.jobs.drain([deliverMessage, deliver], deps)
  expect(receiver.received.map(({ body }) => JSON.parse(body))).toMatchObject([
    { type: 'alert_incident.opened', data: { alertRuleId: id, conversationIds: [] } },
  ])
})

it('shows its last events, however many reminders were sent', async () => {
  const { id } = await makeAlertRule(server, key)
  await converse()
  await run(checkAlertRules)
  const [incident] = await incidentsOf(id)
  const reminders = Array.from({ length: 250 }, () => ({
    organization_id: org,
    id: newId(),
    incident_id: incident?.id ?? '',
    kind: 'repeated',
    created_at: clock.now(),
  }))
  await db.insertInto('alert_incident_events').values(reminders).execute()
  const { timeline } = (await call('POST', `/v1/alert-incidents/${incident?.id}/resolve`, { key })).body
  expect(timeline).toHaveLength(200)
  expect(timeline.at(-1)).toMatchObject({ kind: 'resolved' })
})

it('is deleted 400 days after it was resolved', async () => {
  const { id } = await makeAlertRule(server, key)
  await converse()
  await run(checkAlertRules)
  const [incident] = await incidentsOf(id)
  const age = (changes: object) =>
    db
      .updateTable('alert_incidents')
      .set(changes)
      .where('organization_id', '=', org)
      .where('alert_rule_id', '=', id)
      .execute()
  const daysAgo = (days: number) => new Date(clock.now().getTime() - days * dayMs)
  await age({ opened_at: daysAgo(500) })
  await run(sweepAlertIncidents)
  expect(await incidentsOf(id)).toHaveLength(1)
  await call('POST', `/v1/alert-incidents/${incident?.id}/resolve`, { key })
  await age({ resolved_at: daysAgo(399) })
  await run(sweepAlertIncidents)
  expect(await incidentsOf(id)).toHaveLength(1)
  await age({ resolved_at: daysAgo(401) })
  await run(sweepAlertIncidents)
  expect(await incidentsOf(id)).toEqual([])
})

it('opens while its destination is being deleted', async () => {
  const destinationId = await makeDestination('slack', { url: 'https://hooks.slack.com/services/T0000/B0000/abcdefgh' })
  const { id } = await makeAlertRule(server, key, { destinationIds: [destinationId] })
  const row = { organization_id: org, id: destinationId }
  let deleting: Promise<{ status: number }> | undefined
  await db.transaction().execute(async (trx) => {
    // Checks lock the rule first and the destination second, so this test does the same.
    await trx
      .selectFrom('alert_rules')
      .select('id')
      .where('id', '=', id)
      .where('organization_id', '=', org)
      .forUpdate()
      .execute()
    deleting = call('DELETE', `/v1/destinations/${destinationId}`, { key })
    await expect.poll(() => countWaiting(db)).toBe(1)
    await trx
      .selectFrom('destinations')
      .select('id')
      .where('organization_id', '=', row.organization_id)
      .where('id', '=', row.id)
      .forKeyShare()
      .execute()
  })
  expect((await deleting)?.status).toBe(204)
})
