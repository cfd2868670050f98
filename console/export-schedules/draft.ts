// Converts a schedule between form fields and the API's format.
import type { Schemas } from '../api/schema.d.ts'
import { withoutEmpty } from '../exports/draft.ts'
import { formatName } from '../exports/formats.ts'
import { startOfList } from '../exports/list-draft.ts'
import type { List, What } from '../exports/queries.ts'
import type { ExportSearch } from '../exports/search.ts'
import type { Period } from '../filters/periods.ts'
import { ownZone } from '../lib/zones.ts'
import type { Schedule } from './queries.ts'

type RecurrenceInput = Schemas['ExportScheduleRecurrenceInput']
type WindowInput = Schemas['ExportScheduleWindowInput']
type DestinationInput = Schemas['ExportDestinationInput']
type Body = Pick<Schedule, 'name' | 'config' | 'conversationConfig' | 'settleMinutes'> & {
  recurrence: RecurrenceInput
  window: WindowInput
  destination: DestinationInput
}
type Recurrence = Schedule['recurrence']

export type Draft = {
  name: string
  what: What
  /** The conversations to export, instead of the results in `what`. */
  list: List | undefined
  timezone: string
  every: Recurrence['every']
  minute: string
  at: string
  weekday: NonNullable<Recurrence['weekday']>
  day: string
  window: 'since_last_run' | 'hours' | 'days'
  amount: string
  settleMinutes: string
  to: 's3' | 'webhook'
  webhookEndpointId: string
  bucket: string
  region: string
  prefix: string
  endpoint: string
  accessKeyId: string
  secretAccessKey: string
  fileName: string
  encryption: '' | 'AES256' | 'aws:kms'
}

const fresh: Draft = {
  name: '',
  what: { monitors: [] },
  list: undefined,
  timezone: ownZone(),
  every: 'day',
  minute: '0',
  at: '02:30',
  weekday: 'monday',
  day: '1',
  window: 'since_last_run',
  amount: '1',
  settleMinutes: '60',
  to: 's3',
  webhookEndpointId: '',
  bucket: '',
  region: '',
  prefix: '',
  endpoint: '',
  accessKeyId: '',
  secretAccessKey: '',
  fileName: '',
  encryption: '',
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: this is a list of fields, each with its default
export const startOf = (schedule: Schedule): Draft => {
  const { name, config, conversationConfig, recurrence, window, settleMinutes, destination } = schedule
  const { timezone: zoneOfWhat, ...what } = config ?? { ...fresh.what, timezone: undefined }
  const { timezone: zoneOfList, ...list } = conversationConfig ?? {}
  return {
    ...fresh,
    name,
    what,
    list: conversationConfig && (list as List),
    timezone: zoneOfWhat ?? zoneOfList ?? fresh.timezone,
    every: recurrence.every,
    minute: String(recurrence.minute ?? 0),
    at: recurrence.at ?? fresh.at,
    weekday: recurrence.weekday ?? fresh.weekday,
    day: String(recurrence.day ?? 1),
    window: window.kind === 'since_last_run' ? window.kind : window.hours === null ? 'days' : 'hours',
    amount: String(window.hours ?? window.days ?? 1),
    settleMinutes: String(settleMinutes),
    to: destination.type,
    webhookEndpointId: destination.webhookEndpointId ?? '',
    bucket: destination.bucket ?? '',
    region: destination.region ?? '',
    prefix: destination.prefix ?? '',
    endpoint: destination.endpoint ?? '',
    accessKeyId: destination.accessKeyId ?? '',
    fileName: destination.fileName ?? '',
    encryption: destination.encryption ?? '',
  }
}

/** A week, day, or month that ends at midnight is exported one hour later, so that its conversations are complete. */
const afterMidnight = '01:00'

/** Returns the recurrence and the period of each run for a schedule that repeats an export. */
const repeating = ({ last, current, previous }: Period): Partial<Draft> => {
  const unit = current ?? previous
  const days = last === undefined ? undefined : /^(\d+)([dw])$/.exec(last)
  if (unit === 'day' || last === '24h') return { every: 'day', at: afterMidnight, window: 'days', amount: '1' }
  if (unit === 'week') return { every: 'week', weekday: 'monday', at: afterMidnight, window: 'days', amount: '7' }
  if (unit !== undefined) return { every: 'month', day: '1', at: afterMidnight, window: 'since_last_run' }
  if (!days) return {}
  const amount = Number(days[1]) * (days[2] === 'w' ? 7 : 1)
  return {
    every: amount >= 7 ? 'week' : 'day',
    at: afterMidnight,
    window: 'days',
    amount: String(Math.min(amount, 366)),
  }
}

const ofList = (given: NonNullable<ExportSearch['list']>): Draft => {
  const { timezone = fresh.timezone, notificationEndpointId, ...list } = startOfList(given)
  const { since: _since, until: _until, period, ...filter } = list.filter
  return {
    ...fresh,
    ...(period && repeating(period)),
    ...(notificationEndpointId && { to: 'webhook', webhookEndpointId: notificationEndpointId }),
    name: `Conversations as ${formatName(list.format)}`,
    list: { ...list, filter },
    timezone: period?.timezone ?? timezone,
  }
}

const ofResults = (given: NonNullable<ExportSearch['config']>): Draft => {
  const { since: _since, until: _until, timezone = fresh.timezone, notificationEndpointId, ...what } = given
  return {
    ...fresh,
    ...(notificationEndpointId && { to: 'webhook', webhookEndpointId: notificationEndpointId }),
    name: `Monitor results as ${formatName(what.format)}`,
    what: { ...what, monitors: what.monitors ?? [] },
    timezone,
  }
}

/** Returns the draft of a new schedule, which can repeat an export. */
export const startWith = ({ config, list }: ExportSearch): Draft => {
  if (list) return ofList(list)
  return config ? ofResults(config) : fresh
}

const recurrenceOf = ({ every, minute, at, weekday, day }: Draft): RecurrenceInput => {
  if (every === 'hour') return { every, minute: Number(minute) }
  if (every === 'day') return { every, at }
  return every === 'week' ? { every, at, weekday } : { every, at, day: Number(day) }
}

const windowOf = ({ window, amount }: Draft): WindowInput =>
  window === 'since_last_run' ? { kind: window } : { kind: 'last', [window]: Number(amount) }

const destinationOf = (draft: Draft): DestinationInput => {
  const { to, webhookEndpointId, bucket, region, accessKeyId } = draft
  if (to === 'webhook') return { type: to, webhookEndpointId }
  const { prefix, endpoint, secretAccessKey, fileName, encryption } = draft
  const more = withoutEmpty({ prefix, endpoint, secretAccessKey, fileName })
  return { type: to, bucket, region, accessKeyId, ...more, ...(encryption && { encryption }) }
}

/** Returns only the changes, so that an unchanged destination isn't tested again and a due run stays due. */
export const changesOf = (start: Draft, body: Body): Partial<Body> => {
  const before = readDraft(start)
  if ('missing' in before) return body
  const isOther = (name: keyof Body) => JSON.stringify(body[name]) !== JSON.stringify(before.body[name])
  const others = Object.entries(body).filter(([name]) => isOther(name as keyof Body))
  return { name: body.name, ...Object.fromEntries(others) }
}

/** Returns the schedule to save, or the reason why it can't be saved yet. */
export const readDraft = (draft: Draft): { body: Body } | { missing: string } => {
  const { what, list, name, timezone, to, webhookEndpointId } = draft
  if (name.trim() === '') return { missing: 'Enter a name.' }
  if (!list && what.monitors.length === 0) return { missing: 'Choose at least one monitor.' }
  if (to === 'webhook' && webhookEndpointId === '') return { missing: 'Choose a webhook endpoint.' }
  if (to === 's3' && (!draft.bucket || !draft.region || !draft.accessKeyId)) {
    return { missing: 'Enter the bucket’s name, region, and access key.' }
  }
  return {
    body: {
      name,
      ...(list
        ? { conversationConfig: { ...list, timezone } }
        : { config: { ...withoutEmpty(what), monitors: what.monitors, timezone } }),
      recurrence: recurrenceOf(draft),
      window: windowOf(draft),
      settleMinutes: Number(draft.settleMinutes),
      destination: destinationOf(draft),
    },
  }
}
