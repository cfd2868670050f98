import { parseFilter } from '../filters/filter.ts'
import type { Part, Selection } from '../filters/queries.ts'
import { findMonitors } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import { type BucketSettings, type BucketType, findReviewers } from './queries.ts'
import type { BucketCreate } from './schema.ts'
import { weekOf } from './week.ts'

export const defaults: BucketSettings = {
  name: '',
  agentId: null,
  filters: {},
  share: null,
  perWeek: null,
  reviewerUserIds: [],
  reviewsPerConversation: 1,
  monitorIds: [],
  blind: false,
  noteOnDisagreement: false,
}

type BucketInput = Partial<Omit<BucketCreate, 'type'>>

const lower = (ids: string[]) => [...new Set(ids.map((id) => id.toLowerCase()))]

/** Returns the current settings merged with the given ones. */
export const withGiven = (present: BucketSettings, given: BucketInput): BucketSettings => ({
  ...present,
  ...given,
  ...(given.agentId && { agentId: given.agentId.toLowerCase() }),
  ...(given.reviewerUserIds && { reviewerUserIds: lower(given.reviewerUserIds) }),
  ...(given.monitorIds && { monitorIds: lower(given.monitorIds) }),
  filters: given.filters === undefined ? present.filters : parseFilter(given.filters, 'filters'),
})

const bucketFaults = (filters: Selection): Issue[] => {
  const parts: [path: string, parts: (Part | undefined)[]][] = [
    ['filters.bucketId', [filters]],
    ['filters.anyOf', filters.anyOf ?? []],
    ['filters.exclude', [filters.exclude, ...(filters.exclude?.anyOf ?? [])]],
  ]
  const message = 'is not allowed in the filters of a bucket'
  return parts
    .filter(([, list]) => list.some((part) => part?.bucketId !== undefined))
    .map(([path]) => ({ path, message: path === 'filters.bucketId' ? message : `with a bucketId ${message}` }))
}

const faultsOf = (type: BucketType, { filters, agentId, share, perWeek }: BucketSettings): Issue[] => {
  const faults: Issue[] = []
  const isSampled = share !== null || perWeek !== null
  if (type === 'static' && Object.keys(filters).length > 0) {
    faults.push({ path: 'filters', message: 'must be {} for a static bucket; use the type dynamic or sampled' })
  }
  faults.push(...bucketFaults(filters))
  if (agentId !== null && filters.agentIds) {
    faults.push({ path: 'filters.agentIds', message: 'cannot be combined with agentId' })
  }
  if (type !== 'sampled' && isSampled) {
    faults.push({ path: share === null ? 'perWeek' : 'share', message: 'requires the type sampled' })
  }
  if (type === 'sampled' && (share === null) === (perWeek === null)) {
    faults.push({ path: 'share', message: 'or perWeek is required for a sampled bucket, but not both' })
  }
  return faults
}

const naming = (path: string, given: string[], known: string[], what: string): Issue[] =>
  given.flatMap((id, index) => (known.includes(id) ? [] : [{ path: `${path}[${index}]`, message: `must be ${what}` }]))

/**
 * Reports all errors at once. Only checks the people and monitors in `given`, because stored ones may have been deleted
 * in the meantime.
 */
export const requireSound = async (
  db: Db,
  org: OrgId,
  type: BucketType,
  settings: BucketSettings,
  given: BucketInput,
) => {
  const issues = faultsOf(type, settings)
  if (given.reviewerUserIds) {
    const known = await findReviewers(db, org, settings.reviewerUserIds)
    issues.push(...naming('reviewerUserIds', settings.reviewerUserIds, known, 'a member who can review'))
  }
  if (given.monitorIds) {
    const known = (await findMonitors(db, org, settings.monitorIds)).map(({ id }) => id)
    issues.push(...naming('monitorIds', settings.monitorIds, known, 'a monitor of this organization'))
  }
  if (issues.length > 0) throw invalidAll(issues)
}

/** Returns the first week that a new weekly quota samples, which is the current week. */
export const drawnUntil = ({ perWeek }: BucketSettings, now: Date): Date | null =>
  perWeek === null ? null : weekOf(now).start

const selecting = ['agentId', 'filters', 'share', 'perWeek'] as const

/** Returns whether different settings would select different conversations. */
export const selectsOtherwise = (before: BucketSettings, after: BucketSettings): boolean =>
  selecting.some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
