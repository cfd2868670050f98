import type { Change } from '../platform/changes/changes.ts'
import { ruleOf } from '../platform/changes/resources.ts'
import { type Actor, hasRole } from '../platform/identity/actor.ts'

/** The properties of a stream's reader that decide which changes they get. */
export type Audience = Pick<Actor, 'userId' | 'role' | 'entitlements' | 'features'> & { isBlind: boolean }

/** Whether the reader could request the resource, and may know that it changed. */
export const mayLearn = ({ userId, role, entitlements, features, isBlind }: Audience, change: Change): boolean => {
  const { role: needed, entitlement, feature, hiddenFromBlind } = ruleOf(change.resource)
  if (change.userIds && !change.userIds.includes(userId)) return false
  if (!hasRole(role, needed) || (isBlind && hiddenFromBlind)) return false
  return (!entitlement || entitlements[entitlement]) && (!feature || features[feature])
}

/** The same for readers who may learn of the same changes, except those for single people. */
export const classOf = ({ role, entitlements, features, isBlind }: Audience): string =>
  JSON.stringify([role, entitlements, features, isBlind])
