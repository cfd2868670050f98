import { expect, it } from 'vitest'
import { newId, orgIdOf } from '../../platform/ids.ts'
import { generateToken, hashToken, readToken } from './token.ts'

const org = orgIdOf(newId())

it('a token contains its organization and share, and differs each time', () => {
  const id = newId()
  const token = generateToken(org, id)
  expect(readToken(token)).toEqual({ org, id, tokenHash: hashToken(token) })
  expect(generateToken(org, id)).not.toBe(token)
})

it('rejects other texts', () => {
  const token = generateToken(org, newId())
  for (const text of ['', 'earb_', token.slice(1), `${token}A`, token.slice(0, -1), token.replace('earb_', 'ear_')]) {
    expect(readToken(text), text).toBeUndefined()
  }
})
