import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'

/** The expiry (ISO 8601) in every token, or null. */
export type Expiring = { expiresAt: string | null }

export type TokenReading<T> = { state: 'valid'; payload: T } | { state: 'expired' } | { state: 'invalid' }

const invalid = { state: 'invalid' } as const
const nonceBytes = 12
const tagBytes = 16

const hmac = (key: Buffer, text: string | Buffer) => createHmac('sha256', key).update(text).digest()

/**
 * Encrypts a payload into URL-safe text that reveals nothing. The nonce is derived from the payload, so a payload
 * always produces the same token, and no nonce is used twice.
 */
export const sealToken = <T extends Expiring>(key: Buffer, payload: T): string => {
  const plain = Buffer.from(JSON.stringify(payload))
  const nonce = hmac(hmac(key, 'nonce'), plain).subarray(0, nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

const openToken = (key: Buffer, token: string): string | undefined => {
  const bytes = Buffer.from(token, 'base64url')
  // Decoding ignores invalid characters and unused last bits, but each token must only have one valid text.
  if (bytes.length <= nonceBytes + tagBytes || bytes.toString('base64url') !== token) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    const plain = decipher.update(bytes.subarray(nonceBytes, -tagBytes))
    return Buffer.concat([plain, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/**
 * Reads a signed token, `payload.signature`. Earlier versions created such tokens, and stored URLs of logos contain
 * them.
 */
const openSignedToken = (key: Buffer, token: string): string | undefined => {
  const dot = token.indexOf('.')
  if (dot < 1) return undefined
  const given = Buffer.from(token.slice(dot + 1))
  const expected = Buffer.from(hmac(key, token.slice(0, dot)).toString('base64url'))
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  return Buffer.from(token.slice(0, dot), 'base64url').toString('utf8')
}

/** Reads a token. Each kind of token has its own key (`Secrets.derive`), so that it can't be used as another kind. */
export const readToken = <T extends Expiring>(key: Buffer, token: string, now: Date): TokenReading<T> => {
  const text = token.includes('.') ? openSignedToken(key, token) : openToken(key, token)
  if (text === undefined) return invalid
  // Only this service has the key, so it has created this payload itself.
  const payload = JSON.parse(text) as T
  const expired = payload.expiresAt !== null && !(Date.parse(payload.expiresAt) > now.getTime())
  return expired ? { state: 'expired' } : { state: 'valid', payload }
}
