import type { OrgId } from '../db/database.ts'

/** In rising order: each may do all that the ones before it may. */
export const roles = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

export const hasRole = (held: Role, needed: Role): boolean => roles.indexOf(held) >= roles.indexOf(needed)

export const lowerRole = (a: Role, b: Role): Role => (hasRole(a, b) ? b : a)

export const entitlementNames = ['monitors', 'observability', 'metrics'] as const
export type Entitlement = (typeof entitlementNames)[number]

export const featureNames = ['monitorExports', 'exportWebhooks', 'experimentsV2', 'phiMode'] as const
export type Feature = (typeof featureNames)[number]

/** Who calls, for one organization. A key acts for the person who made it. */
export type Actor = {
  kind: 'key' | 'user'
  org: OrgId
  keyId: string | null
  userId: string
  role: Role
  suspended: boolean
  entitlements: Record<Entitlement, boolean>
  features: Record<Feature, boolean>
  requestId: string
  /** What the caller names the request by, if it does. */
  callerRequestId?: string | undefined
}

/** The operator's key, which provisions organizations and reaches nothing inside them. */
export type ServiceActor = {
  kind: 'service'
  /** Null for the key that the configuration names. */
  keyId: string | null
  requestId: string
  /** What the caller names the request by, if it does. */
  callerRequestId?: string | undefined
}
