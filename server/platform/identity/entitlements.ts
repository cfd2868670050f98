import { ApiError } from '../errors.ts'
import type { Actor, Entitlement } from './actor.ts'

/** The error messages for organizations without an entitlement. */
export const entitlementOff: Record<Entitlement, string> = {
  monitors: 'Your organization needs the Monitors entitlement.',
  observability: 'Your organization needs the Observability entitlement.',
  metrics: 'Your organization needs the Metrics entitlement.',
}

/** Throws if the organization lacks the entitlement. Routes that always need it declare it instead. */
export const requireEntitlement = (actor: Pick<Actor, 'entitlements'>, entitlement: Entitlement): void => {
  if (!actor.entitlements[entitlement]) throw new ApiError('forbidden', entitlementOff[entitlement])
}
