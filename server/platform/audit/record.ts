import { type Change, publishChanges } from '../changes/changes.ts'
import { resourceOfTarget } from '../changes/resources.ts'
import type { Db, OrgId } from '../db/database.ts'
import type { Actor, ServiceActor } from '../identity/actor.ts'
import { newId } from '../ids.ts'
import { insertAuditEvent } from './queries.ts'

/** A caller, or a person who has just signed in. */
type AuditActor = Pick<Actor, 'kind' | 'org' | 'keyId' | 'userId' | 'requestId' | 'callerRequestId'>

export type AuditTarget = { type: string; id: string }

const creating = new Set(['create', 'launch', 'invite', 'evaluate'])
const deleting = new Set(['delete', 'remove'])
/** Verbs without visible changes. */
const harmless = new Set(['download', 'openOriginal', 'test', 'refused'])

/** Returns the changes that an audit event implies. */
const changesOf = (action: string, targets: AuditTarget[]): Change[] => {
  const verb = action.slice(action.lastIndexOf('.') + 1)
  if (harmless.has(verb)) return []
  return targets.flatMap(({ type, id }) => {
    const resource = resourceOfTarget(type)
    if (!resource) return []
    const isNamed = action.startsWith(`${type}.`) || type === 'run'
    const kind = isNamed && creating.has(verb) ? 'created' : isNamed && deleting.has(verb) ? 'deleted' : 'updated'
    return { resource, kind, ids: [id] } satisfies Change
  })
}

const record = async (
  trx: Db,
  org: OrgId,
  event: Omit<Parameters<typeof insertAuditEvent>[2], 'id' | 'reason'>,
  reason: string | null = null,
): Promise<void> => {
  await insertAuditEvent(trx, org, { id: newId(), ...event, reason })
  await publishChanges(trx, org, ...changesOf(event.action, event.targets))
}

const eventOf = (actor: AuditActor, action: string, targets: AuditTarget[]) => ({
  action,
  actor: { kind: actor.kind, keyId: actor.keyId, userId: actor.userId },
  targets,
  requestId: actor.requestId,
  callerRequestId: actor.callerRequestId ?? null,
})

/**
 * Records who did what to which resources, in the transaction of the change. Never records the content of resources.
 * Notifies clients that show the resources. `action` is the resource and the verb, such as `company.update`.
 */
export const recordAudit = (trx: Db, actor: AuditActor, action: string, ...targets: AuditTarget[]) =>
  record(trx, actor.org, eventOf(actor, action, targets))

/** Records someone's action with the reason that they gave for it. */
export const recordReasonedAudit = (
  trx: Db,
  actor: AuditActor,
  action: string,
  { reason, target }: { reason: string; target: AuditTarget },
) => record(trx, actor.org, eventOf(actor, action, [target]), reason)

/** Records an operator's action on an organization. */
export const recordServiceAudit = (
  trx: Db,
  org: OrgId,
  service: ServiceActor,
  action: string,
  ...targets: AuditTarget[]
) =>
  record(trx, org, {
    action,
    actor: { kind: 'service', keyId: service.keyId, userId: null },
    targets,
    requestId: service.requestId,
    callerRequestId: service.callerRequestId ?? null,
  })
