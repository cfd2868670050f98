import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

// Checks an AWS signature as the documentation describes it, independently of the library that signs:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)

const signaturePattern =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([\w;-]+), Signature=([\da-f]{64})$/

type Signing = { secretAccessKey: string; region: string; service: string }

/** Returns the access key that signed the request, or undefined if the signature is wrong. */
export const signerOf = (
  { method = '', url = '', headers }: IncomingMessage,
  body: string,
  { secretAccessKey, region, service }: Signing,
): string | undefined => {
  const match = signaturePattern.exec(headers.authorization ?? '')
  if (!match) return undefined
  const [, accessKey = '', day = '', signedRegion, signedService, names = '', signature] = match
  const time = String(headers['x-amz-date'])
  if (signedRegion !== region || signedService !== service || !time.startsWith(day)) return undefined
  const { pathname, searchParams } = new URL(url, 'http://local')
  const query = [...searchParams].map(([name, value]) => `${escaped(name)}=${escaped(value)}`).sort()
  const signed = names.split(';')
  if (!['host', 'x-amz-date'].every((name) => signed.includes(name))) return undefined
  const canonical = [
    method,
    // Every service but S3 escapes the path once more.
    pathname.split('/').map(escaped).join('/'),
    query.join('&'),
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    sha256(body),
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  return hmac(key, toSign).toString('hex') === signature ? accessKey : undefined
}
