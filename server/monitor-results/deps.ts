import type { Db } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Actor } from '../platform/identity/actor.ts'

/** Rejects reading the results of a conversation that the person still has to review blind. Reviews implement it. */
type RequireOwnAnswer = (db: Db, actor: Actor, conversationId: string) => Promise<void>

export type ResultDeps = Deps & { requireOwnAnswer: RequireOwnAnswer }
