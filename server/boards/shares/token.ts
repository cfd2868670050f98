import { randomBytes } from 'node:crypto'
import type { OrgId } from '../../platform/db/database.ts'
import { hashKey } from '../../platform/identity/keys.ts'
import { orgIdOf } from '../../platform/ids.ts'

/**
 * A token consists of `earb_` and 56 bytes in base64url: the organization, the share, and 192 random bits. It contains
 * the organization, because a share is only looked up there.
 */
const form = /^earb_[0-9A-Za-z_-]{75}$/
const randomLength = 24

const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')

const idOf = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

export const generateToken = (org: OrgId, id: string): string =>
  `earb_${Buffer.concat([bytesOf(org), bytesOf(id), randomBytes(randomLength)]).toString('base64url')}`

/** Returns the stored form. A random token needs no slow hash. */
export const hashToken = hashKey

/** Reads a token. Returns undefined if it is malformed. */
export const readToken = (token: string): { org: OrgId; id: string; tokenHash: string } | undefined => {
  if (!form.test(token)) return undefined
  const bytes = Buffer.from(token.slice('earb_'.length), 'base64url')
  return { org: orgIdOf(idOf(bytes.subarray(0, 16))), id: idOf(bytes.subarray(16, 32)), tokenHash: hashToken(token) }
}
