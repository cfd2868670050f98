import type { Entitlement, Feature, Role } from '../identity/actor.ts'

type Rule = {
  /** The role required to read the resource and to follow its changes. */
  role: Role
  entitlement?: Entitlement
  feature?: Feature
  /** People with an unfinished blind review don't see these changes. */
  hiddenFromBlind?: true
  /** The resource's type in audit events. Each audit event of this type is a change. */
  audited?: string
}

/** The resources for which changes are announced, by their names in paths. */
const resources = {
  conversations: { role: 'viewer' },
  /** Monitor results. The ID is the conversation's ID. */
  results: { role: 'viewer', entitlement: 'monitors', hiddenFromBlind: true },
  'bulk-actions': { role: 'viewer', audited: 'bulkAction' },
  monitors: { role: 'viewer', entitlement: 'monitors', audited: 'monitor' },
  'evaluation-runs': { role: 'viewer', entitlement: 'monitors', audited: 'run' },
  alignments: { role: 'viewer', entitlement: 'monitors', audited: 'alignment' },
  'monitor-exports': { role: 'viewer', entitlement: 'monitors', feature: 'monitorExports', audited: 'monitor-export' },
  'conversation-exports': { role: 'viewer', feature: 'monitorExports', audited: 'conversation-export' },
  'export-schedules': {
    role: 'viewer',
    entitlement: 'monitors',
    feature: 'monitorExports',
    audited: 'export-schedule',
  },
  experiments: { role: 'viewer', audited: 'experiment' },
  'experiment-exports': { role: 'viewer', feature: 'monitorExports', audited: 'experiment-export' },
  'monitor-groups': { role: 'viewer', audited: 'monitor-group' },
  findings: { role: 'viewer', audited: 'finding' },
  buckets: { role: 'viewer', audited: 'bucket' },
  reviews: { role: 'viewer', hiddenFromBlind: true, audited: 'review' },
  agents: { role: 'viewer', audited: 'agent' },
  'agent-groups': { role: 'viewer', audited: 'agentGroup' },
  companies: { role: 'viewer', audited: 'company' },
  'saved-views': { role: 'viewer', audited: 'savedView' },
  boards: { role: 'viewer', audited: 'board' },
  'alert-rules': { role: 'viewer', audited: 'alertRule' },
  'alert-incidents': { role: 'viewer', audited: 'alertIncident' },
  destinations: { role: 'viewer', audited: 'destination' },
  'model-providers': { role: 'admin', audited: 'modelProvider' },
  'webhook-endpoints': { role: 'viewer', audited: 'webhookEndpoint' },
  integrations: { role: 'member', audited: 'integration' },
  members: { role: 'viewer', audited: 'member' },
  organization: { role: 'viewer', audited: 'organization' },
  'api-keys': { role: 'admin', audited: 'apiKey' },
  health: { role: 'viewer' },
  'failed-jobs': { role: 'admin', audited: 'job' },
  notifications: { role: 'viewer' },
} as const satisfies Record<string, Rule>

export type Resource = keyof typeof resources

export const resourceNames = Object.keys(resources) as Resource[]

export const ruleOf = (resource: Resource): Rule => resources[resource]

const byAuditedType = new Map<string, Resource>(
  resourceNames.flatMap((name) => {
    const { audited } = ruleOf(name)
    return audited === undefined ? [] : [[audited, name] as const]
  }),
)

/** Returns the resource that audit events of this type change, or undefined if its changes are not announced. */
export const resourceOfTarget = (type: string): Resource | undefined => byAuditedType.get(type)
