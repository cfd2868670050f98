import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import { findDestinationIds } from '../destinations/queries.ts'
import { type Filter, parseFilter } from '../filters/filter.ts'
import { faultOfCategory, readFieldType } from '../monitors/categories.ts'
import { findMonitors } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import type { AlertCondition } from './condition-schema.ts'
import { findMemberName, type RuleFields } from './queries.ts'
import type { RuleCreate, RuleUpdate } from './schema.ts'

/** The settings of a new rule, unless the request specifies others. */
export const defaults: Omit<RuleFields, 'name' | 'condition'> = {
  enabled: true,
  severity: 'warning',
  filter: null,
  groupBy: null,
  windowMinutes: 60,
  minimumSample: 30,
  destinationIds: [],
  ownerUserId: null,
  repeatEveryMinutes: null,
  runbookUrl: null,
}

type RuleFieldsInput = Partial<Static<typeof RuleCreate>> & Static<typeof RuleUpdate>

const lowerId = <T extends { monitorId?: string }>(condition: T): T =>
  condition.monitorId === undefined ? condition : { ...condition, monitorId: condition.monitorId.toLowerCase() }

/** Conditions that count conversations. All others are about the organization as a whole. */
const counting = new Set<AlertCondition['kind']>([
  'rate',
  'score',
  'category',
  'field',
  'signal',
  'sound',
  'volume',
  'change',
  'no_data',
])

/** Returns the parsed filter. It can't contain a period, because the rule's window moves with time. */
export const parseRuleFilter = (filter: Filter | null | undefined): object | null => {
  if (!filter) return null
  const selection = parseFilter(filter, 'filter')
  const issues = (['since', 'until', 'period'] as const)
    .filter((name) => selection[name] !== undefined)
    .map((name) => ({ path: `filter.${name}`, message: 'is not allowed; the rule’s window selects the time' }))
  if (issues.length > 0) throw invalidAll(issues)
  return Object.keys(selection).length === 0 ? null : selection
}

/** Returns the stored settings, overridden by the given ones. */
export const withGiven = (present: RuleFields | undefined, given: RuleFieldsInput): RuleFields => {
  const base = present ?? { ...defaults, name: '', condition: {} }
  const { condition, filter, destinationIds, ownerUserId, ...others } = given
  return {
    ...base,
    ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined)),
    ...(condition !== undefined && { condition: lowerId(condition as AlertCondition & { monitorId?: string }) }),
    ...(filter !== undefined && { filter: parseRuleFilter(filter) }),
    ...(destinationIds !== undefined && { destinationIds: destinationIds.map((id) => id.toLowerCase()) }),
    ...(ownerUserId !== undefined && { ownerUserId: ownerUserId?.toLowerCase() ?? null }),
  }
}

const minutesPerWeek = 10_080

/** Finds contradictory settings. */
const faultsOf = ({
  condition,
  filter,
  groupBy,
  windowMinutes,
}: Pick<RuleFields, 'condition' | 'filter' | 'groupBy' | 'windowMinutes'>): Issue[] => {
  const { kind, comparedTo } = condition as AlertCondition & { comparedTo?: string }
  if (comparedTo === 'same_weekday' && windowMinutes > minutesPerWeek) {
    return [{ path: 'windowMinutes', message: 'must be at most 10080, one week, to be compared with the week before' }]
  }
  if (counting.has(kind)) return []
  const message = `is not used by the condition ${kind}`
  return [...(filter === null ? [] : [{ path: 'filter', message }]), ...(groupBy ? [{ path: 'groupBy', message }] : [])]
}

/** Throws if settings contradict each other. */
export const checkTogether = (fields: Parameters<typeof faultsOf>[0]): void => {
  const issues = faultsOf(fields)
  if (issues.length > 0) throw invalidAll(issues)
}

type OfMonitor = { monitorId?: string; category?: string; field?: string }

/**
 * Throws if the monitor in a condition does not exist. A new condition can't use a category or field that the monitor
 * lacks.
 */
export const checkMonitor = async (
  db: Db,
  org: OrgId,
  condition: object,
  { isNew }: { isNew: boolean } = { isNew: true },
): Promise<void> => {
  const { monitorId, category, field } = condition as OfMonitor
  if (monitorId === undefined) return
  const [monitor] = await findMonitors(db, org, [monitorId])
  if (!monitor) throw invalidAll([{ path: 'condition.monitorId', message: 'is not a monitor of your organization' }])
  if (!isNew) return
  if (category !== undefined && field !== undefined) {
    throw invalidAll([{ path: 'condition.field', message: 'is not allowed with category' }])
  }
  const categoryFault = category === undefined ? undefined : faultOfCategory(monitor, category)
  if (categoryFault !== undefined) throw invalidAll([{ path: 'condition.category', message: categoryFault }])
  const type = field === undefined ? undefined : readFieldType(monitor, field)
  if (type && 'fault' in type) throw invalidAll([{ path: 'condition.field', message: type.fault }])
}

/**
 * Throws if the settings contradict each other, or if an ID in the request does not exist. IDs that were stored earlier
 * are not checked, because a resource that was deleted since must not prevent other changes. Only the monitor must
 * still exist.
 */
export const checkRuleSettings = async (
  db: Db,
  org: OrgId,
  fields: RuleFields,
  given: RuleFieldsInput,
): Promise<void> => {
  const { condition, enabled } = fields
  const destinationIds = given.destinationIds === undefined ? [] : fields.destinationIds
  const ownerUserId = given.ownerUserId === undefined ? null : fields.ownerUserId
  const known = new Set(await findDestinationIds(db, org, destinationIds))
  const issues = [
    ...faultsOf(fields),
    ...destinationIds.flatMap((id, index) =>
      known.has(id) ? [] : [{ path: `destinationIds[${index}]`, message: 'is not a destination of your organization' }],
    ),
  ]
  if (ownerUserId !== null && (await findMemberName(db, org, ownerUserId)) === undefined) {
    issues.push({ path: 'ownerUserId', message: 'is not a member of your organization' })
  }
  if (issues.length > 0) throw invalidAll(issues)
  const isNew = given.condition !== undefined
  if (enabled || isNew) await checkMonitor(db, org, condition, { isNew })
}

/** Returns whether a change makes the rule's open incidents obsolete. */
export const changesSubject = (before: RuleFields, after: RuleFields): boolean => {
  const subjectOf = ({ condition, groupBy }: RuleFields) => {
    const { kind, monitorId, category, field } = condition as AlertCondition & OfMonitor
    return JSON.stringify([kind, monitorId, category, field, groupBy])
  }
  return subjectOf(before) !== subjectOf(after)
}

/** Returns whether a change can affect whether the condition is met. */
export const changesOutcome = (before: RuleFields, after: RuleFields): boolean => {
  const questionOf = ({ enabled, condition, filter, groupBy, windowMinutes, minimumSample }: RuleFields) =>
    [enabled, condition, filter, groupBy, windowMinutes, minimumSample] as const
  return !isDeepStrictEqual(questionOf(before), questionOf(after))
}
