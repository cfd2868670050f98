import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { OrgId } from '../../platform/db/database.ts'
import { hashKey } from '../../platform/identity/keys.ts'
import {
  deleteOtherSessionsOfUser,
  deletePasswordBeforeOidc,
  findSessionUser,
  listInvitedAllOrgs,
  updateJoined,
} from '../queries.ts'
import { enter, type Opened } from '../session.ts'

/**
 * An address that the issuer vouches for needs no link: its person joins wherever they are invited. A password that
 * stands there from before goes with all sessions, since any admin who once invited the address may have chosen it.
 */
export const enterByOidc = async (deps: Deps, request: FastifyRequest, opened: Opened) => {
  const { db, clock, identity } = deps
  const session = await findSessionUser(db, hashKey(opened.token), clock.now())
  if (!session) throw new Error('the sign-in library opened a session that is not stored')
  const { userId } = session
  const actorIn = (org: OrgId) => ({ kind: 'user', org, keyId: null, userId, requestId: request.id }) as const
  await identity.change('', async (trx) => {
    if (await deletePasswordBeforeOidc(trx, userId)) await deleteOtherSessionsOfUser(trx, userId, session.id)
    for (const { org, memberId, name } of await listInvitedAllOrgs(trx, userId)) {
      await updateJoined(trx, org, memberId, name, clock.now())
      await recordAudit(trx, actorIn(org), 'member.join', { type: 'member', id: memberId })
    }
  })
  return enter(deps, request, opened, { action: 'session.create' })
}
