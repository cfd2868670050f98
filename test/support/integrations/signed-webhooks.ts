// Sends webhooks of providers, with the signatures that the providers would send.
import { createHash, createHmac } from 'node:crypto'
import { makeOrganization } from '../../make.ts'
import { sampleBytes } from '../../samples/ingest/sample.ts'
import type { TestServer } from '../../server.ts'

export const secret = 'provider-secret-0123456789'
export const apiKey = 'APItestkey'
export const accountSid = 'AC00000000000000000000000000000001'

type Signed = { body: Buffer; key: string; now: Date; url: string }

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const tokenOf = ({ body, key, now }: Signed): string => {
  const seconds = Math.floor(now.getTime() / 1_000)
  const sha256 = createHash('sha256').update(body).digest('base64')
  const text = `${base64url({ alg: 'HS256' })}.${base64url({ iss: apiKey, exp: seconds + 60, nbf: seconds, sha256 })}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

const hex = (key: string, ...parts: (string | Buffer)[]) =>
  createHmac('sha256', key)
    .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
    .digest('hex')

const signers: Record<string, (signed: Signed) => Record<string, string>> = {
  vapi: ({ body, key, now }) => {
    const seconds = String(Math.floor(now.getTime() / 1_000))
    return { 'x-timestamp': seconds, 'x-signature': hex(key, `${seconds}.`, body) }
  },
  retell: ({ body, key, now }) => ({
    'x-retell-signature': `v=${now.getTime()},d=${hex(key, body, String(now.getTime()))}`,
  }),
  elevenlabs: ({ body, key, now }) => {
    const seconds = String(Math.floor(now.getTime() / 1_000))
    return { 'elevenlabs-signature': `t=${seconds},v0=${hex(key, `${seconds}.`, body)}` }
  },
  livekit: (signed) => ({ authorization: tokenOf(signed) }),
  twilio: ({ key, url }) => ({ 'x-twilio-signature': createHmac('sha1', key).update(url).digest('base64') }),
}

const settings: Record<string, object> = {
  vapi: { scheme: 'hmac' },
  livekit: { apiKey },
  twilio: { accountSid },
}

export type WebhookProvider = { id: string; provider: string; webhookPath: string }

export const makeProvider = async (
  server: TestServer,
  key: string,
  provider: string,
  fields: object = {},
): Promise<WebhookProvider> => {
  const body = { provider, name: `Our ${provider}`, secret, settings: settings[provider] ?? {}, ...fields }
  const answer = await server.call('POST', '/v1/integrations', { key, body })
  if (answer.status !== 201) throw new Error(`expected 201, got ${answer.status}: ${answer.text}`)
  return answer.body
}

type Options = { key?: string; now?: Date; headers?: Record<string, string>; sent?: Buffer }

export const bytesOf = (payload: unknown): Buffer =>
  Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload))

/** Posts the payload as the provider would. `sent` replaces the body after it was signed. */
export const post = (
  server: TestServer,
  { provider, webhookPath }: WebhookProvider,
  payload: unknown,
  options: Options = {},
) => {
  const { key = secret, now = server.clock.now(), headers = {} } = options
  const body = bytesOf(payload)
  const sha256 = createHash('sha256').update(body).digest('hex')
  const path = provider === 'twilio' ? `${webhookPath}?bodySHA256=${sha256}` : webhookPath
  const signed = signers[provider]?.({ body, key, now, url: `${server.deps.baseUrl()}${path}` }) ?? {}
  const raw = new Uint8Array(options.sent ?? body)
  return server.call('POST', path, { raw, headers: { 'content-type': 'application/json', ...signed, ...headers } })
}

export const samples: Record<string, string> = {
  vapi: 'vapi_end_of_call_report.json',
  retell: 'retell_call_ended.json',
  elevenlabs: 'elevenlabs_post_call_transcription.json',
  livekit: 'livekit_session_report.json',
}

export const sampleOf = (provider: string): Buffer => sampleBytes(samples[provider] ?? '')

/** Creates an organization with one integration. */
export const makeCalled = async (server: TestServer, provider: string, fields: object = {}) => {
  const org = await makeOrganization(server)
  return { ...org, integration: await makeProvider(server, org.key, provider, fields) }
}
