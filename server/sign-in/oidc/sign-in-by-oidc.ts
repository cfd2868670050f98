import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { hashKey } from '../../platform/identity/keys.ts'
import { sessionSeconds } from '../../platform/identity/session-cookie.ts'
import { newId } from '../../platform/ids.ts'
import type { SignInDeps } from '../deps.ts'
import { listInvitedAllOrgs } from '../invitations/queries.ts'
import { deletePassword, deleteSessionsOfUser, listJoinedAllOrgs } from '../queries.ts'
import type { OidcIdentity, Refusal } from './issuer.ts'
import {
  deleteIdentities,
  findUserOfIdentity,
  insertIdentity,
  insertSession,
  lockUserByEmail,
  updateUserEmailVerified,
} from './queries.ts'

type User = NonNullable<Awaited<ReturnType<typeof lockUserByEmail>>>

const actorIn = (org: OrgId, userId: string, requestId: string) =>
  ({ kind: 'user', org, keyId: null, userId, requestId }) as const

/**
 * Links an identity to the person with its address. If no issuer has verified that address before, removes all other
 * ways to sign in: an admin who once invited the address may have chosen the password, and anyone may have changed
 * their own address to it.
 */
const link = async (trx: Db, identity: OidcIdentity, user: User, requestId: string): Promise<boolean> => {
  if (!user.emailVerified) {
    await deletePassword(trx, user.id)
    await deleteSessionsOfUser(trx, user.id)
    await deleteIdentities(trx, user.id)
    await updateUserEmailVerified(trx, user.id)
  }
  if (!(await insertIdentity(trx, newId(), user.id, identity))) return false
  for (const { id } of await listJoinedAllOrgs(trx, user.id)) {
    await recordAudit(trx, actorIn(id, user.id, requestId), 'user.linkIdentity', { type: 'user', id: user.id })
  }
  return true
}

/** Opens a session in the first organization that the person joined. */
const open = async (
  deps: SignInDeps,
  trx: Db,
  request: FastifyRequest,
  { id: userId, email }: Pick<User, 'id' | 'email'>,
) => {
  const token = randomBytes(24).toString('base64url')
  const org = (await listJoinedAllOrgs(trx, userId))[0]?.id ?? null
  const id = newId()
  await insertSession(trx, {
    id,
    userId,
    org,
    tokenHash: hashKey(token),
    address: request.ip,
    userAgent: request.headers['user-agent'] ?? null,
    expiresAt: new Date(deps.clock.now().getTime() + sessionSeconds * 1_000),
  })
  if (org) await recordAudit(trx, actorIn(org, userId, request.id), 'session.create', { type: 'session', id })
  const isInvited = (await listInvitedAllOrgs(trx, userId)).length > 0
  return { cookie: deps.sessionCookie.write(token), isInvited, email }
}

type Opened = Awaited<ReturnType<typeof open>>

export type Entered = { cookies: string[]; isInvited: boolean } | { refused: Refusal }

/** Signs a person in. Stores everything, including the session, or nothing. */
const enter = async (
  deps: SignInDeps,
  request: FastifyRequest,
  identity: OidcIdentity,
): Promise<Opened | { refused: Refusal }> => {
  const { db, identity: callers } = deps
  const { email } = identity
  const known = await findUserOfIdentity(db, identity)
  if (known) {
    return db.transaction().execute(async (trx) => {
      const isVouchedFor = 'address' in email && email.address.toLowerCase() === known.email
      if (isVouchedFor && !known.emailVerified) await updateUserEmailVerified(trx, known.id)
      return open(deps, trx, request, known)
    })
  }
  if ('refused' in email) return email
  // The sessions to end can be in any organization.
  return callers.change('', async (trx) => {
    const user = await lockUserByEmail(trx, email.address)
    if (!user) return { refused: 'unknown' as const }
    if (!(await link(trx, identity, user, request.id))) {
      // The same person has returned twice at the same time.
      const other = await findUserOfIdentity(trx, identity)
      if (other?.id !== user.id) throw new Error('the identity was just linked to another person')
    }
    return open(deps, trx, request, user)
  })
}

/** Signs in the person identified by the issuer. */
export const enterByOidc = async (
  deps: SignInDeps,
  request: FastifyRequest,
  identity: OidcIdentity,
): Promise<Entered> => {
  const entered = await enter(deps, request, identity)
  if ('refused' in entered) return entered
  const device = await deps.attempts.succeed(request, entered.email)
  return { cookies: [entered.cookie, device], isInvited: entered.isInvited }
}
