import type { AuditTarget } from '../../platform/audit/record.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import type { Actor, Role } from '../../platform/identity/actor.ts'
import type { ActionRow } from '../queries.ts'
import type { Action } from '../schema.ts'

/** The person or key that created the action. All of its changes are attributed to this creator. */
export type Creator = Pick<Actor, 'kind' | 'org' | 'keyId' | 'userId' | 'requestId'>

export type Slice = { rows: ActionRow[]; ids: string[]; creator: Creator; now: Date }

export type Outcome = {
  conversationId: string
  outcome: 'changed' | 'unchanged' | 'failed'
  /** The tags that were added or removed. */
  tags?: string[]
}

/** Changes a slice of conversations. Conversations that were erased in the meantime have no outcome. */
type Apply<Kind extends Action> = (
  deps: Deps,
  trx: Db,
  org: OrgId,
  slice: Slice & { action: Kind },
) => Promise<Outcome[]>

/** The behavior of one kind of action. */
export type ActionKind<Kind extends Action> = {
  /** The role that the person needs when the action is created and while it runs. */
  role: Role
  targets: (action: Kind) => AuditTarget[]
  /** Throws if the action cannot start, for example because its bucket does not exist. */
  check: (db: Db, org: OrgId, action: Kind) => Promise<void>
  apply: Apply<Kind>
  /** Reverts the changes made by `apply`. Without it, the action cannot be undone. */
  undo?: Apply<Kind>
  /** Runs after an action that has completed and changed something. */
  announce?: (deps: Deps, trx: Db, org: OrgId, done: { id: string; action: Kind; byUserId: string }) => Promise<void>
  /** The reason why individual conversations fail. */
  reason?: string
}

const outcomesOf = (outcome: Outcome['outcome'], ids: string[]): Outcome[] =>
  ids.map((conversationId) => ({ conversationId, outcome }))

/** Returns the outcomes for a slice by kind. */
export const listOutcomes = (ids: { [Each in Outcome['outcome']]?: string[] }): Outcome[] => [
  ...outcomesOf('changed', ids.changed ?? []),
  ...outcomesOf('unchanged', ids.unchanged ?? []),
  ...outcomesOf('failed', ids.failed ?? []),
]

/** Returns `ids` without `some`: conversations that needed no change, or that no longer exist. */
export const without = (ids: string[], some: string[]): string[] => {
  const excluded = new Set(some)
  return ids.filter((id) => !excluded.has(id))
}
