import type { Change } from '../platform/changes/changes.ts'
import { ruleOf } from '../platform/changes/resources.ts'
import { type Actor, hasRole } from '../platform/identity/actor.ts'

/** The properties of a reader that determine which changes their stream contains. */
export type Audience = Pick<Actor, 'userId' | 'role' | 'entitlements' | 'features'> & { isBlind: boolean }

/** Returns whether the reader may request the resource and may learn that it changed. */
export const mayLearn = ({ userId, role, entitlements, features, isBlind }: Audience, change: Change): boolean => {
  const { role: needed, entitlement, feature, hiddenFromBlind } = ruleOf(change.resource)
  if (change.userIds && !change.userIds.includes(userId)) return false
  if (!hasRole(role, needed) || (isBlind && hiddenFromBlind)) return false
  return (!entitlement || entitlements[entitlement]) && (!feature || features[feature])
}

/**
 * Returns a string that is the same for all readers who may learn about the same changes, except changes that only
 * concern individual people.
 */
export const classOf = ({ role, entitlements, features, isBlind }: Audience): string =>
  JSON.stringify([role, entitlements, features, isBlind])
