import { expect, it } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { sample, sampleBytes } from '../../../test/samples/ingest/sample.ts'
import { testServer } from '../../../test/server.ts'
import { apiKey, makeProvider } from '../../../test/support/integrations/signed-webhooks.ts'

/** Verifies the published test vectors for each scheme, at the time of their signatures. */

const server = await testServer()
const { call } = server

type Vector = {
  scheme: string
  file?: string
  body?: string
  secret: string
  header?: string
  value?: string
  headers?: Record<string, string>
}

const vectors: Vector[] = sample('signature_vectors.json').vectors

const signed: Record<string, { provider: string; settings?: object; at: number; status: string }> = {
  retell: { provider: 'retell', at: 1_771_923_600_000, status: 'applied' },
  elevenlabs: { provider: 'elevenlabs', at: 1_772_010_080_000, status: 'applied' },
  'vapi-hmac-default': { provider: 'vapi', settings: { scheme: 'hmac' }, at: 1_771_837_275_000, status: 'applied' },
  'vapi-legacy': { provider: 'vapi', at: 1_771_837_275_000, status: 'applied' },
  'livekit-jwt': { provider: 'livekit', settings: { apiKey }, at: 1_772_182_850_000, status: 'ignored' },
}

it.each(Object.keys(signed))(
  '%s is accepted, and rejected with a changed body, secret, or timestamp, or hours later',
  async (scheme) => {
    const known = signed[scheme]
    const vector = vectors.find((one) => one.scheme === scheme)
    if (!known || !vector) throw new Error(`no vector of ${scheme}`)
    server.clock.advance(known.at - server.clock.now().getTime())
    const { key } = await makeOrganization(server)
    const { provider, settings = {} } = known
    const integration = await makeProvider(server, key, provider, { secret: vector.secret, settings })
    const body = vector.file ? sampleBytes(vector.file) : Buffer.from(vector.body ?? '')
    const headers = vector.headers ?? { [vector.header ?? '']: vector.value ?? '' }
    const send = async (raw: Buffer, sent = headers, path = integration.webhookPath) => {
      const answer = await call('POST', path, {
        raw: new Uint8Array(raw),
        headers: { 'content-type': 'application/json', ...sent },
      })
      return answer.status === 200 ? answer.body.status : answer.status
    }

    const isSecretAlone = scheme === 'vapi-legacy'
    if (!isSecretAlone) {
      const changed = Buffer.from(body)
      changed[body.length - 5] = (changed[body.length - 5] ?? 0) ^ 1
      expect(await send(changed)).toBe(401)
    }
    for (const [name, value] of Object.entries(headers)) {
      const digit = value.replace(/\d(?=\D*$)/, (last) => String((Number(last) + 1) % 10))
      expect(await send(body, { ...headers, [name]: digit }), name).toBe(401)
    }
    const other = await makeProvider(server, key, provider, { secret: `${vector.secret}x`, settings })
    expect(await send(body, headers, other.webhookPath)).toBe(401)

    expect(await send(body)).toBe(known.status)
    if (isSecretAlone || scheme === 'livekit-jwt') return
    server.clock.advance(60 * 60_000)
    expect(await send(body)).toBe(401)
  },
)
