import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'

/** What every token holds: the instant (ISO 8601) after which it no longer counts, or null. */
export type Expiring = { expiresAt: string | null }

export type TokenReading<T> = { state: 'valid'; payload: T } | { state: 'expired' } | { state: 'invalid' }

const invalid = { state: 'invalid' } as const
const nonceBytes = 12
const tagBytes = 16

const hmac = (key: Buffer, text: string | Buffer) => createHmac('sha256', key).update(text).digest()

/**
 * Seals a payload into a text that a URL takes as it is and that tells its holder nothing. The nonce comes from the
 * payload, so one payload has one token, and no nonce ever seals two.
 */
export const sealToken = <T extends Expiring>(key: Buffer, payload: T): string => {
  const plain = Buffer.from(JSON.stringify(payload))
  const nonce = hmac(hmac(key, 'nonce'), plain).subarray(0, nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

const openToken = (key: Buffer, token: string): string | undefined => {
  const bytes = Buffer.from(token, 'base64url')
  // Decoding forgives foreign characters and loose last bits; one token has one text.
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

/** Tokens of versions before the sealing were signed, `payload.signature`. Addresses of logos are stored with them. */
const openSignedToken = (key: Buffer, token: string): string | undefined => {
  const dot = token.indexOf('.')
  if (dot < 1) return undefined
  const given = Buffer.from(token.slice(dot + 1))
  const expected = Buffer.from(hmac(key, token.slice(0, dot)).toString('base64url'))
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  return Buffer.from(token.slice(0, dot), 'base64url').toString('utf8')
}

/** Give each kind of token a key of its own (`Secrets.derive`), so that none is taken for another. */
export const readToken = <T extends Expiring>(key: Buffer, token: string, now: Date): TokenReading<T> => {
  const text = token.includes('.') ? openSignedToken(key, token) : openToken(key, token)
  if (text === undefined) return invalid
  // Only who has the key can have written it, with a payload of the kind that the key stands for.
  const payload = JSON.parse(text) as T
  const expired = payload.expiresAt !== null && !(Date.parse(payload.expiresAt) > now.getTime())
  return expired ? { state: 'expired' } : { state: 'valid', payload }
}
