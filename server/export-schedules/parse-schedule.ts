// Validates a requested schedule beyond its schema, and normalizes it.
import { parseConfiguration } from '../exports/configuration.ts'
import { parseConversations } from '../exports/conversations/configuration.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import { isPublicHostByForm } from '../platform/outbound/public-host.ts'
import type { ScheduledConfig } from './contents.ts'
import { defaultFileName, faultOfSegments, faultOfTemplate } from './file-name.ts'
import type { Recurrence, ScheduleDestination, WindowRule } from './queries.ts'
import type { ExportScheduleCreate, ExportScheduleUpdate } from './schema.ts'

type ScheduleInput = Pick<
  ExportScheduleUpdate,
  'config' | 'conversationConfig' | 'recurrence' | 'window' | 'destination'
>
type Environment = { allowedPrivateAddresses: string[] }

/**
 * Validates the properties for one kind. `needed` are required, `optional` are allowed, and all others in `all` are
 * forbidden.
 */
const faultsOfKind = (path: string, given: object, needed: string[], optional: string[], all: string[]): Issue[] => {
  const present = all.filter((name) => name in given)
  const lacking = needed.filter((name) => !present.includes(name))
  const surplus = present.filter((name) => !needed.includes(name) && !optional.includes(name))
  return [
    ...lacking.map((name) => ({ path: `${path}.${name}`, message: 'is required for this kind' })),
    ...surplus.map((name) => ({ path: `${path}.${name}`, message: 'is not allowed for this kind' })),
  ]
}

const recurrenceNeeds = { hour: [], day: ['at'], week: ['weekday', 'at'], month: ['day', 'at'] }

const faultsOfRecurrence = (given: ExportScheduleCreate['recurrence']): Issue[] => {
  const optional = given.every === 'hour' ? ['minute'] : []
  return faultsOfKind('recurrence', given, recurrenceNeeds[given.every], optional, ['minute', 'at', 'weekday', 'day'])
}

const faultsOfWindow = (given: ExportScheduleCreate['window']): Issue[] => {
  if (given.kind === 'since_last_run') return faultsOfKind('window', given, [], ['since'], ['hours', 'days', 'since'])
  const surplus = faultsOfKind('window', given, [], ['hours', 'days'], ['since'])
  const isOne = (given.hours === undefined) !== (given.days === undefined)
  return isOne ? surplus : [...surplus, { path: 'window', message: 'must contain hours or days' }]
}

const faultOfEndpoint = (text: string, { allowedPrivateAddresses }: Environment): string | undefined => {
  const url = URL.parse(text)
  if (!url || !['https:', 'http:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    return 'must be an https URL without credentials'
  }
  // Whether the URL is in one of these networks is only checked when connecting to the store.
  if (url.protocol === 'http:' && allowedPrivateAddresses.length === 0) {
    return 'must be an https URL: http is only allowed for private networks in EARSHOT_ALLOWED_PRIVATE_ADDRESSES'
  }
  if (allowedPrivateAddresses.length === 0 && !isPublicHostByForm(url.hostname)) return 'must have a public host'
  return [text, `${text}/`].includes(`${url.origin}/`) ? undefined : `must be written as ${url.origin}`
}

const bucketNeeds = ['bucket', 'region', 'accessKeyId']
const bucketMay = ['prefix', 'endpoint', 'secretAccessKey', 'fileName', 'encryption']

const faultsOfDestination = (given: ExportScheduleCreate['destination'], environment: Environment): Issue[] => {
  const all = ['webhookEndpointId', ...bucketNeeds, ...bucketMay]
  if (given.type === 'webhook') return faultsOfKind('destination', given, ['webhookEndpointId'], [], all)
  const faults = faultsOfKind('destination', given, bucketNeeds, bucketMay, all)
  const add = (name: string, message: string | undefined) => {
    if (message !== undefined) faults.push({ path: `destination.${name}`, message })
  }
  // Directory buckets and S3 on Outposts need protocols that Earshot does not support.
  if (/--(x|op)-s3$/.test(given.bucket ?? '')) add('bucket', 'must be a general purpose bucket')
  if (given.prefix !== undefined) add('prefix', faultOfSegments(given.prefix))
  if (given.endpoint !== undefined) add('endpoint', faultOfEndpoint(given.endpoint, environment))
  if (given.fileName !== undefined) add('fileName', faultOfTemplate(given.fileName))
  return faults
}

const parseRecurrence = ({ every, minute, at, weekday, day }: ExportScheduleCreate['recurrence']): Recurrence => {
  if (every === 'hour') return { every, minute: minute ?? 0 }
  // Missing values have already been reported above. The defaults only satisfy TypeScript.
  if (every === 'day') return { every, at: at ?? '00:00' }
  if (every === 'week') return { every, weekday: weekday ?? 'monday', at: at ?? '00:00' }
  return { every, day: day ?? 1, at: at ?? '00:00' }
}

const parseWindow = ({ kind, hours, days }: ExportScheduleCreate['window']): WindowRule => {
  if (kind === 'since_last_run') return { kind }
  return hours === undefined ? { kind, days: days ?? 1 } : { kind, hours }
}

const parseDestination = (given: ExportScheduleCreate['destination']): ScheduleDestination => {
  const { type, webhookEndpointId = '', bucket = '', region = '', accessKeyId = '' } = given
  if (type === 'webhook') return { type, webhookEndpointId: webhookEndpointId.toLowerCase() }
  return {
    type,
    bucket,
    region,
    accessKeyId,
    prefix: given.prefix ?? null,
    endpoint: given.endpoint === undefined ? null : new URL(given.endpoint).origin,
    fileName: given.fileName ?? defaultFileName,
    encryption: given.encryption ?? null,
  }
}

/** The period is arbitrary, because each run has its own. */
const anyWindow = { since: '2000-01-01T00:00:00Z', until: '2000-01-02T00:00:00Z' }

const parseCalls = (given: NonNullable<ScheduleInput['config']>): ScheduledConfig => {
  const { since: _since, until: _until, ...config } = parseConfiguration({ ...given, ...anyWindow }, 'config')
  return config
}

const faultsOfContents = ({ config, conversationConfig }: ScheduleInput): Issue[] => {
  if (config && conversationConfig) return [{ path: 'conversationConfig', message: 'cannot be combined with config' }]
  const filter = conversationConfig?.filter ?? {}
  return (['since', 'until', 'period'] as const)
    .filter((name) => name in filter)
    .map((name) => ({
      path: `conversationConfig.filter.${name}`,
      message: 'is not allowed, because each run has its own window',
    }))
}

const parseContents = ({ config, conversationConfig }: ScheduleInput): { config?: ScheduledConfig } => {
  if (config) return { config: parseCalls(config) }
  return conversationConfig ? { config: parseConversations(conversationConfig, 'conversationConfig') } : {}
}

/** Validates the given properties, and reports all errors at once. */
export const parseSchedule = (given: ScheduleInput, environment: Environment) => {
  const { recurrence, window, destination } = given
  const faults = [
    ...faultsOfContents(given),
    ...(recurrence ? faultsOfRecurrence(recurrence) : []),
    ...(window ? faultsOfWindow(window) : []),
    ...(destination ? faultsOfDestination(destination, environment) : []),
  ]
  if (faults.length > 0) throw invalidAll(faults)
  return {
    ...parseContents(given),
    ...(recurrence && { recurrence: parseRecurrence(recurrence) }),
    ...(window && { windowRule: parseWindow(window) }),
    ...(window?.since !== undefined && { coveredUntil: new Date(window.since) }),
    ...(destination && { destination: parseDestination(destination) }),
  }
}
