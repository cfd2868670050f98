import { randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { weekMs } from '../../platform/durations.ts'
import { hashKey } from '../../platform/identity/keys.ts'
import { newId } from '../../platform/ids.ts'
import { replaceInvitation } from './queries.ts'

/** 16 bytes that name the organization, then 24 random ones, in base64url. */
const organizationBytes = 16
const form = /^[\w-]{54}$/

/** The organization that a token names, by itself no proof of anything. */
export const organizationOfToken = (token: string): OrgId | undefined => {
  if (!form.test(token)) return undefined
  const hex = Buffer.from(token, 'base64url').subarray(0, organizationBytes).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') as OrgId
}

export type Invitation = { token: string; expiresAt: Date }

/**
 * A one-time link for a member to join by. Its token is answered once, and only its hash is kept. `byOperator` makes it
 * set a new password too, wherever the person belongs, so nobody else in an organization may ask for that.
 */
export const inviteMember = async (
  trx: Db,
  clock: Clock,
  org: OrgId,
  memberId: string,
  { byOperator = false, lifetimeMs = weekMs } = {},
): Promise<Invitation> => {
  const organization = Buffer.from(org.replaceAll('-', ''), 'hex')
  const token = Buffer.concat([organization, randomBytes(24)]).toString('base64url')
  const now = clock.now()
  const expiresAt = new Date(now.getTime() + lifetimeMs)
  const invitation = { id: newId(), memberId, tokenHash: hashKey(token), expiresAt, createdAt: now, byOperator }
  await replaceInvitation(trx, org, invitation)
  return { token, expiresAt }
}

/** The token stands behind the #, which browsers keep to themselves: no server and no proxy logs it. */
export const invitationUrl = (baseUrl: string, { token }: Invitation): string => `${baseUrl}/welcome#${token}`
