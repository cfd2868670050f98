import { randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { weekMs } from '../../platform/durations.ts'
import { hashKey } from '../../platform/identity/keys.ts'
import { newId, orgIdOf } from '../../platform/ids.ts'
import { replaceInvitation } from './queries.ts'

/** A token contains 16 bytes for the organization and 24 random ones, in base64url. */
const organizationBytes = 16
const form = /^[\w-]{54}$/

/** Returns the organization in a token. This proves nothing until the token is checked. */
export const organizationOfToken = (token: string): OrgId | undefined => {
  if (!form.test(token)) return undefined
  const hex = Buffer.from(token, 'base64url').subarray(0, organizationBytes).toString('hex')
  return orgIdOf(hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
}

export type Invitation = { token: string; expiresAt: Date }

type InvitationOptions = {
  byOperator?: boolean
  lifetimeMs?: number
  /** The person who is notified when the member joins. */
  invitedByUserId?: string | null
}

/**
 * Creates a one-time link for a member to join. Returns its token once, and only stores its hash. With `byOperator`,
 * the link also sets a new password, which applies to all of the person's organizations, so members of an organization
 * can't create such links.
 */
export const inviteMember = async (
  trx: Db,
  clock: Clock,
  org: OrgId,
  memberId: string,
  { byOperator = false, lifetimeMs = weekMs, invitedByUserId = null }: InvitationOptions = {},
): Promise<Invitation> => {
  const organization = Buffer.from(org.replaceAll('-', ''), 'hex')
  const token = Buffer.concat([organization, randomBytes(24)]).toString('base64url')
  const now = clock.now()
  const expiresAt = new Date(now.getTime() + lifetimeMs)
  const invitation = {
    id: newId(),
    memberId,
    tokenHash: hashKey(token),
    expiresAt,
    createdAt: now,
    byOperator,
    invitedByUserId,
  }
  await replaceInvitation(trx, org, invitation)
  return { token, expiresAt }
}

/** Returns the link. The token is in the URL fragment, which browsers do not send, so no server or proxy logs it. */
export const invitationUrl = (baseUrl: string, { token }: Invitation): string => `${baseUrl}/welcome#${token}`
