import type { Db } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Actor } from '../platform/identity/actor.ts'

/**
 * Throws if a person still has to review the conversation blind and must not see its results. `server/reviews`
 * implements it.
 */
type RequireOwnAnswer = (db: Db, actor: Actor, conversationId: string) => Promise<void>

export type ResultDeps = Deps & { requireOwnAnswer: RequireOwnAnswer }
