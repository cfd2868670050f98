import { createHmac, timingSafeEqual } from 'node:crypto'

/** What every token holds: the instant (ISO 8601) after which it says nothing any more, or null. */
export type Expiring = { expiresAt: string | null }

export type TokenReading<T> = { state: 'valid'; payload: T } | { state: 'expired' } | { state: 'invalid' }

const sign = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest('base64url')

/** `base64url(payload).base64url(hmac)`. The payload can be read by anyone who has the token. */
export const signToken = <T extends Expiring>(key: Buffer, payload: T): string => {
  const text = Buffer.from(JSON.stringify(payload)).toString('base64url')
  return `${text}.${sign(key, text)}`
}

/** Give each kind of token a key of its own (`Secrets.derive`), so that none is taken for another. */
export const readToken = <T extends Expiring>(key: Buffer, token: string, now: Date): TokenReading<T> => {
  const dot = token.indexOf('.')
  if (dot < 1) return { state: 'invalid' }
  // Texts are compared, not decoded bytes: base64url has several texts for some bytes, and only one was issued.
  const given = Buffer.from(token.slice(dot + 1))
  const expected = Buffer.from(sign(key, token.slice(0, dot)))
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { state: 'invalid' }
  // The signature shows that signToken wrote this text, with a payload of the kind that the key stands for.
  const payload = JSON.parse(Buffer.from(token.slice(0, dot), 'base64url').toString('utf8')) as T
  const expired = payload.expiresAt !== null && !(Date.parse(payload.expiresAt) > now.getTime())
  return expired ? { state: 'expired' } : { state: 'valid', payload }
}
