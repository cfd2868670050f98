import type { Db } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Actor } from '../platform/identity/actor.ts'

/** Returns the conversations that the person still has to review blind. The implementation is in reviews. */
type FindBlind = (db: Db, actor: Actor, conversationIds: string[]) => Promise<string[]>

export type ConversationDeps = Deps & { findBlind: FindBlind }
