import type { Db } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Actor } from '../platform/identity/actor.ts'
import type { Judge } from './judges/judge.ts'

/** Finds the conversations with judgments that a person may not see before they submit their own. */
export type FindBlind = (db: Db, actor: Actor, conversationIds: string[]) => Promise<string[]>

export type MonitorDeps = Deps & { judge: Pick<Judge, 'requireModel'>; findBlind: FindBlind }
