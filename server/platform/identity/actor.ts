import type { OrgId } from '../db/database.ts'

/** Ascending: each can do everything that the ones before it can. */
export const roles = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

export const hasRole = (held: Role, needed: Role): boolean => roles.indexOf(held) >= roles.indexOf(needed)

export const lowerRole = (a: Role, b: Role): Role => (hasRole(a, b) ? b : a)

export const entitlementNames = ['monitors', 'observability', 'metrics'] as const
export type Entitlement = (typeof entitlementNames)[number]

export const featureNames = ['monitorExports', 'exportWebhooks', 'experimentsV2', 'phiMode'] as const
export type Feature = (typeof featureNames)[number]

/** The caller in one organization. A key acts for the person who created it. */
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
  /** The caller's own request ID, if any. */
  callerRequestId?: string | undefined
}

/** The operator's key, which provisions organizations and has no access to their data. */
export type ServiceActor = {
  kind: 'service'
  /** Null for the configured key. */
  keyId: string | null
  requestId: string
  /** The caller's own request ID, if any. */
  callerRequestId?: string | undefined
}
