import type { Db } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { isBlind } from './queries.ts'

/** Refuses what others and the monitors say of a conversation to who is to review it blind, until the own answer is given. */
export const requireOwnAnswer = async (db: Db, { org, userId }: Actor, conversationId: string): Promise<void> => {
  if (!(await isBlind(db, org, userId, conversationId))) return
  throw new ApiError('forbidden', 'You have a blind review of this conversation. Complete or skip it first.')
}
