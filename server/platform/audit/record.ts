import type { Db, OrgId } from '../db/database.ts'
import type { Actor, ServiceActor } from '../identity/actor.ts'
import { newId } from '../ids.ts'
import { insertAuditEvent } from './queries.ts'

/** A caller, or a person who has just signed in. */
type AuditActor = Pick<Actor, 'kind' | 'org' | 'keyId' | 'userId' | 'requestId' | 'callerRequestId'>

export type AuditTarget = { type: string; id: string }

/**
 * Records who did what to which resources, in the transaction of the change. Never their content.
 * `action` is the resource and the verb, such as `company.update`.
 */
export const recordAudit = (trx: Db, actor: AuditActor, action: string, ...targets: AuditTarget[]) =>
  insertAuditEvent(trx, actor.org, {
    id: newId(),
    action,
    actor: { kind: actor.kind, keyId: actor.keyId, userId: actor.userId },
    targets,
    requestId: actor.requestId,
    callerRequestId: actor.callerRequestId ?? null,
  })

/** The same for operations of the operator on an organization. */
export const recordServiceAudit = (
  trx: Db,
  org: OrgId,
  service: ServiceActor,
  action: string,
  ...targets: AuditTarget[]
) =>
  insertAuditEvent(trx, org, {
    id: newId(),
    action,
    actor: { kind: 'service', keyId: service.keyId, userId: null },
    targets,
    requestId: service.requestId,
    callerRequestId: service.callerRequestId ?? null,
  })
