import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sample, sampleBytes } from '../../test/samples/ingest/sample.ts'
import {
  checkElevenlabs,
  type SignatureVerdict,
  type SignedRequest,
  verifyLivekit,
  verifyRetell,
  verifyTwilio,
} from './signatures.ts'
import { type VapiScheme, verifyVapi } from './vapi-signature.ts'

type Vector = {
  scheme: string
  file?: string
  body?: string
  secret: string
  url?: string
  apiKey?: string
  header?: string
  value?: string
  headers?: Record<string, string>
}

const vectors: Vector[] = sample('signature_vectors.json').vectors

/** Most webhooks are signed like this: with a message ID, a time in seconds, and a Base64 signature with a prefix. */
const standardWebhooks: VapiScheme = {
  scheme: 'hmac',
  signatureHeader: 'webhook-signature',
  timestampHeader: 'webhook-timestamp',
  messageIdHeader: 'webhook-id',
  signaturePrefix: 'v1,',
  signatureEncoding: 'base64',
  payloadFormat: '{svix-id}.{timestamp}.{body}',
  secretIsBase64: true,
}

type Signer = { verify: (request: SignedRequest) => SignatureVerdict; signedAtMs: number; toleranceMs: number | null }

const minute = 60_000

/** Verifies the body in two chunks, because it can arrive that way. */
const verifyElevenlabs = ({ body, ...head }: SignedRequest): SignatureVerdict => {
  const check = checkElevenlabs(head)
  check.update(body.subarray(0, body.length / 2))
  check.update(body.subarray(body.length / 2))
  return check.verdict()
}

const signers: Record<string, Signer> = {
  retell: { verify: verifyRetell, signedAtMs: 1_771_923_600_000, toleranceMs: 5 * minute },
  elevenlabs: { verify: verifyElevenlabs, signedAtMs: 1_772_010_080_000, toleranceMs: 30 * minute },
  'vapi-hmac-default': {
    verify: (request) => verifyVapi(request, { scheme: 'hmac' }),
    signedAtMs: 1_771_837_275_000,
    toleranceMs: 5 * minute,
  },
  'vapi-legacy': {
    verify: (request) => verifyVapi(request, { scheme: 'secret' }),
    signedAtMs: 1_771_837_275_000,
    toleranceMs: null,
  },
  'twilio-json': { verify: verifyTwilio, signedAtMs: 1_772_000_000_000, toleranceMs: null },
  'standard-webhooks': {
    verify: (request) => verifyVapi(request, standardWebhooks),
    signedAtMs: 1_772_359_200_000,
    toleranceMs: 5 * minute,
  },
  'livekit-jwt': {
    verify: (request) => verifyLivekit(request, 'APItestkey'),
    signedAtMs: 1_772_182_850_000,
    toleranceMs: null,
  },
}

const cases = vectors.map((vector) => {
  const signer = signers[vector.scheme]
  if (!signer) throw new Error(`Nobody verifies ${vector.scheme}`)
  const request: SignedRequest = {
    body: vector.file ? sampleBytes(vector.file) : Buffer.from(vector.body ?? ''),
    headers: vector.headers ?? { [vector.header ?? '']: vector.value },
    url: vector.url ?? 'https://monitor.example.com/v1/integrations/1/webhook',
    secrets: [vector.secret],
    now: new Date(signer.signedAtMs),
  }
  return { ...signer, scheme: vector.scheme, request, secret: vector.secret }
})
type Case = (typeof cases)[number]

const caseOf = (scheme: string): Case => {
  const found = cases.find((one) => one.scheme === scheme)
  if (!found) throw new Error(`No vector of ${scheme}`)
  return found
}

const secretAlone = (scheme: string) => scheme === 'vapi-legacy'

/** Returns the bytes with one of them changed. */
const changed = (bytes: Buffer, at: number, by: number): Buffer => {
  const copy = Buffer.from(bytes)
  copy[at % copy.length] = ((copy[at % copy.length] ?? 0) + by) % 256
  return copy
}
const change = fc.tuple(fc.nat(1_000_000), fc.integer({ min: 1, max: 255 }))

describe('every test vector', () => {
  test('verifies', () => {
    expect(cases).toHaveLength(7)
    for (const { verify, request, scheme } of cases) expect(verify(request), scheme).toBe('valid')
  })

  test('fails if any byte of the body is changed', () => {
    for (const { verify, request, scheme } of cases.filter((one) => !secretAlone(one.scheme))) {
      fc.assert(
        fc.property(change, ([at, by]) => {
          expect(verify({ ...request, body: changed(request.body, at, by) }), scheme).toBe('invalid')
        }),
        { numRuns: 300 },
      )
      expect(verify({ ...request, body: request.body.subarray(1) }), scheme).toBe('invalid')
      expect(verify({ ...request, body: Buffer.concat([request.body, Buffer.from(' ')]) }), scheme).toBe('invalid')
    }
  })

  /**
   * Returns every variant of a secret with one changed character. In Base64, the change must not only affect unused
   * bits. Padding is not part of the secret.
   */
  const withOneCharacterChanged = (secret: string): string[] => {
    const start = secret.startsWith('whsec_') ? 'whsec_'.length : 0
    const changed = [...secret.replace(/=+$/, '')].map((character, at) => {
      const other = character === 'A' ? 'Q' : 'A'
      return secret.slice(0, at) + other + secret.slice(at + 1)
    })
    return changed.slice(start)
  }

  test('fails if any character of the secret is changed, and without a secret', () => {
    for (const { verify, request, secret, scheme } of cases) {
      for (const wrong of withOneCharacterChanged(secret)) {
        expect(verify({ ...request, secrets: [wrong] }), `${scheme} ${wrong}`).toBe('invalid')
      }
      for (const secrets of [[], [''], ['', '']]) expect(verify({ ...request, secrets }), scheme).toBe('invalid')
    }
  })

  test('fails if any character of a header is changed', () => {
    for (const { verify, request, scheme } of cases) {
      for (const [name, value] of Object.entries(request.headers)) {
        if (typeof value !== 'string') throw new Error(`${name} is no text`)
        fc.assert(
          fc.property(change, fc.constantFrom(...'0123456789abcdefgXYZ.,= -_+/'), ([at], other) => {
            const place = at % value.length
            fc.pre(value[place] !== other)
            const headers = { ...request.headers, [name]: value.slice(0, place) + other + value.slice(place + 1) }
            expect(verify({ ...request, headers }), `${scheme} ${name} ${headers[name]}`).toBe('invalid')
          }),
          { numRuns: 300 },
        )
        for (const odd of [undefined, '', [value, value], value.slice(0, -1), `${value}0`]) {
          expect(verify({ ...request, headers: { ...request.headers, [name]: odd } }), `${scheme} ${odd}`).toBe(
            'invalid',
          )
        }
      }
    }
  })

  test('verifies with either secret during a rotation', () => {
    for (const { verify, request, secret, scheme } of cases) {
      const fresh = `new-${secret}`
      for (const secrets of [
        [secret, fresh],
        [fresh, secret],
      ]) {
        expect(verify({ ...request, secrets }), scheme).toBe('valid')
      }
      expect(verify({ ...request, secrets: [fresh] }), scheme).toBe('invalid')
    }
  })

  test('is stale outside its tolerance, before and after, and only if it is signed', () => {
    for (const { verify, request, signedAtMs, toleranceMs, scheme } of cases) {
      if (toleranceMs === null) continue
      const at = (ms: number) => verify({ ...request, now: new Date(signedAtMs + ms) })
      for (const side of [-1, 1]) {
        expect(at(side * toleranceMs), scheme).toBe('valid')
        expect(at(side * (toleranceMs + 1)), scheme).toBe('stale')
      }
      const forged = { ...request, body: Buffer.from('{}'), now: new Date(0) }
      expect(verify(forged), scheme).toBe('invalid')
    }
  })

  test('random input never throws and is never valid', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('t=1,v0=', 'v=1,d=', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', '%', ':'),
    )
    fc.assert(
      fc.property(fc.constantFrom(...cases), text, fc.uint8Array(), text, ({ verify, request }, value, body, url) => {
        const headers = Object.fromEntries(Object.keys(request.headers).map((name) => [name, value]))
        fc.pre(value !== request.secrets[0])
        expect(verify({ ...request, headers, body: Buffer.from(body), url })).toBe('invalid')
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('Vapi', () => {
  const { request, secret } = caseOf('vapi-legacy')
  const verify = (headers: SignedRequest['headers'], scheme: VapiScheme) => verifyVapi({ ...request, headers }, scheme)

  test('accepts a bearer token with or without a prefix, in any header', () => {
    expect(verify({ authorization: `Bearer ${secret}` }, { scheme: 'bearer' })).toBe('valid')
    expect(verify({ authorization: secret }, { scheme: 'bearer' })).toBe('invalid')
    expect(verify({ authorization: secret }, { scheme: 'bearer', prefix: false })).toBe('valid')
    expect(verify({ 'x-token': `Bearer ${secret}` }, { scheme: 'bearer', header: 'X-Token' })).toBe('valid')
    expect(verify({ authorization: `Bearer ${secret}x` }, { scheme: 'bearer' })).toBe('invalid')
  })

  test('accepts every setting of its HMAC', () => {
    const sign = (algorithm: string, text: string) => createHmac(algorithm, secret).update(text).update(request.body)
    const plain = { 'x-hub': `sha1=${sign('sha1', '').digest('base64')}` }
    const knobs = {
      algorithm: 'sha1',
      signatureHeader: 'X-Hub',
      signaturePrefix: 'sha1=',
      signatureEncoding: 'base64',
    } as const
    expect(verify(plain, { scheme: 'hmac', ...knobs, includeTimestamp: false })).toBe('valid')
    expect(verify(plain, { scheme: 'hmac', ...knobs })).toBe('invalid')
    const payloadFormat = '{method} {url} {unknown} {timestamp}:{body}'
    const ms = String(request.now.getTime())
    const signature = sign('sha512', `POST ${request.url} {unknown} ${ms}:`).digest('hex')
    const long = { 'x-signature': signature, 'x-time': ms }
    const scheme: VapiScheme = { scheme: 'hmac', algorithm: 'sha512', timestampHeader: 'X-Time', payloadFormat }
    expect(verify(long, scheme)).toBe('valid')
    expect(verifyVapi({ ...request, headers: long, url: `${request.url}?` }, scheme)).toBe('invalid')
  })

  test('rejects a signature without the body, or with an invalid time', () => {
    const signature = createHmac('sha256', secret).update('5').digest('hex')
    const headers = { 'x-signature': signature, 'x-timestamp': '5' }
    expect(verify(headers, { scheme: 'hmac', payloadFormat: '{timestamp}' })).toBe('invalid')
    const timeless = createHmac('sha256', secret).update('soon.').update(request.body).digest('hex')
    expect(verify({ 'x-signature': timeless, 'x-timestamp': 'soon' }, { scheme: 'hmac' })).toBe('stale')
  })
})

describe('Twilio', () => {
  const secret = 'twilio_auth_token'
  const body = Buffer.from('To=%2B1555&From=%2B1666&RecordingUrl=https%3A%2F%2Fexample.com%2Fa&Tag=b&Tag=a&Tag=b')
  const signed = (url: string, signedUrl = url, sent = body): SignedRequest => {
    // The names are sorted. Each value of a name appears only once, and the values are also sorted.
    const text = `${signedUrl}From+1666RecordingUrlhttps://example.com/aTagaTagbTo+1555`
    const signature = createHmac('sha1', secret).update(text).digest('base64')
    return { body: sent, headers: { 'x-twilio-signature': signature }, url, secrets: [secret], now: new Date(0) }
  }

  test('accepts the fields of a form in any order', () => {
    expect(verifyTwilio(signed('https://example.com/hook'))).toBe('valid')
    const shuffled = Buffer.from('Tag=b&RecordingUrl=https%3A%2F%2Fexample.com%2Fa&Tag=a&From=%2B1666&To=%2B1555')
    expect(verifyTwilio(signed('https://example.com/hook', undefined, shuffled))).toBe('valid')
    const other = Buffer.from(body.toString().replace('1555', '1556'))
    expect(verifyTwilio(signed('https://example.com/hook', undefined, other))).toBe('invalid')
    expect(verifyTwilio(signed('https://example.com/hook', undefined, Buffer.from('')))).toBe('invalid')
  })

  test('accepts the URL with or without the port', () => {
    const same: [seen: string, signed: string][] = [
      ['https://example.com/hook?a=1', 'https://example.com:443/hook?a=1'],
      ['http://example.com/hook', 'http://example.com:80/hook'],
      ['https://example.com:8443/hook', 'https://example.com/hook'],
      ['https://example.com:8443/hook', 'https://example.com:8443/hook'],
    ]
    for (const [seen, written] of same) expect(verifyTwilio(signed(seen, written)), written).toBe('valid')
    expect(verifyTwilio(signed('https://example.com/hook', 'https://example.com:444/hook'))).toBe('invalid')
    expect(verifyTwilio(signed('https://example.com/hook', 'https://example.com/hook2'))).toBe('invalid')
  })

  test('rejects JSON without its digest in the URL', () => {
    const { request } = caseOf('twilio-json')
    const url = 'https://monitor.example.com/v1/ingest/twilio'
    const signature = createHmac('sha1', secret).update(url).digest('base64')
    expect(verifyTwilio({ ...request, url, headers: { 'x-twilio-signature': signature } })).toBe('invalid')
  })
})

describe('LiveKit', () => {
  const secret = 'livekit_api_secret'
  const body = Buffer.from('{"event":"room_finished"}')
  const nowSeconds = 1_772_182_850
  const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    iss: 'key',
    exp: nowSeconds + 300,
    nbf: nowSeconds,
    sha256: createHash('sha256').update(body).digest('base64'),
  }
  const verify = (changes: Record<string, unknown>, { alg = 'HS256', before = '' } = {}) => {
    const text = `${base64url({ alg })}.${base64url({ ...claims, ...changes })}`
    const token = `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
    const headers = { authorization: before + token }
    const now = new Date(nowSeconds * 1_000)
    return verifyLivekit({ body, headers, url: '', secrets: [secret], now }, 'key')
  }

  test('accepts a token between its two times, with a tolerance of a minute', () => {
    expect(verify({})).toBe('valid')
    expect(verify({}, { before: 'Bearer ' })).toBe('valid')
    expect(verify({ exp: nowSeconds - 60 })).toBe('valid')
    expect(verify({ exp: nowSeconds - 61 })).toBe('stale')
    expect(verify({ nbf: nowSeconds + 60 })).toBe('valid')
    expect(verify({ nbf: nowSeconds + 61 })).toBe('stale')
    expect(verify({ nbf: undefined })).toBe('valid')
  })

  test('requires the issuer, the digest, the expiry, and the algorithm', () => {
    expect(verify({ iss: 'other' })).toBe('invalid')
    expect(verify({ sha256: undefined })).toBe('invalid')
    expect(verify({ sha256: { toString: 1 } })).toBe('invalid')
    expect(verify({ exp: undefined })).toBe('invalid')
    expect(verify({ exp: '9999999999' })).toBe('invalid')
    expect(verify({}, { alg: 'none' })).toBe('invalid')
    expect(verify({}, { alg: 'HS512' })).toBe('invalid')
  })
})
