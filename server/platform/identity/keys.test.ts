import fc from 'fast-check'
import { expect, it } from 'vitest'
import { generateKey, hashKey, isKeyShaped, keyPrefix } from './keys.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

it('a key is ear_, 32 random characters, and a checksum of 6', () => {
  const keys = Array.from({ length: 2_000 }, generateKey)
  expect(new Set(keys).size).toBe(keys.length)
  for (const key of keys) {
    expect(key).toMatch(/^ear_[0-9A-Za-z]{38}$/)
    expect(isKeyShaped(key)).toBe(true)
    expect(keyPrefix(key)).toBe(key.slice(0, 8))
  }
  const seen = new Set(keys.flatMap((key) => [...key.slice(4, 36)]))
  expect([...seen].sort().join('')).toBe(alphabet)
})

it('checksum and hash never change: existing keys stay valid', () => {
  const key = 'ear_4fZkW0qLx8mB2cTn7vRj5sHd1gPy9aUe4RZkIG'
  expect(isKeyShaped(key)).toBe(true)
  expect(hashKey(key)).toBe('t+s7DBYLbgNaH8XhbCYrUb5n4Qj0fcJNDx5rQPimdtY=')
})

it('a key with one changed character, or two swapped ones, is invalid', () => {
  const position = fc.integer({ min: 4, max: 41 })
  fc.assert(
    fc.property(position, position, fc.constantFrom(...alphabet), (at, other, char) => {
      const key = generateKey()
      const changed = key.slice(0, at) + char + key.slice(at + 1)
      const exchanged = [...key]
      ;[exchanged[at], exchanged[other]] = [String(key[other]), String(key[at])]
      for (const altered of [changed, exchanged.join('')]) expect(isKeyShaped(altered)).toBe(altered === key)
    }),
  )
})

it('no other text is a key', () => {
  for (const text of ['', 'ear_', `ear_${'0'.repeat(38)}`, ` ${generateKey()}`, `${generateKey()}\n`, '__proto__']) {
    expect(isKeyShaped(text)).toBe(false)
  }
})
