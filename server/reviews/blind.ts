import type { Db } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { isBlind, listBlind } from './queries.ts'

/** Hides a conversation's judgments and results from a blind reviewer until they have submitted their own judgments. */
export const requireOwnAnswer = async (db: Db, { org, userId }: Actor, conversationId: string): Promise<void> => {
  if (!(await isBlind(db, org, userId, conversationId))) return
  throw new ApiError('forbidden', 'You have a blind review of this conversation. Complete or skip it first.')
}

/** Returns the conversations with judgments and results that are hidden from the person. */
export const findBlind = (db: Db, { org, userId }: Actor, conversationIds: string[]): Promise<string[]> =>
  listBlind(db, org, userId, conversationIds)
