import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readToken, signToken } from './signed-token.ts'

const key = Buffer.alloc(32, 7)
const now = new Date('2027-03-01T12:00:00.000Z')

test('reads back any payload from a text that a URL takes as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      const token = signToken(key, { name, expiresAt: null })
      expect(token).toMatch(/^[\w-]+\.[\w-]{43}$/)
      expect(readToken(key, token, now)).toEqual({ state: 'valid', payload: { name, expiresAt: null } })
    }),
  )
})

test('expires at its instant, not after it', () => {
  const token = signToken(key, { expiresAt: now.toISOString() })
  expect(readToken(key, token, new Date(now.getTime() - 1))).toMatchObject({ state: 'valid' })
  expect(readToken(key, token, now)).toEqual({ state: 'expired' })
  expect(readToken(key, signToken(key, { expiresAt: 'no date' }), now)).toEqual({ state: 'expired' })
})

test('is invalid when any character is another one, is missing or is added', () => {
  const token = signToken(key, { name: 'calls.csv', expiresAt: null })
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

test('is invalid under another key, and so are foreign texts', () => {
  const token = signToken(key, { expiresAt: null })
  expect(readToken(Buffer.alloc(32, 8), token, now)).toEqual({ state: 'invalid' })
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(readToken(key, text, now)).toEqual({ state: 'invalid' })
    }),
  )
})
