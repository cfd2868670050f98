import Type, { type Static, type TSchema } from 'typebox'
import { type Period, periodUnits, readLength } from '../platform/db/periods.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import { Choice, Closed, Id, TimestampInput } from '../platform/http/schemas.ts'
import { findTimeZone, timeZoneFault } from '../platform/time-zone.ts'
import { soundNames } from '../sound-measures/names.ts'
import { CategoryKey, FieldKey } from './category.ts'
import { isOrdered, type Likeness, type Exclusion as ParsedExclusion, type Part, type Selection } from './queries.ts'
import { signalNames } from './sort.ts'
import { normalizeTags, Tag } from './tag.ts'

/** The grammar of filters. Every feature that selects conversations uses it. */

const comparing = ['eq', 'neq', 'contains', 'not_contains', 'gt', 'gte', 'lt', 'lte'] as const
const asking = ['is_set', 'is_not_set', 'is_true', 'is_false'] as const

export const Condition = Closed(
  {
    key: Type.String({
      maxLength: 120,
      examples: ['plan'],
      description: 'The key of metadata or of a customer metric.',
    }),
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
      'A condition on a metadata key, or on a customer metric. A missing or null key only satisfies `is_not_set`. An object or array is set and',
      'satisfies no other operator. Numbers and booleans are compared as JSON text, numbers without an exponent.',
      '`eq` and `neq` compare text; `contains` and `not_contains` search in it, ignoring case. `gt`, `gte`, `lt`, and',
      '`lte` compare numbers if both sides are decimal numbers such as `-12.5`, and times if both are ISO timestamps with',
      'an offset or `Z`, or dates such as `2026-11-21` (midnight UTC). Otherwise they do not match. `is_true` and',
      '`is_false` match booleans and the words `true` and `false`, ignoring case.',
    ].join(' '),
  },
)
export type Condition = Static<typeof Condition>

const measureOperators = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte'] as const

const SignalCondition = Closed(
  {
    name: Choice(signalNames, { examples: ['responseLatencyMs.p95'] }),
    op: Choice(measureOperators),
    value: Type.Number({ examples: [3_000] }),
  },
  {
    title: 'SignalFilter',
    description: 'A condition on a signal. A conversation without the signal does not match.',
  },
)

const SoundCondition = Closed(
  {
    name: Choice(soundNames, { examples: ['responseMs.agent.p95'] }),
    op: Choice(measureOperators),
    value: Type.Number({ examples: [2_000] }),
  },
  {
    title: 'SoundFilter',
    description:
      'A condition on a recording measure. A conversation without the measure does not match, including one with a ' +
      'recording that has not been measured yet.',
  },
)

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

const CategoryCondition = Closed(
  {
    monitorId: Id,
    any: Type.Array(CategoryKey, {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
      description: 'At least one of these categories.',
    }),
  },
  {
    title: 'CategoryCondition',
    description:
      'A condition on the categories of a monitor’s result, from the newest version with a result for the conversation.',
    examples: [{ monitorId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', any: ['billing', 'other'] } satisfies object],
  },
)

/** The maximum number of characters in the value of a field. */
const longestFieldValue = 1_000

const FieldCondition = Closed(
  {
    monitorId: Id,
    field: FieldKey,
    op: Choice([...comparing, 'in', ...asking, 'is_unsupported']),
    value: Type.Optional(
      Type.String({
        maxLength: longestFieldValue,
        description: `Required for ${comparing.join(', ')}; ignored otherwise.`,
        examples: ['100'],
      }),
    ),
    values: Type.Optional(
      Type.Array(Type.String({ maxLength: longestFieldValue }), {
        minItems: 1,
        maxItems: 50,
        uniqueItems: true,
        description: 'Required for `in`, which matches any of them; ignored otherwise.',
      }),
    ),
  },
  {
    title: 'FieldCondition',
    description: [
      'A condition on a field that a monitor extracts, from the newest version with a result for the conversation. A',
      'conversation without a result, or with one that has no fields, does not match. `eq`, `neq`, and `in` compare text',
      'and booleans exactly, numbers by their value (`24.50` equals `24.5`), and dates with a year by their time.',
      '`gt`, `gte`, `lt`, and `lte` compare numbers and dates. Dates are compared with dates of the same form: with a',
      'year (`2026-11-21`, `2026-11-21T16:15`; UTC without an offset), without one (`11-21`), or times of day (`16:15`).',
      '`contains` and `not_contains` search in text, and for an entry of a list, ignoring case. `is_not_set` matches',
      'fields that are null or missing. `is_unsupported` matches fields that are null because the quoted turn did not',
      'contain the value.',
    ].join(' '),
    examples: [{ monitorId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', field: 'amount', op: 'gte', value: '100' }],
  },
)
type FieldCondition = Static<typeof FieldCondition>

const List = <T extends TSchema>(item: T, description: string) =>
  Type.Optional(Type.Array(item, { minItems: 1, maxItems: 100, uniqueItems: true, description }))

const DurationSeconds = Type.Integer({ minimum: 0, maximum: 2_147_483_647 })

const channels = ['call', 'chat', 'voicemail'] as const
const directions = ['inbound', 'outbound'] as const
const statuses = ['in_progress', 'completed', 'failed'] as const
const reviewStatuses = ['none', 'pending', 'in_progress', 'completed'] as const

/** The maximum number of conditions on the meaning. Each of them is a separate search. */
const mostLikenesses = 3

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
          'From this long ago until now: minutes (`90m`), hours (`24h`), days (`7d`), weeks (`4w`), or months ' +
          '(`12mo`).',
        examples: ['7d'],
      }),
    ),
    current: Type.Optional(Choice(periodUnits, { description: 'Today, or this week, month, quarter, or year.' })),
    previous: Type.Optional(
      Choice(periodUnits, { description: 'Yesterday, or the previous week, month, quarter, or year.' }),
    ),
    timezone: Type.Optional({ ...TimeZone, description: 'The IANA time zone in which days start. Default: UTC.' }),
  },
  {
    title: 'Period',
    description: [
      'A relative period, so that a saved filter stays current. Exactly one of `last`, `current`, and `previous`.',
      'Weeks start on Monday.',
    ].join(' '),
    examples: [{ last: '7d' }],
  },
)

const SimilarTo = Closed(
  {
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        description: 'Conversations in which somebody says something like this, in any words.',
        examples: ['The customer was promised a refund that never arrived'],
      }),
    ),
    conversationId: Type.Optional({
      ...Id,
      description: 'Conversations like this one. The conversation itself is left out.',
    }),
    turn: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Compares only this turn of `conversationId`, given by its index in the transcript.',
      }),
    ),
    minimumSimilarity: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'The minimum similarity of the nearest passage. The default depends on the model.',
        examples: [0.6],
      }),
    ),
  },
  {
    title: 'SimilarTo',
    description: [
      'A condition on the meaning of the transcript: conversations with a passage that has a similarity of at least',
      '`minimumSimilarity`, at most the nearest 10,000. Exactly one of `text` and `conversationId`. Unknown IDs match',
      `nothing. A filter can have up to ${mostLikenesses} of these conditions, including nested ones.`,
    ].join(' '),
    examples: [{ text: 'refund not received' } satisfies object],
  },
)

const fields = {
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
  metrics: Type.Optional(
    Type.Array(Condition, { maxItems: 8, description: 'All of these conditions on customer metrics.' }),
  ),
  signals: Type.Optional(Type.Array(SignalCondition, { maxItems: 8, description: 'All of these conditions.' })),
  sound: Type.Optional(Type.Array(SoundCondition, { maxItems: 8, description: 'All of these conditions.' })),
  monitors: Type.Optional(Type.Array(MonitorCondition, { minItems: 1, maxItems: 20 })),
  match: Type.Optional(
    Choice(['all', 'any'], {
      description:
        'Whether all (the default) or any of the monitor conditions must match. A condition with the result `all` adds nothing to the others.',
    }),
  ),
  categories: Type.Optional(CategoryCondition),
  fields: Type.Optional(
    Type.Array(FieldCondition, { maxItems: 8, description: 'All of these conditions on extracted fields.' }),
  ),
  reviewStatus: Type.Optional(Choice(reviewStatuses)),
  bucketId: Type.Optional({ ...Id, description: 'Conversations in this bucket.' }),
  conversationIds: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: 1_000,
      uniqueItems: true,
      description: 'Any of these conversations. Unknown IDs match nothing.',
    }),
  ),
  findingIds: List(Id, 'Attached to any of these findings.'),
  tags: List(Tag, 'With any of these tags.'),
  topicIds: List(Id, 'About any of these topics, topics merged into them, or any topic of these groups.'),
  similarTo: Type.Optional(SimilarTo),
}

const FilterPart = Closed(fields, {
  title: 'FilterPart',
  description: 'A filter within a filter: conversations that satisfy every field.',
  examples: [{ text: 'refund' } satisfies object],
})
type FilterPart = Static<typeof FilterPart>

const AnyOf = (description: string) => Type.Optional(Type.Array(FilterPart, { minItems: 1, maxItems: 10, description }))

const Exclusion = Closed(
  { ...fields, anyOf: AnyOf('At least one of these must also match.') },
  {
    title: 'FilterExclusion',
    description: 'Excludes conversations that satisfy every field of this filter.',
    examples: [{ anyOf: [{ text: 'refund' }, { channels: ['chat'] }] } satisfies object],
  },
)

export const Filter = Closed(
  {
    ...fields,
    anyOf: AnyOf('At least one of these must also match.'),
    exclude: Type.Optional(Exclusion),
  },
  {
    title: 'Filter',
    description: 'Selects the conversations that satisfy every field. `{}` selects all.',
    examples: [
      { channels: ['call'], text: 'refund', metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] } satisfies object,
    ],
  },
)
export type Filter = Static<typeof Filter>

const comparisons = new Set<string>(comparing)

/** Returns whether a string contains a word. A search for only punctuation would never match. */
const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

/**
 * Returns whether a string has too many dashes. PostgreSQL counts each `-` before a word and fails with more than 32.
 */
const hasDashes = (text: string): boolean => /(-[^\p{L}\p{N}-]*){20}/u.test(text)

const periodFaults = ({ since, until, period }: FilterPart): Issue[] => {
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
    faults.push({
      path: 'period.last',
      message: 'must be a number from 1 to 9999 followed by m, h, d, w, or mo, such as 7d',
    })
  }
  if (timezone !== undefined && findTimeZone(timezone) === undefined) {
    faults.push({ path: 'period.timezone', message: timeZoneFault })
  }
  return faults
}

const conditionFaults = (list: Condition[], name: 'metadata' | 'metrics'): Issue[] =>
  list.flatMap(({ op, value }, index) =>
    value !== undefined || !comparisons.has(op)
      ? []
      : [{ path: `${name}[${index}].value`, message: `is required for ${op}` }],
  )

const ordered = new Set<string>(['gt', 'gte', 'lt', 'lte'])

const fieldFaults = (list: FieldCondition[]): Issue[] =>
  list.flatMap(({ op, value, values }, index) => {
    const path = `fields[${index}].${op === 'in' ? 'values' : 'value'}`
    if (op === 'in') return values === undefined ? [{ path, message: 'is required for in' }] : []
    if (!comparisons.has(op)) return []
    if (value === undefined) return [{ path, message: `is required for ${op}` }]
    if (!ordered.has(op) || isOrdered(value)) return []
    return [{ path, message: 'must be a number, a date such as 2026-11-21 or 11-21, or a time such as 16:15' }]
  })

const likenessFaults = ({ text, conversationId, turn }: Static<typeof SimilarTo>): Issue[] => {
  if ((text === undefined) === (conversationId === undefined)) {
    return [{ path: 'similarTo', message: 'needs either text or conversationId' }]
  }
  if (text === undefined) return []
  if (turn !== undefined) return [{ path: 'similarTo.turn', message: 'requires a conversationId' }]
  return hasWord(text) ? [] : [{ path: 'similarTo.text', message: 'must contain a word' }]
}

const partFaults = (filter: FilterPart): Issue[] => {
  const { since, until, minDurationSeconds: min, maxDurationSeconds: max, text } = filter
  const { metadata = [], metrics = [], monitors = [], fields: extracted = [] } = filter
  const faults = periodFaults(filter)
  if (since !== undefined && until !== undefined && Date.parse(until) <= Date.parse(since)) {
    faults.push({ path: 'until', message: 'must be later than since' })
  }
  if (min !== undefined && max !== undefined && max < min) {
    faults.push({ path: 'maxDurationSeconds', message: 'must not be less than minDurationSeconds' })
  }
  if (text !== undefined && !hasWord(text)) faults.push({ path: 'text', message: 'must contain a word to search for' })
  else if (text !== undefined && hasDashes(text)) faults.push({ path: 'text', message: 'contains too many - in a row' })
  faults.push(...conditionFaults(metadata, 'metadata'), ...conditionFaults(metrics, 'metrics'))
  faults.push(...fieldFaults(extracted))
  if (filter.similarTo) faults.push(...likenessFaults(filter.similarTo))
  const named = monitors.map(({ id }) => id.toLowerCase())
  named.forEach((id, index) => {
    if (named.indexOf(id) < index) faults.push({ path: `monitors[${index}].id`, message: 'is listed twice' })
  })
  return faults
}

const isEmpty = (part: object): boolean => Object.keys(part).length === 0

const within = (path: string, faults: Issue[]): Issue[] =>
  faults.map((fault) => ({ ...fault, path: `${path}.${fault.path}` }))

const ids = (list: string[] | undefined) => list && [...new Set(list.map((id) => id.toLowerCase()))].sort()
const chosen = <T extends string>(list: T[] | undefined) => list && [...list].sort()
const instant = (text: string | undefined) => text && new Date(text).toISOString()

const zoned = (period: FilterPart['period']) => {
  if (period === undefined) return undefined
  const { timezone = 'UTC', ...one } = period
  // Validation has ensured that the period has `last`, `current`, or `previous`, and a known time zone.
  return { ...(one as Period), timezone: findTimeZone(timezone) ?? 'UTC' }
}

const conditions = (list: Condition[] | undefined) =>
  list && list.length > 0
    ? list.map(({ key, op, value }) => (comparisons.has(op) ? { key, op, value: value ?? '' } : { key, op }))
    : undefined

/**
 * Returns the monitor conditions in canonical form. Drops `all` conditions next to conditions with a result, and
 * `match` with a single condition, because they add nothing.
 */
const monitorConditions = ({ monitors = [], match }: FilterPart): Pick<Selection, 'monitors' | 'match'> => {
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

const measureConditions = (list: FilterPart['signals'] | FilterPart['sound']): Part['signals'] =>
  list && list.length > 0 ? list.map(({ name, op, value }) => ({ name, op, value })) : undefined

const categoryCondition = (given: FilterPart['categories']): Part['categories'] =>
  given && { monitorId: given.monitorId.toLowerCase(), any: [...given.any].sort() }

/** Returns a condition in canonical form. `in` with a single value is the same as `eq`. */
const fieldCondition = (given: FieldCondition): NonNullable<Part['fields']>[number] => {
  const { field, op, value = '' } = given
  const monitorId = given.monitorId.toLowerCase()
  if (comparisons.has(op)) return { monitorId, field, op, value }
  if (op !== 'in') return { monitorId, field, op }
  const values = [...(given.values ?? [])].sort()
  const [only = '', ...more] = values
  return more.length === 0 ? { monitorId, field, op: 'eq', value: only } : { monitorId, field, op, values }
}

const fieldConditions = (list: FilterPart['fields']): Part['fields'] =>
  list && list.length > 0 ? list.map(fieldCondition) : undefined

const defined = (selection: object): object =>
  Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined))

const likeness = (given: FilterPart['similarTo']): Likeness | undefined =>
  given && (defined({ ...given, conversationId: given.conversationId?.toLowerCase() }) as Likeness)

const parsePart = (filter: FilterPart): Part =>
  defined({
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
    metrics: conditions(filter.metrics),
    signals: measureConditions(filter.signals),
    sound: measureConditions(filter.sound),
    ...monitorConditions(filter),
    categories: categoryCondition(filter.categories),
    fields: fieldConditions(filter.fields),
    reviewStatus: filter.reviewStatus,
    bucketId: filter.bucketId?.toLowerCase(),
    conversationIds: ids(filter.conversationIds),
    findingIds: ids(filter.findingIds),
    tags: filter.tags && normalizeTags(filter.tags),
    topicIds: ids(filter.topicIds),
    similarTo: likeness(filter.similarTo),
  })

const parseExclusion = ({ anyOf, ...own }: Static<typeof Exclusion>): ParsedExclusion => {
  const [part, alternatives] = [parsePart(own), parseAnyOf(anyOf)]
  const [only, ...more] = alternatives ?? []
  if (only && more.length === 0 && isEmpty(part)) return only
  return { ...part, ...(alternatives && { anyOf: alternatives }) }
}

const anyOfFaults = (parts: FilterPart[]): Issue[] =>
  parts.flatMap((part, index) => within(`anyOf[${index}]`, partFaults(part)))

/** Validates rules that a schema cannot express. Paths are relative to the filter. */
export const faultsOf = ({ anyOf = [], exclude, ...filter }: Filter): Issue[] => {
  const faults = partFaults(filter)
  faults.push(...anyOfFaults(anyOf))
  const parts: FilterPart[] = [filter, ...anyOf, ...(exclude ? [exclude, ...(exclude.anyOf ?? [])] : [])]
  if (parts.filter(({ similarTo }) => similarTo).length > mostLikenesses) {
    faults.push({ path: 'similarTo', message: `can be used at most ${mostLikenesses} times in a filter` })
  }
  if (!exclude) return faults
  const { anyOf: excluded = [], ...own } = exclude
  faults.push(...within('exclude', [...partFaults(own), ...anyOfFaults(excluded)]))
  if (isEmpty(parseExclusion(exclude))) faults.push({ path: 'exclude', message: 'must not match everything' })
  return faults
}

/**
 * Returns each nested filter once, in a fixed order. Returns undefined if one of them selects everything, because the
 * others then add nothing.
 */
const parseAnyOf = (parts: FilterPart[] | undefined): Part[] | undefined => {
  const parsed = (parts ?? []).map(parsePart)
  if (parsed.length === 0 || parsed.some(isEmpty)) return undefined
  const bySpelling = new Map(parsed.map((part) => [JSON.stringify(part), part]))
  return [...bySpelling].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part)
}

/**
 * Validates rules that a schema cannot express, and reports all errors at once. Returns the filter in canonical form:
 * filters with the same meaning are equal as JSON. `path` is the filter's path in the request.
 */
export const parseFilter = (filter: Filter, path = ''): Selection => {
  const faults = faultsOf(filter)
  if (faults.length > 0) throw invalidAll(path ? within(path, faults) : faults)
  const { anyOf, exclude, ...own } = filter
  return {
    ...parsePart(own),
    ...defined({ anyOf: parseAnyOf(anyOf), exclude: exclude && parseExclusion(exclude) }),
  }
}
