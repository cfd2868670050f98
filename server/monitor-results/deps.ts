import type { Db } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Actor } from '../platform/identity/actor.ts'

/** Refuses the results of a conversation to a person who is still to review it blind; reviews answer it. */
type RequireOwnAnswer = (db: Db, actor: Actor, conversationId: string) => Promise<void>

export type ResultDeps = Deps & { requireOwnAnswer: RequireOwnAnswer }
