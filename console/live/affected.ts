// Maps events to the queries that they make outdated, and limits how often each query is requested again.

import type { QueryKey } from '@tanstack/react-query'
import type { LiveEvent } from './event-stream.ts'

/** Placeholders in a key: any ID, the event's ID, or no further parts. */
const any = Symbol('any')
const own = Symbol('own')
const end = Symbol('end')

type KeyPart = string | typeof any | typeof own | typeof end

export type Affected = { key: KeyPart[]; everyMs: number }

const once = (seconds: number, ...key: KeyPart[]): Affected => ({ key, everyMs: seconds * 1_000 })

/**
 * The minimum number of seconds between requests for queries that aggregate many conversations. Single resources are
 * requested more often.
 */
const sumSeconds = 30

const affected: Record<string, Affected[]> = {
  // The list shows a notice about new conversations instead of moving, so it isn't requested again.
  conversations: [
    once(1, 'conversations', own),
    once(sumSeconds, 'conversations', 'count'),
    once(sumSeconds, 'analytics'),
    once(sumSeconds, 'conversations', 'newest'),
    once(1, 'first-run'),
    once(10, 'integrations', any, 'deliveries'),
  ],
  results: [
    once(1, 'conversations', own, 'results'),
    once(sumSeconds, 'conversations', 'count'),
    once(sumSeconds, 'analytics'),
    once(sumSeconds, 'monitors', any, 'trend'),
    once(sumSeconds, 'monitors', any, 'results'),
  ],
  'bulk-actions': [once(1, 'bulk-actions')],
  monitors: [
    once(2, 'monitors', 'list'),
    once(2, 'monitors', 'enabled'),
    once(2, 'monitors', 'names'),
    once(2, 'monitors', own),
  ],
  'evaluation-runs': [once(1, 'monitors', any, 'evaluations')],
  alignments: [once(1, 'monitors', any, 'alignments')],
  'monitor-exports': [once(1, 'exports', 'list', 'monitor-exports'), once(1, 'exports', 'failed')],
  'conversation-exports': [once(1, 'exports', 'list', 'conversation-exports'), once(1, 'exports', 'failed')],
  'export-schedules': [once(1, 'export-schedules')],
  experiments: [once(2, 'experiments', own, 'runs'), once(10, 'experiments')],
  'experiment-exports': [once(1, 'experiments', any, 'exports')],
  'monitor-groups': [once(2, 'monitor-groups')],
  findings: [once(1, 'findings'), once(5, 'conversations', any, 'findings')],
  buckets: [
    once(2, 'buckets', 'all'),
    once(2, 'buckets', 'names'),
    once(2, 'buckets', own, end),
    once(2, 'buckets', own, 'conversations'),
    once(15, 'buckets', own, 'progress'),
  ],
  reviews: [
    once(2, 'reviews'),
    once(2, 'conversations', any, 'reviews'),
    once(sumSeconds, 'monitors', any, 'agreement'),
  ],
  agents: [once(2, 'agents')],
  'agent-groups': [once(2, 'agentGroups')],
  companies: [once(2, 'companies')],
  'saved-views': [once(2, 'saved-views')],
  boards: [once(2, 'boards')],
  'alert-rules': [once(2, 'alert-rules', 'list'), once(2, 'alert-rules', own)],
  'alert-incidents': [once(1, 'alert-incidents')],
  destinations: [once(1, 'destinations')],
  'webhook-endpoints': [once(1, 'webhook-endpoints')],
  integrations: [once(1, 'integrations')],
  members: [once(2, 'members'), once(2, 'me')],
  organization: [once(2, 'organization'), once(2, 'me')],
  'api-keys': [once(2, 'api-keys')],
  health: [once(5, 'health')],
  'failed-jobs': [once(2, 'failed-jobs')],
  notifications: [once(1, 'notifications')],
}

/** Queries about work that someone is waiting for. */
export const awaited: Affected[] = [
  once(1, 'exports', 'list'),
  once(1, 'experiments', any, 'exports'),
  once(1, 'monitors', any, 'evaluations'),
  once(1, 'monitors', any, 'alignments'),
  once(1, 'export-schedules', any),
  once(1, 'bulk-actions'),
]

/** Every query that events keep current. */
export const allAffected = Object.values(affected).flat()

export const affectedBy = ({ resource }: Pick<LiveEvent, 'resource'>): Affected[] => affected[resource] ?? []

const isId = (part: unknown): boolean => typeof part === 'string' && /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(part)

/** Returns whether an event makes a query outdated. An event without IDs matches queries about any resource. */
export const matches = (queryKey: QueryKey, { key }: Affected, ids: ReadonlySet<string> | undefined): boolean =>
  key.every((part, at) => {
    const actual = queryKey[at]
    if (part === end) return queryKey.length === at
    if (part === any) return isId(actual)
    if (part === own) return ids ? typeof actual === 'string' && ids.has(actual) : isId(actual)
    return actual === part
  })
