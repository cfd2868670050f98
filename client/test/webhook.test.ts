import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { newSecret } from '../../server/webhooks/secret.ts'
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from '../src/earshot.ts'

const [secret, other] = [newSecret(), newSecret()]
const event = { type: 'webhook.test', timestamp: '2026-11-21T09:30:00.000Z', data: { endpointId: 'e', name: 'Größe' } }

/** Signs a request with another library. */
const signed = (by = secret, at = new Date(), body = JSON.stringify(event)) => ({
  body,
  headers: {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign('msg_1', at, body),
  },
})

const secondsAway = (seconds: number) => new Date(Date.now() + seconds * 1_000)

describe('a webhook', () => {
  it('is accepted as text or bytes, with any kind of headers, signed with any of the secrets', async () => {
    const { body, headers } = signed()
    const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
    const several = { ...headers, 'webhook-signature': `v1,AAAA v2,x ${headers['webhook-signature']}` }
    const alike = { get: (name: string) => new Headers(headers).get(name) }
    for (const given of [headers, new Headers(headers), shouted, several, alike]) {
      expect(await verifyWebhook({ body, headers: given, secret })).toEqual(event)
      expect(await verifyWebhook({ body: new TextEncoder().encode(body), headers: given, secret })).toEqual(event)
      expect(await verifyWebhook({ body: Buffer.from(body), headers: given, secret })).toEqual(event)
    }
    expect(await verifyWebhook({ body, headers, secret: [other, secret] })).toEqual(event)
  })

  it('is rejected if anything was changed', async () => {
    const { body, headers } = signed()
    const wrong = [
      { body: `${body} `, headers, secret },
      { body, headers: { ...headers, 'webhook-id': 'msg_2' }, secret },
      { body, headers, secret: other },
      { body, headers: { ...headers, 'webhook-signature': 'v1,not base64 v1,' }, secret },
      { body, headers: { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1', 'v2') }, secret },
      { body, headers: { 'webhook-id': 'msg_1' }, secret },
      { body, headers: { ...headers, 'webhook-timestamp': 'now' }, secret },
      { ...signed(secret, secondsAway(-301)), secret },
      { ...signed(secret, secondsAway(310)), secret },
      { ...signed(secret, secondsAway(-20)), secret, toleranceSeconds: 10 },
      { ...signed(), secret, toleranceSeconds: Number.NaN },
    ]
    for (const each of wrong) await expect(verifyWebhook(each)).rejects.toThrow(WebhookVerificationError)
    await expect(verifyWebhook({ ...signed(secret, secondsAway(-290)), secret })).resolves.toEqual(event)
  })

  it('is rejected if it was parsed or there is no secret', async () => {
    const { body, headers } = signed()
    // @ts-expect-error: the body must be text or bytes
    await expect(verifyWebhook({ body: event, headers, secret })).rejects.toThrow(TypeError)
    await expect(verifyWebhook({ body, headers, secret: '' })).rejects.toThrow(TypeError)
    // @ts-expect-error: an environment variable can be missing
    await expect(verifyWebhook({ body, headers, secret: undefined })).rejects.toThrow('whsec_')
  })
})

it('has a type for each event', () => {
  type Unknown = { [T in WebhookEvent['type']]: unknown extends Extract<WebhookEvent, { type: T }>['data'] ? T : never }
  const none: Unknown[WebhookEvent['type']][] = []
  expect(none).toEqual([])
})
