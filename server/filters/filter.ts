import Type, { type Static, type TSchema } from 'typebox'
import { type Period, periodUnits, readLength } from '../platform/db/periods.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import { Choice, Closed, Id, TimestampInput } from '../platform/http/schemas.ts'
import { findTimeZone, timeZoneFault } from '../platform/time-zone.ts'
import type { Selection } from './queries.ts'

/** The grammar of filters. Everything that selects conversations uses it. */

const comparing = ['eq', 'neq', 'contains', 'not_contains', 'gt', 'gte', 'lt', 'lte'] as const
const asking = ['is_set', 'is_not_set', 'is_true', 'is_false'] as const

export const Condition = Closed(
  {
    key: Type.String({ maxLength: 120, examples: ['plan'] }),
    op: Choice([...comparing, ...asking]),
    value: Type.Optional(
      Type.String({
        maxLength: 500,
        description: `Required for ${comparing.join(', ')}; ignored otherwise.`,
        examples: ['gold'],
      }),
    ),
  },
  {
    title: 'Condition',
    description: [
      'A condition on a metadata key. A missing or null key only satisfies `is_not_set`. An object or array is set and',
      'satisfies no other operator. Numbers and booleans are compared as JSON text, numbers without an exponent.',
      '`eq` and `neq` compare text; `contains` and `not_contains` search in it, ignoring case. `gt`, `gte`, `lt`, and',
      '`lte` compare numbers if both sides are decimal numbers such as `-12.5`, and times if both are ISO timestamps with',
      'an offset or `Z`, or dates such as `2026-11-21` (midnight UTC). Otherwise they do not match. `is_true` and',
      '`is_false` match booleans and the words `true` and `false`, ignoring case.',
    ].join(' '),
  },
)
export type Condition = Static<typeof Condition>

const MonitorCondition = Closed(
  {
    id: Id,
    result: Type.Optional(
      Choice(['all', 'affected', 'not_affected', 'unscored'], {
        description: 'Default: `all`, which adds no condition.',
      }),
    ),
  },
  {
    title: 'MonitorCondition',
    description: [
      'A condition on a monitor’s result, from the newest version with a result for the conversation. A missing or failed',
      'result satisfies none of `affected`, `not_affected`, and `unscored`. If every condition is `all`, one of the',
      'monitors must have any result.',
    ].join(' '),
  },
)

const List = <T extends TSchema>(item: T, description: string) =>
  Type.Optional(Type.Array(item, { minItems: 1, maxItems: 100, uniqueItems: true, description }))

const DurationSeconds = Type.Integer({ minimum: 0, maximum: 2_147_483_647 })

const channels = ['call', 'chat', 'voicemail'] as const
const directions = ['inbound', 'outbound'] as const
const statuses = ['in_progress', 'completed', 'failed'] as const
const reviewStatuses = ['none', 'pending', 'in_progress', 'completed'] as const

export const SearchText = Type.String({
  minLength: 1,
  maxLength: 500,
  description: [
    'Words that the transcript must contain, in any order, ignoring case. Use quotes for a phrase (`"late fee"`), `OR`',
    'between alternatives, and `-word` to exclude. Only exact spellings match.',
  ].join(' '),
  examples: ['refund'],
})

export const CustomerId = Type.String({ minLength: 1, maxLength: 255, examples: ['customer-4711'] })

const TimeZone = Type.String({ minLength: 1, maxLength: 64, examples: ['Europe/Berlin'] })

const PeriodInput = Closed(
  {
    last: Type.Optional(
      Type.String({
        maxLength: 6,
        description:
          'From so long ago until now: minutes (`90m`), hours (`24h`), days (`7d`), weeks (`4w`), or months (`12mo`).',
        examples: ['7d'],
      }),
    ),
    current: Type.Optional(Choice(periodUnits, { description: 'Today, or this week, month, quarter, or year.' })),
    previous: Type.Optional(
      Choice(periodUnits, { description: 'Yesterday, or the last week, month, quarter, or year.' }),
    ),
    timezone: Type.Optional({ ...TimeZone, description: 'In which days start. Default: UTC.' }),
  },
  {
    title: 'Period',
    description: [
      'A time that moves on, so that a saved filter stays current. Exactly one of `last`, `current`, and `previous`. Weeks',
      'start on Monday.',
    ].join(' '),
    examples: [{ last: '7d' }],
  },
)

export const Filter = Closed(
  {
    agentIds: List(Id, 'Any of these agents.'),
    agentVersionIds: List(Id, 'Any of these agent versions.'),
    agentGroupIds: List(Id, 'Agents in any of these groups.'),
    companyIds: List(Id, 'Any of these companies.'),
    channels: List(Choice(channels), 'Any of these channels.'),
    directions: List(Choice(directions), 'Any of these directions.'),
    statuses: List(Choice(statuses), 'Any of these statuses.'),
    since: Type.Optional({ ...TimestampInput, description: 'Started at or after this time.' }),
    until: Type.Optional({ ...TimestampInput, description: 'Started before this time.' }),
    period: Type.Optional(PeriodInput),
    minDurationSeconds: Type.Optional({ ...DurationSeconds, description: 'At least this long.' }),
    maxDurationSeconds: Type.Optional({ ...DurationSeconds, description: 'At most this long.' }),
    customerId: Type.Optional(CustomerId),
    text: Type.Optional(SearchText),
    metadata: Type.Optional(Type.Array(Condition, { maxItems: 8, description: 'All of these conditions.' })),
    monitors: Type.Optional(Type.Array(MonitorCondition, { minItems: 1, maxItems: 20 })),
    match: Type.Optional(
      Choice(['all', 'any'], {
        description:
          'Whether all (the default) or any of the monitor conditions must match. `all` results add no condition.',
      }),
    ),
    reviewStatus: Type.Optional(Choice(reviewStatuses)),
    bucketId: Type.Optional({ ...Id, description: 'Conversations in this bucket.' }),
  },
  {
    title: 'Filter',
    description: 'Selects conversations: those that satisfy every field. `{}` selects all.',
    examples: [
      { channels: ['call'], text: 'refund', metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] } satisfies object,
    ],
  },
)
export type Filter = Static<typeof Filter>

const comparisons = new Set<string>(comparing)

/** Returns whether a text contains a word. A search for only punctuation would never match. */
const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

/** Returns whether a text has too many dashes. PostgreSQL counts each `-` before a word and fails with more than 32. */
const hasDashes = (text: string): boolean => /(-[^\p{L}\p{N}-]*){20}/u.test(text)

const periodFaults = ({ since, until, period }: Filter): Issue[] => {
  if (period === undefined) return []
  const { last, current, previous, timezone } = period
  const faults: Issue[] = []
  if (since !== undefined || until !== undefined) {
    faults.push({ path: 'period', message: 'cannot be combined with since or until' })
  }
  if ([last, current, previous].filter((one) => one !== undefined).length !== 1) {
    faults.push({ path: 'period', message: 'needs exactly one of last, current, and previous' })
  }
  if (last !== undefined && !readLength(last)) {
    faults.push({ path: 'period.last', message: 'must be a number from 1 to 9999 and m, h, d, w, or mo, such as 7d' })
  }
  if (timezone !== undefined && findTimeZone(timezone) === undefined) {
    faults.push({ path: 'period.timezone', message: timeZoneFault })
  }
  return faults
}

/** Validates what a schema cannot. Paths are relative to the filter. */
export const faultsOf = (filter: Filter): Issue[] => {
  const { since, until, minDurationSeconds: min, maxDurationSeconds: max, text, metadata = [], monitors = [] } = filter
  const faults = periodFaults(filter)
  if (since !== undefined && until !== undefined && Date.parse(until) <= Date.parse(since)) {
    faults.push({ path: 'until', message: 'must be later than since' })
  }
  if (min !== undefined && max !== undefined && max < min) {
    faults.push({ path: 'maxDurationSeconds', message: 'must not be less than minDurationSeconds' })
  }
  if (text !== undefined && !hasWord(text)) faults.push({ path: 'text', message: 'must contain a word to search for' })
  else if (text !== undefined && hasDashes(text)) faults.push({ path: 'text', message: 'contains too many - in a row' })
  metadata.forEach(({ op, value }, index) => {
    if (value !== undefined || !comparisons.has(op)) return
    faults.push({ path: `metadata[${index}].value`, message: `is required for ${op}` })
  })
  const named = monitors.map(({ id }) => id.toLowerCase())
  named.forEach((id, index) => {
    if (named.indexOf(id) < index) faults.push({ path: `monitors[${index}].id`, message: 'is listed twice' })
  })
  return faults
}

const ids = (list: string[] | undefined) => list && [...new Set(list.map((id) => id.toLowerCase()))].sort()
const chosen = <T extends string>(list: T[] | undefined) => list && [...list].sort()
const instant = (text: string | undefined) => text && new Date(text).toISOString()

const zoned = (period: Filter['period']) => {
  if (period === undefined) return undefined
  const { timezone = 'UTC', ...one } = period
  // The validation has ensured that it has one of them, and a known time zone.
  return { ...(one as Period), timezone: findTimeZone(timezone) ?? 'UTC' }
}

const conditions = (list: Condition[] | undefined) =>
  list && list.length > 0
    ? list.map(({ key, op, value }) => (comparisons.has(op) ? { key, op, value: value ?? '' } : { key, op }))
    : undefined

/**
 * Returns the monitor conditions in canonical form. `all` conditions add nothing next to conditions with a result, and
 * neither does `match` for a single condition.
 */
const monitorConditions = ({ monitors = [], match }: Filter): Pick<Selection, 'monitors' | 'match'> => {
  if (monitors.length === 0) return {}
  const all = monitors
    .map(({ id, result = 'all' }) => ({ id: id.toLowerCase(), result }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const asking = all.filter(({ result }) => result !== 'all')
  return {
    monitors: asking.length > 0 ? asking : all,
    ...(match === 'any' && asking.length > 1 && { match }),
  }
}

/**
 * Validates what a schema cannot and reports all errors at once. Returns the filter in canonical form: filters with the
 * same meaning are equal as JSON. `path` is the path of the filter in the request.
 */
export const parseFilter = (filter: Filter, path = ''): Selection => {
  const issues = faultsOf(filter).map((fault) => ({ ...fault, path: path ? `${path}.${fault.path}` : fault.path }))
  if (issues.length > 0) throw invalidAll(issues)
  const selection = {
    agentIds: ids(filter.agentIds),
    agentVersionIds: ids(filter.agentVersionIds),
    agentGroupIds: ids(filter.agentGroupIds),
    companyIds: ids(filter.companyIds),
    channels: chosen(filter.channels),
    directions: chosen(filter.directions),
    statuses: chosen(filter.statuses),
    since: instant(filter.since),
    until: instant(filter.until),
    period: zoned(filter.period),
    minDurationSeconds: filter.minDurationSeconds,
    maxDurationSeconds: filter.maxDurationSeconds,
    customerId: filter.customerId,
    text: filter.text,
    metadata: conditions(filter.metadata),
    ...monitorConditions(filter),
    reviewStatus: filter.reviewStatus,
    bucketId: filter.bucketId?.toLowerCase(),
  }
  return Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined))
}
