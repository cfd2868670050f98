import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeAgent, makeDelivery, makeIntegration, makeKey, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { accountSid, makeProvider, post, secret } from '../../test/support/integrations/signed-webhooks.ts'
import { deleteDeliveries, sweepDeliveries } from './deliveries/jobs.ts'

const server = await testServer()
const { call } = server

let org: string
let key: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = made.id
  key = made.key
})

const nothing = {
  pending: 0,
  applied: 0,
  unchanged: 0,
  ignored: 0,
  unreadable: 0,
  rejected: 0,
  erased: 0,
  failed: 0,
}

describe('an integration', () => {
  it('is created, read, changed, and deleted', async () => {
    const body = { provider: 'vapi', name: 'Front desk', secret, settings: { scheme: 'bearer', prefix: false } }
    const created = await call('POST', '/v1/integrations', { key, body })
    expect(created.status).toBe(201)
    const { id } = created.body
    expect(created.headers.get('location')).toBe(`/v1/integrations/${id}`)
    expect(created.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      provider: 'vapi',
      name: 'Front desk',
      settings: body.settings,
      webhookPath: `/v1/integrations/${id}/webhook`,
      previousSecretUntil: null,
      lastDeliveryAt: null,
      recentDeliveries: nothing,
      sync: null,
      createdAt: expect.any(String),
      updatedAt: created.body.createdAt,
    })
    expect((await call('GET', `/v1/integrations/${id}`, { key })).body).toEqual(created.body)
    expect((await call('GET', '/v1/integrations', { key })).body).toEqual({ data: [created.body], nextCursor: null })

    const change = { name: 'Back desk', settings: { scheme: 'hmac', algorithm: 'sha512' } }
    const changed = await call('PATCH', `/v1/integrations/${id}`, { key, body: change })
    expect(changed).toMatchObject({ status: 200, body: { ...change, previousSecretUntil: null } })

    expect((await call('DELETE', `/v1/integrations/${id}`, { key })).status).toBe(204)
    expect((await call('GET', `/v1/integrations/${id}`, { key })).status).toBe(404)
  })

  it('shows its status', async () => {
    const integration = await makeProvider(server, key, 'retell')
    await post(server, integration, { event: 'call_started' })
    await post(server, integration, { event: 'call_started' })
    await post(server, integration, { nothing: true })
    const { body } = await call('GET', `/v1/integrations/${integration.id}`, { key })
    expect(body.recentDeliveries).toEqual({ ...nothing, ignored: 2, unreadable: 1 })
    expect(body.lastDeliveryAt).toBe(server.clock.now().toISOString())
  })

  it('deletes what it received, in a job', async () => {
    const { integrationId } = await makeDelivery(server, key)
    await call('DELETE', `/v1/integrations/${integrationId}`, { key })
    await server.deps.jobs.drain([deleteDeliveries], server.deps)
    const { rows } = await sql`SELECT FROM integration_deliveries WHERE organization_id = ${org}`.execute(
      server.deps.db,
    )
    expect(rows).toEqual([])
    const conversations = await call('POST', '/v1/conversations/search', { key, body: { filter: {} } })
    expect(conversations.body.data).toHaveLength(1)
  })

  it('shows members its status, and only admins what was sent', async () => {
    const { integrationId, deliveryId } = await makeDelivery(server, key)
    const member = (await makeKey(server, key, 'member')).key
    const viewer = (await makeKey(server, key, 'viewer')).key
    const path = `/v1/integrations/${integrationId}`
    expect((await call('GET', path, { key: member })).status).toBe(200)
    expect((await call('GET', `${path}/deliveries`, { key: member })).status).toBe(200)
    expect((await call('GET', `${path}/deliveries/${deliveryId}`, { key: member })).status).toBe(403)
    expect((await call('GET', path, { key: viewer })).status).toBe(403)
  })
})

describe('settings', () => {
  const valid: [string, object | undefined][] = [
    ['vapi', undefined],
    ['vapi', { header: 'x-secret' }],
    ['vapi', { scheme: 'hmac', payloadFormat: '{svix-id}.{timestamp}.{body}', secretIsBase64: true }],
    ['retell', {}],
    ['elevenlabs', undefined],
    ['livekit', { apiKey: 'API1' }],
    ['twilio', { accountSid }],
    ['twilio', { accountSid, apiBaseUrl: 'https://intelligence.ie1.twilio.com' }],
    ['twilio', { accountSid, apiBaseUrl: 'http://127.0.0.1:4567' }],
  ]
  it.each(valid)('of %s can be %j', async (provider, settings) => {
    const body = { provider, name: 'Ours', secret, ...(settings && { settings }) }
    expect(await call('POST', '/v1/integrations', { key, body })).toMatchObject({
      status: 201,
      body: { settings: settings ?? {} },
    })
  })

  const invalid: [string, object | undefined, string[]][] = [
    ['vapi', { scheme: 'basic' }, ['settings.scheme']],
    ['vapi', { algorithm: 'sha256' }, ['settings.algorithm']],
    ['vapi', { scheme: 'secret', prefix: true }, ['settings.prefix']],
    [
      'vapi',
      { scheme: 'hmac', algorithm: 'md5', payloadFormat: '{timestamp}', header: 'x' },
      ['settings.header', 'settings.algorithm', 'settings.payloadFormat'],
    ],
    ['retell', { scheme: 'hmac' }, ['settings.scheme']],
    ['livekit', { accountSid }, ['settings.accountSid']],
    ['twilio', undefined, ['settings']],
    ['twilio', {}, ['settings.accountSid']],
    ['twilio', { accountSid, apiBaseUrl: 'http://intelligence.twilio.com' }, ['settings.apiBaseUrl']],
    ['twilio', { accountSid, apiBaseUrl: 'https://user:pass@twilio.com' }, ['settings.apiBaseUrl']],
    ['twilio', { accountSid, apiBaseUrl: 'ftp://twilio.com' }, ['settings.apiBaseUrl']],
    ['retell', { agentId: 'leo' }, ['settings.agentId']],
    ['retell', { agentId: randomUUID() }, ['settings.agentId']],
  ]
  it.each(invalid)('of %s cannot be %j', async (provider, settings, paths) => {
    const body = { provider, name: 'Ours', secret, ...(settings && { settings }) }
    const created = await call('POST', '/v1/integrations', { key, body })
    expect(created.status).toBe(400)
    const pathsOf = (answer: typeof created) => answer.body.details.issues.map(({ path }: { path: string }) => path)
    expect(pathsOf(created).sort()).toEqual(paths.toSorted())
    if (!settings) return
    const present = provider === 'twilio' ? { settings: { accountSid } } : {}
    const { id } = await makeProvider(server, key, provider, { settings: {}, ...present })
    const changed = await call('PATCH', `/v1/integrations/${id}`, { key, body: { settings, secret } })
    expect(changed.status).toBe(400)
    expect(pathsOf(changed).sort()).toEqual(paths.toSorted())
  })

  it('report all faults of a body at once', async () => {
    const body = { provider: 'twilio', name: '', secret: 'with blank', settings: { accountSid: 'x', more: 1 } }
    const { body: answer } = await call('POST', '/v1/integrations', { key, body })
    const paths = answer.details.issues.map(({ path }: { path: string }) => path)
    expect(new Set(paths)).toEqual(new Set(['name', 'secret', 'settings.accountSid', 'settings.more']))
  })

  it('only accept an agent of the organization', async () => {
    const mine = await makeAgent(server, key)
    const stranger = await makeOrganization(server)
    const theirs = await makeAgent(server, stranger.key)
    const { id } = await makeIntegration(server, key, { settings: { agentId: mine.id } })
    const body = { settings: { agentId: theirs.id } }
    const answer = await call('PATCH', `/v1/integrations/${id}`, { key, body })
    expect(answer).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'settings.agentId' }] } } })
  })

  it('never send the stored secret to another address', async () => {
    const { id } = await makeProvider(server, key, 'twilio')
    const settings = { accountSid, apiBaseUrl: 'https://elsewhere.example.com' }
    const answer = await call('PATCH', `/v1/integrations/${id}`, { key, body: { settings } })
    expect(answer).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'settings.apiBaseUrl' }] } } })
    expect((await call('PATCH', `/v1/integrations/${id}`, { key, body: { settings, secret } })).status).toBe(200)
  })
})

describe('after some time', () => {
  const day = 24 * 60 * 60_000
  const sweep = async (days: number) => {
    server.clock.advance(days * day)
    await server.deps.jobs.enqueue(server.deps.db, sweepDeliveries, {})
    await server.deps.jobs.drain([sweepDeliveries], server.deps)
  }

  it('payloads are deleted: ignored ones immediately, processed ones after a week, the rest after thirty days; then the list', async () => {
    const integration = await makeProvider(server, key, 'retell')
    const call_id = 'call_1'
    await post(server, integration, { event: 'call_started', call: { call_id } })
    await post(server, integration, { event: 'call_ended', call: { call_id, start_timestamp: 1_771_923_600_000 } })
    await post(server, integration, { nothing: true })
    const kept = async () =>
      (await call('GET', `/v1/integrations/${integration.id}/deliveries`, { key })).body.data.map(
        ({ status, replayable }: { status: string; replayable: boolean }) => `${status} ${replayable}`,
      )
    await sweep(6)
    expect(await kept()).toEqual(['unreadable true', 'applied true', 'ignored false'])
    await sweep(2)
    expect(await kept()).toEqual(['unreadable true', 'applied false', 'ignored false'])
    await sweep(23)
    expect(await kept()).toEqual(['unreadable false', 'applied false', 'ignored false'])
    await sweep(60)
    expect(await kept()).toEqual([])
  })

  it('a replaced secret is deleted', async () => {
    const { id } = await makeIntegration(server, key)
    await call('PATCH', `/v1/integrations/${id}`, { key, body: { secret: 'the-next-one' } })
    const stored = async () =>
      (
        await sql<{
          secret: string | null
        }>`SELECT previous_secret AS secret FROM integrations WHERE id = ${id}`.execute(server.deps.db)
      ).rows[0]?.secret
    await sweep(0.5)
    expect(await stored()).toMatch(/^v1\./)
    await sweep(0.6)
    expect(await stored()).toBeNull()
  })
})
