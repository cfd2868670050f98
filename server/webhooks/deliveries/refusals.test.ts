import { beforeEach, describe, expect, it } from 'vitest'
import { makeActiveWebhookEndpoint, makeMember, makeOrganization } from '../../../test/make.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { openReceiver } from '../../../test/support/webhooks/receiver.ts'
import { runDue } from '../../../test/support/webhooks/run-due.ts'
import type { OrgId } from '../../platform/db/database.ts'
import { orgIdOf } from '../../platform/ids.ts'
import type { EventType } from '../events.ts'
import { sendEvent } from '../send.ts'
import { deliver } from './jobs.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32' })
const { call, deps } = server

let org: OrgId
let key: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = orgIdOf(made.id)
  key = made.key
})

const act = (id: string, verb: string) => call('POST', `/v1/webhook-endpoints/${id}/${verb}`, { key })
const deliveryOf = async (endpointId: string, id: string | undefined) =>
  (await call('GET', `/v1/webhook-endpoints/${endpointId}/deliveries/${id}`, { key })).body
const runAll = () => deps.jobs.drain([deliver], deps, { delayed: true })

describe('nothing is sent', () => {
  const suspend = (verb: string) => call('POST', `/v1/organizations/${org}/${verb}`, { key: serviceKey })
  const switchWebhooks = (exportWebhooks: boolean) =>
    call('PATCH', `/v1/organizations/${org}`, { key: serviceKey, body: { features: { exportWebhooks } } })

  it.each<[string, EventType, (id: string, url: string) => Promise<unknown>, string]>([
    [
      'to an address that is not approved yet',
      'webhook.test',
      (id, url) => call('PATCH', `/v1/webhook-endpoints/${id}`, { key, body: { url: `${url}&new` } }),
      'The endpoint is waiting for an admin’s approval.',
    ],
    ['to a disabled endpoint', 'webhook.test', (id) => act(id, 'disable'), 'The endpoint is disabled.'],
    [
      'of exports without the feature',
      'monitor_export.failed',
      () => switchWebhooks(false),
      'The feature exportWebhooks',
    ],
    ['for a suspended organization', 'webhook.test', () => suspend('suspend'), 'The organization is suspended.'],
  ])('%s', async (_name, type, change, reason) => {
    const receiver = await openReceiver(500, 204)
    const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    const deliveryId = await deps.db.transaction().execute((trx) => sendEvent(deps, trx, org, id, { type, data: {} }))
    await runDue(deps)
    expect(receiver.received).toHaveLength(1)
    await change(id, receiver.url)
    await runAll()
    expect(receiver.received).toHaveLength(1)
    await suspend('reactivate')
    const delivery = await deliveryOf(id, deliveryId)
    expect(delivery).toMatchObject({ status: 'failed', attemptCount: 1, reason: expect.stringContaining(reason) })
  })

  it('but events of other kinds do not require that feature', async () => {
    const receiver = await openReceiver(204)
    const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    await switchWebhooks(false)
    await act(id, 'test')
    await runDue(deps)
    expect(receiver.received).toHaveLength(1)
  })

  it('to a deleted endpoint', async () => {
    const receiver = await openReceiver(204)
    const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    await act(id, 'test')
    await call('DELETE', `/v1/webhook-endpoints/${id}`, { key })
    expect(await runDue(deps)).toMatchObject([{ result: 'completed' }])
    expect(receiver.received).toHaveLength(0)
    const send = () =>
      deps.db.transaction().execute((trx) => sendEvent(deps, trx, org, id, { type: 'webhook.test', data: {} }))
    expect(await send()).toBeUndefined()
  })

  it('for someone who is no longer a member', async () => {
    const receiver = await openReceiver(500, 204)
    const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    const [leaves, stays] = [await makeMember(server, key, 'member'), await makeMember(server, key, 'member')]
    const send = (onlyWhileMember: string) =>
      deps.db.transaction().execute((trx) => {
        const event = { type: 'monitor_export.completed', data: {} } as const
        return sendEvent(deps, trx, org, id, event, { onlyWhileMember })
      })
    const deliveryIds = [await send(leaves.userId), await send(stays.userId)]
    expect((await call('DELETE', `/v1/members/${leaves.id}`, { key })).status).toBe(204)
    await runAll()
    const ended = await Promise.all(deliveryIds.map((deliveryId) => deliveryOf(id, deliveryId)))
    expect(ended).toMatchObject([
      { status: 'failed', attemptCount: 0, reason: expect.stringContaining('no longer a member') },
      { status: 'succeeded', attemptCount: 2 },
    ])
    expect(receiver.received).toHaveLength(2)
  })
})
