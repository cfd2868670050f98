import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Verifies the signatures of each provider. They cover the raw bytes, so no parsing may happen before verification.
 * Only a request with a valid signature can be stale.
 */

export type SignatureVerdict = 'valid' | 'stale' | 'invalid'

/** The data of a request that is known before its body is read. */
export type RequestHead = {
  /** The names are lowercase. If a header was sent twice, its value is an array, which never counts as a signature. */
  headers: Record<string, string | string[] | undefined>
  /** The URL as the sender wrote it: scheme, host, path, and query. */
  url: string
  /** The valid secrets: during a rotation, both the new and the old one. */
  secrets: readonly string[]
  now: Date
}

export type SignedRequest = RequestHead & { body: Buffer }

const retellToleranceMs = 5 * 60_000
const elevenlabsToleranceMs = 30 * 60_000
/** The maximum difference between the clocks of two machines. */
const skewMs = 60_000

export const header = ({ headers }: Pick<RequestHead, 'headers'>, name: string): string => {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' ? value : ''
}

/** Compares two strings by their digests, so that the timing reveals neither content nor length. */
export const isSame = (given: string, expected: string): boolean => {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

/**
 * Returns whether the request was signed with one of the secrets. Skips empty secrets, because anyone could sign with
 * them.
 */
export const isSignedByAny = (secrets: readonly string[], isSigned: (secret: string) => boolean): boolean =>
  secrets.filter((secret) => secret !== '' && isSigned(secret)).length > 0

export const verdict = (isSigned: boolean, isFresh: boolean): SignatureVerdict => {
  if (!isSigned) return 'invalid'
  return isFresh ? 'valid' : 'stale'
}

export const isWithin = (now: Date, ms: number, toleranceMs: number): boolean =>
  Math.abs(now.getTime() - ms) <= toleranceMs

const hmacHex = (secret: string, ...parts: (string | Buffer)[]): string => {
  const hmac = createHmac('sha256', secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest('hex')
}

const retellSignature = /^v=(\d{1,15}),d=([0-9a-f]{64})$/

export const hasRetellSignature = (head: RequestHead): boolean =>
  retellSignature.test(header(head, 'x-retell-signature'))

/** Verifies `x-retell-signature: v=<ms>,d=<hex>`, which signs the body followed by the time. */
export const verifyRetell = (request: SignedRequest): SignatureVerdict => {
  const [, ms, digest] = retellSignature.exec(header(request, 'x-retell-signature')) ?? []
  if (ms === undefined || digest === undefined) return 'invalid'
  const isSigned = isSignedByAny(request.secrets, (secret) => isSame(digest, hmacHex(secret, request.body, ms)))
  return verdict(isSigned, isWithin(request.now, Number(ms), retellToleranceMs))
}

const elevenlabsSignature = (head: RequestHead): { seconds: string; digests: string[] } | undefined => {
  const parts = header(head, 'elevenlabs-signature')
    .split(',')
    .map((part) => part.trim())
  const [time, ...otherTimes] = parts.filter((part) => part.startsWith('t='))
  const seconds = time?.slice(2) ?? ''
  const digests = parts.filter((part) => part.startsWith('v0=')).slice(0, 5)
  return /^\d{1,12}$/.test(seconds) && otherTimes.length === 0 && digests.length > 0 ? { seconds, digests } : undefined
}

export const hasElevenlabsSignature = (head: RequestHead): boolean => elevenlabsSignature(head) !== undefined

/** Verifies a body that is never completely in memory. */
export type StreamCheck = { update: (piece: Uint8Array) => void; verdict: () => SignatureVerdict }

/**
 * Verifies `elevenlabs-signature: t=<s>,v0=<hex>`, which signs the time, a dot, and the body. During a rotation, there
 * are several `v0` values.
 */
export const checkElevenlabs = (head: RequestHead): StreamCheck => {
  const { seconds = '', digests = [] } = elevenlabsSignature(head) ?? {}
  const hmacs = new Map(
    head.secrets.map((secret) => [secret, createHmac('sha256', secret).update(`${seconds}.`)] as const),
  )
  return {
    update: (piece) => {
      for (const hmac of hmacs.values()) hmac.update(piece)
    },
    verdict: () => {
      const isSigned = isSignedByAny([...hmacs.keys()], (secret) => {
        const expected = `v0=${hmacs.get(secret)?.digest('hex')}`
        return digests.filter((digest) => isSame(digest, expected)).length > 0
      })
      return verdict(isSigned, isWithin(head.now, Number(seconds) * 1_000, elevenlabsToleranceMs))
    },
  }
}

/** Returns a URL both with and without its default port, because Twilio may have signed either of them. */
const spellingsOf = (url: string): string[] => {
  if (!URL.canParse(url)) return []
  const { protocol, hostname, port, pathname, search } = new URL(url)
  const standard = protocol === 'https:' ? '443' : '80'
  const spell = (host: string) => `${protocol}//${host}${pathname}${search}`
  return [...new Set([url, spell(hostname), spell(`${hostname}:${port === '' ? standard : port}`)])]
}

/** Returns the name and value of every field in a form, sorted by name. Duplicate values of a name appear only once. */
const formText = (body: Buffer): string => {
  const fields = new Map<string, Set<string>>()
  for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
    const values = fields.get(name)
    if (values) values.add(value)
    else fields.set(name, new Set([value]))
  }
  return [...fields.keys()]
    .sort()
    .flatMap((name) => [...(fields.get(name) ?? [])].sort().map((value) => name + value))
    .join('')
}

/** Returns the digest in the query, which is present if the body is not a form. */
const bodyDigestIn = (url: string): string | null =>
  URL.canParse(url) ? new URL(url).searchParams.get('bodySHA256') : null

/** Returns whether the signature covers the fields of a form instead of the bytes of the body. */
export const signsForm = ({ url }: RequestHead): boolean => bodyDigestIn(url) === null

export const hasTwilioSignature = (head: RequestHead): boolean =>
  /^[A-Za-z0-9+/]{27}=$/.test(header(head, 'x-twilio-signature'))

/**
 * Verifies `x-twilio-signature`, which signs the URL and the fields of a form. If the query contains the body's digest,
 * only the URL is signed. The signature contains no time, so repeated webhooks are recognized by their ID.
 */
export const verifyTwilio = (request: SignedRequest): SignatureVerdict => {
  const { body, url, secrets } = request
  const digest = bodyDigestIn(url)
  const text = digest === null ? formText(body) : ''
  const given = header(request, 'x-twilio-signature')
  const isSigned = isSignedByAny(secrets, (secret) => {
    const expected = spellingsOf(url).map((spelled) =>
      createHmac('sha1', secret)
        .update(spelled + text)
        .digest('base64'),
    )
    return expected.filter((signature) => isSame(given, signature)).length > 0
  })
  const isBody = digest === null || isSame(digest, createHash('sha256').update(body).digest('hex'))
  return verdict(isSigned && isBody, true)
}

const jsonOfBase64url = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** Returns the claims in the token in the `authorization` header. */
const livekitClaims = (request: RequestHead): Record<string, unknown> | undefined => {
  const [head = '', claims = '', signature = '', ...more] = header(request, 'authorization')
    .replace(/^Bearer /i, '')
    .split('.')
  const isSigned = isSignedByAny(request.secrets, (secret) =>
    isSame(signature, createHmac('sha256', secret).update(`${head}.${claims}`).digest('base64url')),
  )
  // Claims of an unsigned token are ignored, because anyone can write them.
  return isSigned && more.length === 0 && jsonOfBase64url(head).alg === 'HS256' ? jsonOfBase64url(claims) : undefined
}

export const hasLivekitToken = (head: RequestHead): boolean => livekitClaims(head) !== undefined

/** Verifies `authorization: <JWT>`, which contains the body's digest and an expiry. */
export const verifyLivekit = (request: SignedRequest, apiKey?: string): SignatureVerdict => {
  const claims = livekitClaims(request)
  if (!claims) return 'invalid'
  const { iss, sha256, exp, nbf = 0 } = claims
  const isBody =
    typeof sha256 === 'string' && isSame(sha256, createHash('sha256').update(request.body).digest('base64'))
  const isIssuer = apiKey === undefined || iss === apiKey
  if (!isBody || !isIssuer || typeof exp !== 'number' || typeof nbf !== 'number') return 'invalid'
  const nowMs = request.now.getTime()
  return verdict(true, nowMs <= exp * 1_000 + skewMs && nowMs >= nbf * 1_000 - skewMs)
}
