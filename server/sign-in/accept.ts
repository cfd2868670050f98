import type { Deps } from '../deps.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { ApiError, invalid } from '../platform/errors.ts'
import { hashKey } from '../platform/identity/keys.ts'
import { newId } from '../platform/ids.ts'
import { organizationOfToken } from './invite.ts'
import type { Library } from './library.ts'
import { hasIdentity } from './oidc/queries.ts'
import {
  acceptInvitation,
  deleteSessionsOfUser,
  findInvitation,
  findPasswordHash,
  insertPassword,
  replacePassword,
  updateJoined,
  updateUserName,
} from './queries.ts'
import type { InvitationAcceptance } from './schema.ts'

const usedUp = () => new ApiError('gone', 'This link was used already. Sign in, or ask an admin for a fresh link.')

/** The open invitation of a token. */
export const getInvitation = async ({ db, clock }: Deps, token: string) => {
  const org = organizationOfToken(token)
  const invitation = org && (await findInvitation(db, org, hashKey(token)))
  if (!invitation) {
    throw invalid('token', 'is not one of an open invitation: the link is incomplete, or a fresher one replaced it')
  }
  if (invitation.suspendedAt) throw new ApiError('forbidden', 'The organization is suspended.')
  if (invitation.acceptedAt) throw usedUp()
  if (invitation.expiresAt <= clock.now()) {
    throw new ApiError('gone', 'This link has expired. Ask an admin for a fresh one.')
  }
  return { ...invitation, org: org as OrgId }
}

/**
 * What is to be stored for the password given: nothing where the present one is asked for, and given. Hashing is slow
 * on purpose, so it is done before the transaction.
 */
const checkPassword = async (library: Library, present: string | undefined, password: string) => {
  if (present === undefined) {
    if ([...password].length < 12) throw invalid('password', 'must have at least 12 characters')
    return library.hashPassword(password)
  }
  if (await library.verifyPassword(password, present)) return undefined
  throw new ApiError('unauthorized', 'This address has a password already, and it is another one.')
}

type Offer = Pick<Awaited<ReturnType<typeof getInvitation>>, 'userId' | 'byOperator'>

/** An account that lacks a password is not for the first admin who invites its address, and so has the link. */
const refuseIssuersOwn = async (db: Db, userId: string): Promise<void> => {
  if (!(await hasIdentity(db, userId))) return
  throw new ApiError(
    'conflict',
    'This address signs in by OpenID Connect: sign in that way, then accept the invitation. A link of the operator sets a password.',
  )
}

/** The password that accepting asks for; none where a new one is to be chosen. */
export const findPasswordAsked = async (db: Db, { userId, byOperator }: Offer): Promise<string | undefined> => {
  if (byOperator) return undefined
  const present = await findPasswordHash(db, userId)
  if (present === undefined) await refuseIssuersOwn(db, userId)
  return present
}

/** Stores a chosen password and answers whether it replaced one. Only a new account is named here. */
const setPassword = async (trx: Db, { userId, byOperator }: Offer, hash: string, name: string): Promise<boolean> => {
  // The issuer may have vouched for them since the password was asked for.
  if (!byOperator) await refuseIssuersOwn(trx, userId)
  if (await insertPassword(trx, newId(), userId, hash)) {
    await updateUserName(trx, userId, name)
    return false
  }
  // Another organization's invitation may have been accepted meanwhile, with another password.
  if (!byOperator) throw new ApiError('conflict', 'A password was set for this address a moment ago; use that one.')
  await replacePassword(trx, userId, hash)
  await deleteSessionsOfUser(trx, userId)
  return true
}

/** Makes a member of the invited, once, and answers where and with which address to sign in. */
export const accept = async (deps: Deps, library: Library, requestId: string, body: InvitationAcceptance) => {
  const { token, name, password } = body
  const invitation = await getInvitation(deps, token)
  const { id, org, userId, memberId, email, joinedAt, byOperator } = invitation
  const newHash = await checkPassword(library, await findPasswordAsked(deps.db, invitation), password)
  // A person whose password is replaced may have sessions in any of several organizations, so all is forgotten.
  await deps.identity.change(byOperator ? '' : org, async (trx) => {
    const now = deps.clock.now()
    // The member before the invitation, in the order in which a fresh link locks them.
    await updateJoined(trx, org, memberId, name, now)
    if (!(await acceptInvitation(trx, org, id, now))) throw usedUp()
    const actor = { kind: 'user', org, keyId: null, userId, requestId } as const
    if (newHash !== undefined && (await setPassword(trx, invitation, newHash, name))) {
      await recordAudit(trx, actor, 'user.resetPassword', { type: 'user', id: userId })
    }
    if (!joinedAt) await recordAudit(trx, actor, 'member.join', { type: 'member', id: memberId })
  })
  return { org, email }
}
