import type { FastifyRequest } from 'fastify'
import { organizationOfToken } from '../../members/invitations/invite.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Db } from '../../platform/db/database.ts'
import { ApiError, invalid } from '../../platform/errors.ts'
import { hashKey } from '../../platform/identity/keys.ts'
import { newId, orgIdOf } from '../../platform/ids.ts'
import { isPlaceholder } from '../address/placeholder.ts'
import { updateUserEmail } from '../address/queries.ts'
import type { SignInDeps } from '../deps.ts'
import type { Library } from '../library.ts'
import { hasIdentity } from '../oidc/queries.ts'
import {
  acceptInvitation,
  deleteSessionsOfUser,
  findInvitation,
  findPasswordHash,
  insertPassword,
  replacePassword,
  updateJoined,
  updateUserName,
} from '../queries.ts'
import type { InvitationAcceptance } from '../schema.ts'
import { isLongEnough, isStrong, requireStrong, tooShort } from '../strength/strength.ts'

const usedUp = () => new ApiError('gone', 'This link has already been used. Sign in, or ask an admin for a new link.')

/** Returns the open invitation of a token. */
export const getInvitation = async ({ db, clock }: SignInDeps, token: string) => {
  const org = organizationOfToken(token)
  const invitation = org && (await findInvitation(db, org, hashKey(token)))
  if (!invitation) {
    throw invalid('token', 'does not belong to an open invitation: the link is incomplete, or a newer one replaced it')
  }
  if (invitation.suspendedAt) throw new ApiError('forbidden', 'The organization is suspended.')
  if (invitation.acceptedAt) throw usedUp()
  if (invitation.expiresAt <= clock.now()) {
    throw new ApiError('gone', 'This link has expired. Ask an admin for a new one.')
  }
  return { ...invitation, org: orgIdOf(org) }
}

type Invited = Awaited<ReturnType<typeof getInvitation>>

/**
 * Returns the error for a weak password. It is the same for a known address and a new one, because the inviter has the
 * link and must not learn which it is.
 */
const weak = () =>
  invalid(
    'password',
    'is not the password of an existing account with this address, and too easy to guess for a new one: use four or more ' +
      'unrelated words or a password manager',
  )

const wrongPassword = () =>
  new ApiError(
    'unauthorized',
    'This is not the password of the account with this address. If you usually sign in with your organization’s account, ' +
      'accept the invitation by signing in with it.',
  )

/**
 * Returns whether the account only uses single sign-on. The first admin who invites its address must not be able to
 * take it over.
 */
const isOfIssuer = async (db: Db, userId: string): Promise<boolean> =>
  (await findPasswordHash(db, userId)) === undefined && (await hasIdentity(db, userId))

/** A hash that matches no password. Comparing with it takes as long as with any other hash. */
const nobodysHash = `${'0'.repeat(32)}:${'0'.repeat(128)}`

type Body = Pick<InvitationAcceptance, 'password' | 'name'>

/**
 * Returns the hash to store for the given password, or nothing if it is the account's current password. Runs before the
 * transaction, because hashing is slow on purpose.
 */
const checkPassword = async (deps: SignInDeps, library: Library, invited: Invited, { password, name }: Body) => {
  const { userId, email, byOperator, organizationName } = invited
  const known = [email, name, organizationName]
  if (byOperator) {
    await requireStrong('password', password, known)
    return library.hashPassword(password)
  }
  if (!isLongEnough(password)) throw invalid('password', tooShort)
  const present = await findPasswordHash(deps.db, userId)
  const [isPresent, strong] = await Promise.all([
    library.verifyPassword(password, present ?? nobodysHash),
    isStrong(password, known),
  ])
  if (present !== undefined && isPresent) return undefined
  if (!strong) throw weak()
  if (present !== undefined || (await isOfIssuer(deps.db, userId))) throw wrongPassword()
  return library.hashPassword(password)
}

/** Stores a chosen password. Returns whether it replaced one. Only a new account gets a name here. */
const setPassword = async (trx: Db, { userId, byOperator }: Invited, hash: string, name: string): Promise<boolean> => {
  // The issuer may have verified the person's address since the password was requested.
  if (!byOperator && (await isOfIssuer(trx, userId))) throw wrongPassword()
  if (await insertPassword(trx, newId(), userId, hash)) {
    await updateUserName(trx, userId, name)
    return false
  }
  // Another invitation may have been accepted in the meantime, with another password.
  if (!byOperator) throw wrongPassword()
  await replacePassword(trx, userId, hash)
  await deleteSessionsOfUser(trx, userId)
  return true
}

/** Returns the address that the first person of an instance chooses in place of the initial one. */
const chosenEmail = ({ email: present }: Invited, { email }: InvitationAcceptance): string | undefined => {
  if (email === undefined) return undefined
  if (!isPlaceholder(present)) throw invalid('email', 'is already set; change it in your profile after joining')
  return email.toLowerCase()
}

/** Makes the invited person a member. Works once, and returns where and with which address to sign in. */
export const accept = async (
  deps: SignInDeps,
  library: Library,
  request: FastifyRequest,
  body: InvitationAcceptance,
) => {
  const { token, name } = body
  const invited = await getInvitation(deps, token)
  const { id, org, userId, memberId, joinedAt, byOperator, invitedByUserId } = invited
  const email = chosenEmail(invited, body)
  const attempt = byOperator ? undefined : await deps.attempts.begin(request, invited.email)
  const newHash = await checkPassword(deps, library, invited, body).catch((error: unknown) => {
    attempt?.fail(request.id)
    throw error
  })
  // If the password was replaced, the person may have sessions in several organizations, so all caches are dropped.
  await deps.identity.change(byOperator ? '' : org, async (trx) => {
    const now = deps.clock.now()
    // The member is locked before the invitation, in the same order as when a new link is created.
    await updateJoined(trx, org, memberId, name, now)
    if (!(await acceptInvitation(trx, org, id, now))) throw usedUp()
    const actor = { kind: 'user', org, keyId: null, userId, requestId: request.id } as const
    if (email !== undefined) await updateUserEmail(trx, userId, email)
    if (newHash !== undefined && (await setPassword(trx, invited, newHash, name))) {
      await recordAudit(trx, actor, 'user.resetPassword', { type: 'user', id: userId })
    }
    if (joinedAt) return
    await recordAudit(trx, actor, 'member.join', { type: 'member', id: memberId })
    await deps.reactions.memberJoined(trx, org, { memberId, userId, invitedByUserId })
  })
  const signsInWith = email ?? invited.email
  await attempt?.succeed()
  return { org, email: signsInWith, device: await deps.attempts.succeed(request, signsInWith) }
}
