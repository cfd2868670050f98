import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Secrets } from '../platform/secrets/secrets.ts'
import { isDeeperThan } from '../transcripts/json.ts'

/** Parses providers' payloads, and encrypts them with the service's key for storage. */

export type Parsed = { value: unknown } | { unreadable: string }

const deepest = 200

const isSound = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/**
 * Returns whether a value contains NUL or lone surrogates, which PostgreSQL can't store. The depth of the value must be
 * limited.
 */
export const holdsUnsoundText = (value: unknown): boolean => {
  if (typeof value === 'string') return !isSound(value)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(holdsUnsoundText)
  return Object.entries(value).some(([name, item]) => !isSound(name) || holdsUnsoundText(item))
}

const parseText = (text: string, contentType: string | null): Parsed => {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType ?? '')) {
    return { value: Object.fromEntries(new URLSearchParams(text)) }
  }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { unreadable: 'The payload is not JSON.' }
  }
}

export const parsePayload = (bytes: Buffer, contentType: string | null): Parsed => {
  if (!isUtf8(bytes)) return { unreadable: 'The payload is not UTF-8.' }
  const parsed = parseText(bytes.toString('utf8'), contentType)
  if ('unreadable' in parsed) return parsed
  if (isDeeperThan(parsed.value, deepest))
    return { unreadable: `The payload is nested more than ${deepest} levels deep.` }
  if (holdsUnsoundText(parsed.value)) {
    return { unreadable: 'The payload contains NUL or a lone surrogate, which cannot be stored.' }
  }
  return parsed
}

export const payloadContext = (org: string, deliveryId: string) => `${org}/delivery/${deliveryId}`

/** Encrypts a payload. Compresses it first, because encrypted data does not compress. */
export const sealPayload = async (
  secrets: Secrets,
  org: string,
  deliveryId: string,
  bytes: Buffer,
): Promise<string> => {
  const packed = await promisify(gzip)(bytes)
  return secrets.seal(packed.toString('base64'), payloadContext(org, deliveryId))
}

export const openPayload = (secrets: Secrets, org: string, deliveryId: string, sealed: string): Promise<Buffer> =>
  promisify(gunzip)(Buffer.from(secrets.open(sealed, payloadContext(org, deliveryId)), 'base64'))
