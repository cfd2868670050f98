import { readLength, type ZonedPeriod } from '../platform/db/periods.ts'
import type { Exclusion, Part, Selection } from './queries.ts'

/** Describes in words which conversations a filter selects. */

/** The maximum number of listed names. Further names are only counted. */
const maxNamed = 5

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const sayInstant = (text: string): string => {
  const [, year, month, day, minutes, seconds] = /^(\d+)-(\d\d)-(\d\d)T(\d\d:\d\d)(:\d\d(?:\.\d+)?)Z$/.exec(text) ?? []
  const exactly = seconds === ':00.000' ? '' : seconds?.replace(/\.000$/, '')
  return `${Number(day)} ${months[Number(month) - 1]} ${Number(year)} ${minutes}${exactly} UTC`
}

const join = (words: string[], last: string): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`

const quote = (text: string): string => `“${text}”`

const plain = (word: string): string => word.replaceAll('_', ' ')

const sayIds = (ids: string[], names: ReadonlyMap<string, string>): string => {
  const shown = ids.slice(0, ids.length > maxNamed + 1 ? maxNamed : ids.length).map((id) => names.get(id) ?? id)
  const others = ids.length - shown.length
  return join(others > 0 ? [...shown, `${others} others`] : shown, 'or')
}

const units = { m: 'minute', h: 'hour', d: 'day', w: 'week', mo: 'month' }

const sayPeriod = (period: ZonedPeriod): string => {
  if ('last' in period) {
    const { count, unit } = readLength(period.last) ?? { count: 0, unit: 'm' }
    return count === 1 ? `in the last ${units[unit]}` : `in the last ${count} ${units[unit]}s`
  }
  const zone = period.timezone === 'UTC' ? '' : ` in ${period.timezone}`
  if ('current' in period) return `${period.current === 'day' ? 'today' : `this ${period.current}`}${zone}`
  return `${period.previous === 'day' ? 'yesterday' : `last ${period.previous}`}${zone}`
}

const sayTimes = ({ since, until, period }: Part): string | undefined => {
  if (period) return `started ${sayPeriod(period)}`
  const times = [since && `since ${sayInstant(since)}`, until && `before ${sayInstant(until)}`].filter(Boolean)
  return times.length > 0 ? `started ${times.join(' and ')}` : undefined
}

const sayDuration = ({ minDurationSeconds: min, maxDurationSeconds: max }: Part): string | undefined => {
  if (min !== undefined && max !== undefined) return min === max ? `${min} s long` : `${min} to ${max} s long`
  if (min !== undefined) return `at least ${min} s long`
  return max === undefined ? undefined : `at most ${max} s long`
}

const operators: Record<NonNullable<Part['metadata']>[number]['op'], string> = {
  eq: 'is',
  neq: 'is set but is not',
  contains: 'contains',
  not_contains: 'is set but does not contain',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  is_set: 'is set',
  is_not_set: 'is not set',
  is_true: 'is true',
  is_false: 'is false',
}

const sayCondition = (about: string, { key, op, value }: NonNullable<Part['metadata']>[number]): string =>
  [about + (key === '' ? quote(key) : key), operators[op], value !== undefined && quote(value)]
    .filter(Boolean)
    .join(' ')

const sayMeasure = ({ name, op, value }: NonNullable<Part['signals']>[number]): string =>
  `${name} ${op === 'neq' ? 'is not' : operators[op]} ${value}`

/** Returns text such as `amount of Refunds is at least “100”`. */
const sayField = (condition: NonNullable<Part['fields']>[number], names: ReadonlyMap<string, string>): string => {
  const { monitorId, field, op, value, values } = condition
  const about = `${field} of ${names.get(monitorId) ?? monitorId}`
  if (op === 'is_unsupported') return `${about} is unsupported`
  if (op === 'in') return `${about} is ${join((values ?? []).map(quote), 'or')}`
  return [about, operators[op], value !== undefined && quote(value)].filter(Boolean).join(' ')
}

const sayConditions = (part: Part, names: ReadonlyMap<string, string>): string | undefined => {
  const { metadata = [], metrics = [], signals = [], sound = [], fields = [] } = part
  const said = [
    ...metadata.map((condition) => sayCondition('', condition)),
    ...metrics.map((condition) => sayCondition('metric ', condition)),
    ...signals.map(sayMeasure),
    ...sound.map((condition) => `sound ${sayMeasure(condition)}`),
    ...fields.map((condition) => sayField(condition, names)),
  ]
  return said.length === 0 ? undefined : `where ${join(said, 'and')}`
}

const findings = { affected: 'affected by', not_affected: 'not affected by', unscored: 'unscored by' }

const sayMonitors = ({ monitors, match }: Part, names: ReadonlyMap<string, string>): string | undefined => {
  if (!monitors) return undefined
  const said = monitors.map(({ id, result }) => {
    const name = names.get(id) ?? id
    return result === 'all' ? name : `${findings[result]} ${name}`
  })
  const isAny = match === 'any' || monitors.some(({ result }) => result === 'all')
  const all = join(said, isAny ? 'or' : 'and')
  return monitors.some(({ result }) => result === 'all') ? `with a result of ${all}` : all
}

const sayCategories = ({ categories }: Part, names: ReadonlyMap<string, string>): string | undefined =>
  categories &&
  `of category ${join(categories.any.map(plain).map(quote), 'or')} by ${names.get(categories.monitorId) ?? categories.monitorId}`

const reviews: Record<NonNullable<Part['reviewStatus']>, string> = {
  none: 'with no review',
  pending: 'with a pending review',
  in_progress: 'with a review in progress',
  completed: 'with a completed review',
}

const sayChannels = ({ channels }: Part): string | undefined =>
  channels &&
  join(
    channels.map((channel) => `${channel}s`),
    'and',
  )

/** Describes a list of conversations by its length, because many IDs would be less useful. */
const sayConversations = (ids: string[], names: ReadonlyMap<string, string>): string =>
  ids.length > 5 ? `among ${ids.length} chosen conversations` : `with ID ${sayIds(ids, names)}`

/** Returns text such as `meaning “refund not received”` or `similar to turn 3 of conversation …`. */
const saySimilar = ({ similarTo }: Part): string | undefined => {
  if (!similarTo) return undefined
  const { minimumSimilarity: minimum } = similarTo
  const least = minimum === undefined ? '' : ` (at least ${minimum})`
  if ('text' in similarTo) return `meaning ${quote(similarTo.text)}${least}`
  const turn = 'turn' in similarTo ? `turn ${similarTo.turn + 1} of ` : ''
  return `similar to ${turn}conversation ${similarTo.conversationId}${least}`
}

/** Describes everything except the channels, which are the subject of the sentence. */
const sayPart = (part: Part, names: ReadonlyMap<string, string>): string[] => {
  const { directions, statuses, agentIds, agentVersionIds, agentGroupIds, companyIds } = part
  const { customerId, text, reviewStatus, bucketId, conversationIds, findingIds, tags, topicIds } = part
  return [
    directions && join(directions, 'or'),
    statuses && join(statuses.map(plain), 'or'),
    agentIds && `of agent ${sayIds(agentIds, names)}`,
    agentVersionIds && `of version ${sayIds(agentVersionIds, names)}`,
    agentGroupIds && `of an agent in group ${sayIds(agentGroupIds, names)}`,
    companyIds && `for company ${sayIds(companyIds, names)}`,
    customerId !== undefined && `of customer ${quote(customerId)}`,
    sayTimes(part),
    sayDuration(part),
    text !== undefined && `mentioning ${quote(text)}`,
    saySimilar(part),
    sayConditions(part, names),
    sayMonitors(part, names),
    sayCategories(part, names),
    reviewStatus && reviews[reviewStatus],
    bucketId !== undefined && `in bucket ${sayIds([bucketId], names)}`,
    conversationIds && sayConversations(conversationIds, names),
    findingIds && `attached to finding ${sayIds(findingIds, names)}`,
    tags && `tagged ${join(tags.map(quote), 'or')}`,
    topicIds && `about topic ${sayIds(topicIds, names)}`,
  ].filter((words) => typeof words === 'string')
}

const sayAnyOf = (anyOf: Part[] | undefined, names: ReadonlyMap<string, string>): string[] => {
  if (!anyOf) return []
  const said = anyOf.map((part) => sayInner(part, names))
  return [`${said.length > 1 ? 'either ' : ''}${join(said, 'or')}`]
}

/** Describes a filter within the sentence, in parentheses if it has several parts. */
const sayInner = ({ anyOf, ...part }: Exclusion, names: ReadonlyMap<string, string>): string => {
  const channels = sayChannels(part)
  const words = [...(channels === undefined ? [] : [channels]), ...sayPart(part, names), ...sayAnyOf(anyOf, names)]
  return words.length === 1 ? words.join('') : `(${words.join(', ')})`
}

/** Describes a filter in words. `names` maps IDs to names. IDs without a name are shown as they are. */
export const explainFilter = (selection: Selection, names: ReadonlyMap<string, string>): string => {
  const { anyOf, exclude, ...own } = selection
  const what = sayChannels(own) ?? 'conversations'
  const excluded = exclude ? [`except ${sayInner(exclude, names)}`] : []
  const parts = [what, ...sayPart(own, names), ...sayAnyOf(anyOf, names), ...excluded]
  return parts.length === 1 ? `all ${what}` : parts.join(', ')
}
