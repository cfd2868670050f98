import type { OrgId } from '../db/database.ts'

/** The roles in ascending order. Each role includes the permissions of all previous roles. */
export const roles = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

export const hasRole = (held: Role, needed: Role): boolean => roles.indexOf(held) >= roles.indexOf(needed)

export const lowerRole = (a: Role, b: Role): Role => (hasRole(a, b) ? b : a)

export const entitlementNames = ['monitors', 'observability', 'metrics'] as const
export type Entitlement = (typeof entitlementNames)[number]

export const featureNames = ['monitorExports', 'exportWebhooks', 'experimentsV2', 'phiMode'] as const
export type Feature = (typeof featureNames)[number]

/** The caller within one organization. A key acts for the person who created it. */
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
  /** The request ID that the caller sent, if any. */
  callerRequestId?: string | undefined
}

/** The caller with the operator's key, which manages organizations but has no access to their data. */
export type ServiceActor = {
  kind: 'service'
  /** Null for the key in the configuration. */
  keyId: string | null
  requestId: string
  /** The request ID that the caller sent, if any. */
  callerRequestId?: string | undefined
}
