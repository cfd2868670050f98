import { createHmac } from 'node:crypto'
import {
  header,
  isSame,
  isSignedByAny,
  isWithin,
  type RequestHead,
  type SignatureVerdict,
  type SignedRequest,
  verdict,
} from './signatures.ts'

/** The signature scheme of a Vapi credential. The settings and defaults match Vapi's console. */
export type VapiScheme =
  | { scheme: 'secret'; header?: string }
  | { scheme: 'bearer'; header?: string; prefix?: boolean }
  | ({ scheme: 'hmac' } & VapiHmac)

type VapiHmac = {
  algorithm?: 'sha256' | 'sha512' | 'sha1'
  signatureHeader?: string
  timestampHeader?: string
  messageIdHeader?: string
  signaturePrefix?: string
  signatureEncoding?: 'hex' | 'base64'
  includeTimestamp?: boolean
  /** A template that contains `{body}`, `{timestamp}`, `{method}`, `{url}`, and `{svix-id}`. */
  payloadFormat?: string
  secretIsBase64?: boolean
}

const defaultSignatureHeader = 'x-signature'

/** Vapi documents no tolerance. Five minutes is a common value. */
const toleranceMs = 5 * 60_000

/**
 * Returns the time. Vapi does not document whether it is in seconds or milliseconds since 1970, but the size of the
 * number shows which.
 */
const instantMs = (timestamp: string): number => {
  if (!/^\d{1,15}$/.test(timestamp)) return Number.NaN
  const number = Number(timestamp)
  return number > 1e11 ? number : number * 1_000
}

const keyOf = (secret: string, isBase64: boolean): Buffer =>
  isBase64 ? Buffer.from(secret.replace(/^whsec_/, ''), 'base64') : Buffer.from(secret)

const verifyHmac = (request: SignedRequest, knobs: VapiHmac): SignatureVerdict => {
  const {
    algorithm = 'sha256',
    signatureHeader = defaultSignatureHeader,
    timestampHeader = 'x-timestamp',
    messageIdHeader = 'svix-id',
    signaturePrefix = '',
    signatureEncoding = 'hex',
    includeTimestamp = true,
    payloadFormat = includeTimestamp ? '{timestamp}.{body}' : '{body}',
    secretIsBase64 = false,
  } = knobs
  const timestamp = header(request, timestampHeader)
  const pieces: Record<string, string | Buffer> = {
    '{body}': request.body,
    '{timestamp}': timestamp,
    '{method}': 'POST',
    '{url}': request.url,
    '{svix-id}': header(request, messageIdHeader),
  }
  const format = payloadFormat.split(/(\{[a-z-]+\})/)
  // If the signature excluded the body, anyone could replace it.
  if (!format.includes('{body}')) return 'invalid'
  // While the sender rotates a secret, the header can have several signatures, separated by spaces.
  const given = header(request, signatureHeader).split(' ').slice(0, 5)
  const isSigned = isSignedByAny(request.secrets, (secret) => {
    const key = keyOf(secret, secretIsBase64)
    if (key.length === 0) return false
    const hmac = createHmac(algorithm, key)
    for (const piece of format) hmac.update(Object.hasOwn(pieces, piece) ? (pieces[piece] ?? '') : piece)
    const expected = signaturePrefix + hmac.digest(signatureEncoding)
    return given.filter((signature) => isSame(signature, expected)).length > 0
  })
  // The time only counts if it is signed.
  const isFresh = !format.includes('{timestamp}') || isWithin(request.now, instantMs(timestamp), toleranceMs)
  return verdict(isSigned, isFresh)
}

const verifySecret = (request: RequestHead, given: string): SignatureVerdict =>
  verdict(
    isSignedByAny(request.secrets, (secret) => isSame(given, secret)),
    true,
  )

/** Verifies a plain secret in the header. The body is not signed. */
const verifyPlain = (request: RequestHead, scheme: Exclude<VapiScheme, { scheme: 'hmac' }>): SignatureVerdict => {
  if (scheme.scheme === 'secret') return verifySecret(request, header(request, scheme.header ?? 'x-vapi-secret'))
  const given = header(request, scheme.header ?? 'authorization')
  if (scheme.prefix === false) return verifySecret(request, given)
  return /^Bearer /i.test(given) ? verifySecret(request, given.slice('Bearer '.length)) : 'invalid'
}

/** Returns whether the headers can be valid. A secret can be compared immediately, but an HMAC needs the body. */
export const hasVapiSignature = (head: RequestHead, scheme: VapiScheme): boolean =>
  scheme.scheme === 'hmac'
    ? header(head, scheme.signatureHeader ?? defaultSignatureHeader) !== ''
    : verifyPlain(head, scheme) === 'valid'

export const verifyVapi = (request: SignedRequest, scheme: VapiScheme): SignatureVerdict =>
  scheme.scheme === 'hmac' ? verifyHmac(request, scheme) : verifyPlain(request, scheme)
