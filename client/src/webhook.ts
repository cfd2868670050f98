import type { Schemas } from './schema.ts'

/** Verifies webhooks according to Standard Webhooks. */

type Subscribable = Schemas['WebhookEndpoint']['events'][number]

type Pascal<T extends string> = T extends `${infer First}_${infer Rest}`
  ? `${Capitalize<First>}${Pascal<Rest>}`
  : Capitalize<T>

/** An event's data is the resource that its type begins with: `monitor_export.completed` contains a MonitorExport. */
type DataOf<T extends string> = T extends 'webhook.test'
  ? { endpointId: string; name: string }
  : T extends `${infer Kind}.${string}`
    ? Pascal<Kind> extends keyof Schemas
      ? Schemas[Pascal<Kind>]
      : unknown
    : unknown

/** More types will be added. Ignore those you don't know. */
export type WebhookEvent = {
  [T in Subscribable | 'webhook.test']: { type: T; timestamp: string; data: DataOf<T> }
}[Subscribable | 'webhook.test']

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/** A Headers object or a similar one, or a plain object. */
type HeadersGiven = { get: (name: string) => string | null } | Record<string, string | string[] | undefined>

export type WebhookToVerify = {
  /** The raw body as bytes or text, before it is parsed. */
  body: string | Uint8Array | ArrayBuffer
  headers: HeadersGiven
  /** The secret, `whsec_…`, or several during a rotation. */
  secret: string | string[]
  /** The maximum age of the signature in seconds. Defaults to 300. */
  toleranceSeconds?: number
}

const headerIn = (headers: HeadersGiven, name: string): string => {
  const found =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]
  const value = Array.isArray(found) ? found[0] : found
  if (!value) throw new WebhookVerificationError(`The header ${name} is missing`)
  return value
}

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

const keyOf = (secret: string) => {
  // The secret often comes from an environment variable, which may be missing.
  const bytes = fromBase64(String(secret ?? '').replace(/^whsec_/, ''))
  if (!bytes?.length) throw new TypeError('The secret must start with whsec_, followed by base64')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

const join = (prefix: string, body: WebhookToVerify['body']): Uint8Array<ArrayBuffer> => {
  const encoder = new TextEncoder()
  const [head, rest] = [encoder.encode(prefix), typeof body === 'string' ? encoder.encode(body) : new Uint8Array(body)]
  const whole = new Uint8Array(head.length + rest.length)
  whole.set(head)
  whole.set(rest, head.length)
  return whole
}

/** Returns the event if one of the secrets signed it recently. Use `webhook-id` to detect duplicates. */
export const verifyWebhook = async ({
  body,
  headers,
  secret,
  toleranceSeconds = 300,
}: WebhookToVerify): Promise<WebhookEvent> => {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof ArrayBuffer
  if (!isRaw) throw new TypeError('body must be the raw request body, not parsed JSON')
  const id = headerIn(headers, 'webhook-id')
  const timestamp = headerIn(headers, 'webhook-timestamp')
  const signatures = headerIn(headers, 'webhook-signature').split(' ')
  const isNear = Math.abs(Date.now() / 1_000 - Number(timestamp)) <= toleranceSeconds
  if (!/^\d{1,12}$/.test(timestamp) || !isNear) {
    throw new WebhookVerificationError('The timestamp of the signature is too old or in the future')
  }
  const signed = join(`${id}.${timestamp}.`, body)
  const given = signatures
    .filter((signature) => signature.startsWith('v1,'))
    .slice(0, 10)
    .flatMap((signature) => fromBase64(signature.slice(3)) ?? [])
  const keys = await Promise.all([secret].flat().map(keyOf))
  // The runtime compares in constant time.
  const checks = keys.flatMap((key) => given.map((each) => crypto.subtle.verify('HMAC', key, each, signed)))
  if (!(await Promise.all(checks)).includes(true)) throw new WebhookVerificationError('No signature matches')
  // The signature proves that the server has written this content.
  return JSON.parse(new TextDecoder().decode(signed.subarray(id.length + timestamp.length + 2))) as WebhookEvent
}
