// Defines who can do what. Nothing is read from the tested code. If the documentation doesn't answer a question, the
// stricter choice applies: viewers cannot see connections, and only admins change automatic deliveries or monitor
// groups.
import type { Entitlement, Feature, Role } from '../../server/platform/identity/actor.ts'

export type Rule =
  /** Everyone, without credentials. */
  | 'anyone'
  /** Anyone who signs in with a password or an invitation, but not from a page of another site. */
  | 'visitor'
  /** Anyone with a session, but no API keys. */
  | 'session'
  /** A provider, which signs its requests. */
  | 'signature'
  | 'service'
  | { role: Role; entitlement?: Entitlement; feature?: Feature }

type Line = [operations: RegExp, rule: Rule]

const withoutRole: Line[] = [
  [/^GET \/(healthz|readyz|files\/\{token\}|auth\/ways)$/, 'anyone'],
  // The token of a link is in the body.
  [/^POST \/v1\/shared-board(\/query)?$/, 'anyone'],
  [/^POST \/auth\/(sign-in\/email|invitation|invitation\/check|forgotten-password|address\/confirm)$/, 'visitor'],
  [
    /^POST \/auth\/(sign-out|sign-out-everywhere|change-password|address|organization|invitations\/(accept|decline))$/,
    'session',
  ],
  [/^GET \/auth\/(organizations|invitations)$/, 'session'],
  [/^POST \/v1\/integrations\/\{id\}\/webhook$/, 'signature'],
  [/^\w+ \/v1\/organizations(\/|$)/, 'service'],
]

/** The first line that matches applies. */
const roleOf: [operations: RegExp, role: Role][] = [
  // Only admins manage API keys, the audit log, settings, members, and integrations.
  [/^\w+ \/v1\/(api-keys|audit-events)/, 'admin'],
  [/^(POST|PATCH|DELETE) \/v1\/(organization|members)(\/|$)/, 'admin'],
  [/^(POST|PUT|PATCH|DELETE) \/v1\/integrations(\/\{id\}.*)?$/, 'admin'],
  // Raw payloads of a provider are only for admins.
  [/^GET \/v1\/integrations\/\{id\}\/deliveries\/\{deliveryId\}$/, 'admin'],
  [/^GET \/v1\/otlp\/unread-traces\/spans$/, 'admin'],
  // Sealed originals contain what was redacted.
  [/^POST \/v1\/conversations\/\{id\}\/recording\/original$/, 'admin'],
  // Only admins can let data leave the organization automatically.
  [/^DELETE \/v1\/webhook-endpoints\/\{id\}$/, 'admin'],
  [/^POST \/v1\/webhook-endpoints\/\{id\}\/(approve|disable|rotate-secret)$/, 'admin'],
  [/^POST \/v1\/export-schedules\/\{id\}\/run$/, 'member'],
  [/^(POST|PATCH|DELETE) \/v1\/export-schedules/, 'admin'],
  [/^(POST|DELETE) \/v1\/boards\/\{id\}\/shares/, 'admin'],
  [/^GET \/v1\/boards\/\{id\}\/shares/, 'member'],
  // Only admins launch and finish experiments, and change monitor groups.
  [/^POST \/v1\/experiments(\/\{id\}\/finish)?$/, 'admin'],
  [/^(PATCH|DELETE) \/v1\/experiments\/monitor-groups\//, 'admin'],
  // Viewers cannot see connections.
  [/^GET \/v1\/(integrations|otlp)/, 'member'],
  [/^(POST|PATCH|DELETE) \/v1\/destinations/, 'admin'],
  [/^\w+ \/v1\/failed-jobs/, 'admin'],
  // Using a model provider's key costs money. Members can only choose among the models.
  [/^\w+ \/v1\/model-providers/, 'admin'],
  [/^GET \/v1\/models$/, 'member'],
  [/^GET \/v1\/destinations\/\{id\}\/deliveries/, 'member'],
  [/^GET \/v1\/webhook-endpoints\/\{id\}\/deliveries/, 'member'],
  // Viewers can read, which includes queries by POST, and exports.
  [/^GET \/v1\//, 'viewer'],
  [/^POST \/v1\/(conversations\/(search|count)|alert-rules\/preview|analytics\/(query|explain|compare))$/, 'viewer'],
  [/^POST \/v1\/findings\/similar$/, 'viewer'],
  [/^POST \/v1\/((monitor|conversation)-exports(\/preview)?|experiments\/\{id\}\/exports)$/, 'viewer'],
  // Everyone changes their own notifications.
  [/^(POST|PUT) \/v1\/notification/, 'viewer'],
  // Everything else writes, so it needs a member.
  [/^(POST|PUT|PATCH|DELETE) \/v1\//, 'member'],
]

const entitlementOf: [operations: RegExp, entitlement: Entitlement][] = [
  [/^\w+ \/v1\/(monitors|monitor-templates|monitor-results|monitor-exports|export-schedules)(\/|$)/, 'monitors'],
  [/^\w+ \/v1\/conversations\/\{id\}\/results$/, 'monitors'],
  [/^POST \/v1\/topics\/\{id\}\/monitor$/, 'monitors'],
  [/^\w+ \/v1\/reviews\/\{id\}\/scorecards$/, 'monitors'],
  [/^\w+ \/v1\/(customer-metrics|conversations\/\{id\}\/metrics)(\/|$)/, 'metrics'],
  [/^POST \/v1\/experiments$/, 'observability'],
]

const featureOf: [operations: RegExp, feature: Feature][] = [
  [
    /^\w+ \/v1\/(monitor-exports|conversation-exports|export-schedules|experiments\/\{id\}\/exports)(\/|$)/,
    'monitorExports',
  ],
  [/^POST \/v1\/experiments$/, 'experimentsV2'],
]

const firstOf = <T>(lines: [RegExp, T][], name: string): T | undefined => lines.find(([fits]) => fits.test(name))?.[1]

/** Returns undefined if the documentation does not say. */
export const ruleOf = (name: string): Rule | undefined => {
  const rule = firstOf(withoutRole, name)
  if (rule) return rule
  const role = firstOf(roleOf, name)
  if (!role) return undefined
  const [entitlement, feature] = [firstOf(entitlementOf, name), firstOf(featureOf, name)]
  return { role, ...(entitlement && { entitlement }), ...(feature && { feature }) }
}
