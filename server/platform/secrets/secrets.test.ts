import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openSecrets } from './secrets.ts'

const secretKey = 'a secret key of more than 32 characters'.replaceAll(' ', '-')
const secrets = openSecrets(secretKey)

describe('sealing', () => {
  test('decrypts what was sealed, also in another process', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (plain, context) => {
        expect(openSecrets(secretKey).open(secrets.seal(plain, context), context)).toBe(plain)
      }),
    )
  })

  test('never returns the same text twice and reveals nothing', () => {
    const sealed = secrets.seal('whsec_visible', 'a')
    expect(sealed).not.toBe(secrets.seal('whsec_visible', 'a'))
    expect(Buffer.from(sealed.slice(3), 'base64url').toString('latin1')).not.toContain('visible')
  })

  test('cannot decrypt with another context or key', () => {
    const sealed = secrets.seal('whsec_1', 'org-1/webhook/1')
    expect(() => secrets.open(sealed, 'org-2/webhook/1')).toThrow('cannot be decrypted')
    expect(() => openSecrets(`${secretKey}!`).open(sealed, 'org-1/webhook/1')).toThrow('cannot be decrypted')
  })

  test('rejects every modified, truncated, or foreign text', () => {
    const sealed = secrets.seal('secret', 'context')
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
        fc.pre(sealed[at] !== character)
        const altered = sealed.slice(0, at) + character + sealed.slice(at + 1)
        expect(() => secrets.open(altered, 'context')).toThrow('cannot be decrypted')
      }),
      { numRuns: 2_000 },
    )
    for (const text of ['', 'v1', 'v1.', `v2${sealed.slice(2)}`, sealed.slice(0, -1), `${sealed}A`, `${sealed}=`]) {
      expect(() => secrets.open(text, 'context')).toThrow('cannot be decrypted')
    }
  })
})

test('each purpose has its own key, always the same', () => {
  expect(secrets.derive('files')).toEqual(openSecrets(secretKey).derive('files'))
  expect(secrets.derive('files')).toHaveLength(32)
  expect(secrets.derive('files')).not.toEqual(secrets.derive('cursors'))
  expect(secrets.derive('files')).not.toEqual(openSecrets(`${secretKey}!`).derive('files'))
})
