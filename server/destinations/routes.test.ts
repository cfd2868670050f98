import { beforeEach, describe, expect, it } from 'vitest'
import { makeKey, makeMember, makeOrganization, makeWebhookEndpoint } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import type { OrgId } from '../platform/db/database.ts'
import { orgIdOf } from '../platform/ids.ts'
import { findSealedDestination } from './queries.ts'
import { secretContext } from './settings.ts'

const server = await testServer()
const { call } = server

let org: OrgId
let key: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = orgIdOf(made.id)
  key = made.key
})

const slackUrl = 'https://hooks.slack.com/services/T0000/B0000/abcdefghijklmnop'
const routingKey = '0123456789abcdef0123456789abcdef'

const create = (body: object) => call('POST', '/v1/destinations', { key, body })
const update = (id: string, body: object) => call('PATCH', `/v1/destinations/${id}`, { key, body })

describe('a destination', () => {
  it.each([
    ['slack', { url: slackUrl }, { url: 'https://hooks.slack.com/…mnop' }],
    [
      'teams',
      {
        url: 'https://prod-12.westeurope.logic.azure.com:443/workflows/abc/triggers/manual/paths/invoke?sig=s3cret1234',
      },
      { url: 'https://prod-12.westeurope.logic.azure.com/…1234' },
    ],
    ['pagerduty', { routingKey }, { routingKey: '…cdef' }],
    ['opsgenie', { apiKey: routingKey }, { apiKey: '…cdef', region: 'us' }],
    ['email', { addresses: ['ada@example.com'] }, { addresses: ['ada@example.com'], memberIds: [] }],
  ])('of kind %s never shows its secret', async (kind, settings, shown) => {
    const { status, body, text, headers } = await create({ name: 'On call', kind, settings })
    expect([status, body]).toEqual([201, expect.objectContaining({ kind, settings: shown, status: 'active' })])
    const read = await call('GET', headers.get('location') as string, { key })
    expect(read.body).toEqual(body)
    for (const secret of [slackUrl, routingKey, 's3cret']) expect(text + read.text).not.toContain(secret)
  })

  it('keeps its secret when the masked settings are sent back, or none', async () => {
    const { body } = await create({ name: 'On call', kind: 'opsgenie', settings: { apiKey: routingKey } })
    const { db, secrets } = server.deps
    const open = async () => {
      const stored = await findSealedDestination(db, org, body.id)
      return secrets.open(stored?.secret ?? '', secretContext(org, body.id))
    }
    expect((await update(body.id, { settings: body.settings })).body.settings).toEqual(body.settings)
    expect((await update(body.id, { settings: { region: 'eu' } })).body.settings).toEqual({
      apiKey: '…cdef',
      region: 'eu',
    })
    expect(await open()).toBe(routingKey)
    const other = 'another-key-0123456789'
    expect((await update(body.id, { settings: { apiKey: other } })).body.settings).toEqual({
      apiKey: '…6789',
      region: 'us',
    })
    expect(await open()).toBe(other)
  })

  it.each([
    ['slack', {}, 'settings.url', 'is required'],
    ['slack', { url: 'http://hooks.slack.com/services/T/B/C' }, 'settings.url', 'must be an https URL'],
    ['slack', { url: 'https://ada:secret@hooks.slack.com/services' }, 'settings.url', 'without credentials'],
    ['slack', { url: 'https://127.0.0.1/services' }, 'settings.url', 'must have a public host'],
    ['slack', { url: 'https://hooks.slack.com/…mnop' }, 'settings.url', 'is masked'],
    ['slack', { url: slackUrl, channel: '#general' }, 'settings.channel', 'is not a known property'],
    ['pagerduty', { routingKey: 'with spaces' }, 'settings.routingKey', 'form'],
    ['opsgenie', { apiKey: routingKey, region: 'mars' }, 'settings.region', 'us, eu'],
    ['email', {}, 'settings', 'at least one address or member'],
    ['email', { addresses: ['nobody'] }, 'settings.addresses[0]', 'email address'],
    ['email', { memberIds: ['0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'] }, 'settings.memberIds[0]', 'not a member'],
    [
      'webhook',
      { endpointId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f' },
      'settings.endpointId',
      'not a webhook endpoint',
    ],
  ])('of kind %s is rejected with the settings %j', async (kind, settings, path, message) => {
    const { status, body } = await create({ name: 'On call', kind, settings })
    expect([status, body.details?.issues]).toEqual([
      400,
      expect.arrayContaining([{ path: expect.stringContaining(path), message: expect.stringContaining(message) }]),
    ])
    expect((await call('GET', '/v1/destinations', { key })).body.data).toEqual([])
  })

  it('is changed by admins only, and read by everyone', async () => {
    const { key: viewerKey } = await makeKey(server, key, 'viewer')
    const { key: memberKey } = await makeKey(server, key, 'member')
    const { body } = await create({ name: 'On call', kind: 'slack', settings: { url: slackUrl } })
    const path = `/v1/destinations/${body.id}`
    expect((await call('GET', path, { key: viewerKey })).status).toBe(200)
    for (const [method, at] of [
      ['POST', '/v1/destinations'],
      ['PATCH', path],
      ['DELETE', path],
      ['POST', `${path}/test`],
    ] as const) {
      expect((await call(method, at, { key: memberKey, body: {} })).status).toBe(403)
    }
  })

  it('names members and webhook endpoints of the organization', async () => {
    const { id: memberId } = await makeMember(server, key, 'member')
    const { id: endpointId } = await makeWebhookEndpoint(server, key)
    expect((await create({ name: 'Ada', kind: 'email', settings: { memberIds: [memberId] } })).status).toBe(201)
    expect((await create({ name: 'Warehouse', kind: 'webhook', settings: { endpointId } })).status).toBe(201)
  })

  it('can be deleted with its log', async () => {
    const { body } = await create({ name: 'On call', kind: 'slack', settings: { url: slackUrl } })
    expect((await call('POST', `/v1/destinations/${body.id}/test`, { key })).status).toBe(202)
    expect((await call('DELETE', `/v1/destinations/${body.id}`, { key })).status).toBe(204)
    expect((await call('GET', `/v1/destinations/${body.id}/deliveries`, { key })).status).toBe(404)
  })

  it('is one of at most 50', async () => {
    for (let count = 0; count < 50; count++) {
      await create({ name: `Channel ${count}`, kind: 'slack', settings: { url: slackUrl } })
    }
    const { status, body } = await create({ name: 'One more', kind: 'slack', settings: { url: slackUrl } })
    expect([status, body.message]).toEqual([409, expect.stringContaining('50 destinations')])
  })
})
