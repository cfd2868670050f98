// Checks AWS Signature Version 4 as documented, without the SDK that created the signature.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export type S3Credentials = { accessKeyId: string; secretAccessKey: string; region: string }

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

const canonicalQuery = (query: URLSearchParams) =>
  [...query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')

const readInstant = (text: string) =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))

type Claim = { credential: string; signedHeaders: string; signature: string; date: string; payloadHash: string }

const readClaim = (request: IncomingMessage, query: URLSearchParams): Claim | undefined => {
  if (query.has('X-Amz-Signature')) {
    const value = (name: string) => query.get(`X-Amz-${name}`) ?? ''
    return {
      credential: value('Credential'),
      signedHeaders: value('SignedHeaders'),
      signature: value('Signature'),
      date: value('Date'),
      payloadHash: 'UNSIGNED-PAYLOAD',
    }
  }
  const pattern = /^AWS4-HMAC-SHA256 Credential=(\S+), ?SignedHeaders=(\S+), ?Signature=([0-9a-f]{64})$/
  const [, credential, signedHeaders, signature] = pattern.exec(request.headers.authorization ?? '') ?? []
  if (!credential || !signedHeaders || !signature) return undefined
  const date = String(request.headers['x-amz-date'])
  return { credential, signedHeaders, signature, date, payloadHash: String(request.headers['x-amz-content-sha256']) }
}

/**
 * Returns the error code if a request is too old or too new. `expires` is the lifetime of a presigned request in
 * seconds.
 */
const faultOfTime = (ageSeconds: number, expires: string | null): string | undefined => {
  if (expires && !(Number(expires) >= 1 && Number(expires) <= 604_800)) return 'AuthorizationQueryParametersError'
  if (ageSeconds > -900 && ageSeconds < Number(expires ?? 900)) return undefined
  return expires ? 'AccessDenied' : 'RequestTimeTooSkewed'
}

/** Returns the S3 error code if the signature of a request is invalid. */
export const faultOfSignature = (
  request: IncomingMessage,
  url: URL,
  body: Buffer,
  { accessKeyId, secretAccessKey, region }: S3Credentials,
): string | undefined => {
  const claim = readClaim(request, url.searchParams)
  if (!claim) return 'AccessDenied'
  const { credential, signedHeaders, signature, date, payloadHash } = claim

  const faultOfAge = faultOfTime((Date.now() - readInstant(date)) / 1000, url.searchParams.get('X-Amz-Expires'))
  if (faultOfAge) return faultOfAge

  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`
  if (credential !== `${accessKeyId}/${scope}`) return 'InvalidAccessKeyId'
  const names = signedHeaders.split(';')
  const mustBeSigned = Object.keys(request.headers).filter((name) => name === 'host' || name.startsWith('x-amz-'))
  if (mustBeSigned.some((name) => !names.includes(name))) return 'AccessDenied'

  const headers = names.map((name) => `${name}:${String(request.headers[name]).trim().replace(/ +/g, ' ')}\n`).join('')
  const path = (request.url ?? '').split('?')[0]
  const canonical = [request.method, path, canonicalQuery(url.searchParams), headers, signedHeaders, payloadHash]
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical.join('\n'))].join('\n')
  const key = scope
    .split('/')
    .reduce<string | Buffer>((previous, part) => hmac(previous, part), `AWS4${secretAccessKey}`)
  const expected = hmac(key, toSign)
  const given = Buffer.from(signature, 'hex')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'SignatureDoesNotMatch'

  // This is stricter than S3: only a presigned request may leave its body out of the signature.
  if (url.searchParams.has('X-Amz-Signature')) return undefined
  return payloadHash === sha256(body) ? undefined : 'XAmzContentSHA256Mismatch'
}
