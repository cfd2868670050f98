import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readToken, sealToken } from './sealed-token.ts'

const key = Buffer.alloc(32, 7)
const now = new Date('2027-03-01T12:00:00.000Z')

test('returns any payload from a text that is safe in a URL', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      const token = sealToken(key, { name, expiresAt: null })
      expect(token).toMatch(/^[\w-]+$/)
      expect(readToken(key, token, now)).toEqual({ state: 'valid', payload: { name, expiresAt: null } })
    }),
  )
})

test('expires at its time, not after it', () => {
  const token = sealToken(key, { expiresAt: now.toISOString() })
  expect(readToken(key, token, new Date(now.getTime() - 1))).toMatchObject({ state: 'valid' })
  expect(readToken(key, token, now)).toEqual({ state: 'expired' })
  expect(readToken(key, sealToken(key, { expiresAt: 'no date' }), now)).toEqual({ state: 'expired' })
})

test('is invalid if any character is changed, missing, or added', () => {
  const token = sealToken(key, { name: 'calls.csv', expiresAt: null })
  for (let at = 0; at < token.length; at++) {
    for (const character of 'AZaz09-_.=% é') {
      if (token[at] === character) continue
      const altered = token.slice(0, at) + character + token.slice(at + 1)
      expect(readToken(key, altered, now), altered).toEqual({ state: 'invalid' })
    }
    expect(readToken(key, token.slice(0, at) + token.slice(at + 1), now)).toEqual({ state: 'invalid' })
  }
  fc.assert(
    fc.property(fc.nat(token.length), fc.string({ minLength: 1 }), (at, text) => {
      const altered = token.slice(0, at) + text + token.slice(at)
      expect(readToken(key, altered, now)).toEqual({ state: 'invalid' })
    }),
  )
})

test('is invalid with another key, and so are other texts', () => {
  const token = sealToken(key, { expiresAt: null })
  expect(readToken(Buffer.alloc(32, 8), token, now)).toEqual({ state: 'invalid' })
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(readToken(key, text, now)).toEqual({ state: 'invalid' })
    }),
  )
})

test('reveals nothing about its payload, and is the same for the same payload', () => {
  const payload = { key: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f/recordings/a', expiresAt: null }
  const token = sealToken(key, payload)
  expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('0197a3b0')
  expect(sealToken(key, payload)).toBe(token)
  expect(sealToken(key, { ...payload, expiresAt: now.toISOString() }).slice(0, 12)).not.toBe(token.slice(0, 12))
})

test('reads tokens of an earlier version', () => {
  const text = Buffer.from(JSON.stringify({ name: 'logo', expiresAt: null })).toString('base64url')
  const signed = `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
  expect(readToken(key, signed, now)).toEqual({ state: 'valid', payload: { name: 'logo', expiresAt: null } })
  expect(readToken(key, `${signed}x`, now)).toEqual({ state: 'invalid' })
})
