import Type, { type Static } from 'typebox'
import { type Issue, invalid } from '../platform/errors.ts'
import { Choice, Closed } from '../platform/http/schemas.ts'
import { soundNames } from '../sound-measures/names.ts'
import { Signals } from '../transcripts/signals/signals.ts'

/** The orders of a list of conversations. */

/** For example, `talkRatio` or `responseLatencyMs.p95`. */
export const signalNames: string[] = Object.entries(Signals.properties).flatMap(([name, schema]) =>
  'properties' in schema ? Object.keys(schema.properties as object).map((part) => `${name}.${part}`) : name,
)

/**
 * The maximum number of conversations to sort by signals, measures of sound, or metrics, which have no index. Beyond
 * this number, only the newest selected conversations are sorted.
 */
export const mostSorted = 100_000

const directions = ['asc', 'desc'] as const

export const Sort = Closed(
  {
    by: Type.String({
      minLength: 1,
      maxLength: 160,
      description: [
        '`startedAt`, `durationSeconds`, `similarity` with `filter.similarTo`, `score:<monitorId>` for the newest version’s score, `signal:<name>` with a',
        'name such as `talkRatio` or `responseLatencyMs.p95`, `sound:<name>` with a name such as `responseMs.agent.p95`,',
        'or `metric:<key>` for a customer metric, where booleans count as 0 and 1. Signals, sound, and metrics sort the',
        `${mostSorted.toLocaleString('en')} newest conversations that match.`,
      ].join(' '),
      examples: ['durationSeconds'],
    }),
    direction: Type.Optional(Choice(directions, { description: 'Default: `desc`.' })),
  },
  {
    title: 'Sort',
    description:
      'Equal values are sorted by start, and equal similarities by ID, in the same direction. Conversations without a ' +
      'value come last.',
    examples: [{ by: 'durationSeconds', direction: 'desc' } satisfies object],
  },
)
export type Sort = Static<typeof Sort>

export type SortKey =
  | { kind: 'startedAt' }
  | { kind: 'durationSeconds' }
  | { kind: 'similarity' }
  | { kind: 'score'; monitorId: string }
  | { kind: 'signal' | 'sound'; path: string[] }
  | { kind: 'metric'; key: string }

export type Sorting = { key: SortKey; direction: (typeof directions)[number] }

const newestFirst: Sorting = { key: { kind: 'startedAt' }, direction: 'desc' }

const namesOf = { signal: signalNames, sound: soundNames }

/** Returns the error in the name of a signal or sound measure. */
export const faultOfMeasure = (kind: keyof typeof namesOf, name: string): string | undefined => {
  const names = namesOf[kind]
  if (names.includes(name)) return undefined
  return `is not a known ${kind === 'signal' ? 'signal' : 'sound measure'}. Choose one of ${names.join(', ')}`
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const readKey = (by: string): SortKey | string => {
  if (by === 'startedAt' || by === 'durationSeconds' || by === 'similarity') return { kind: by }
  const [kind, ...rest] = by.split(':')
  const name = rest.join(':')
  if (kind === 'score') return uuid.test(name) ? { kind, monitorId: name.toLowerCase() } : 'needs a monitor’s ID'
  if (kind === 'metric') return name === '' || name.length > 120 ? 'needs a metric key' : { kind, key: name }
  if (kind !== 'signal' && kind !== 'sound') {
    return 'must be startedAt, durationSeconds, similarity, score:…, signal:…, sound:…, or metric:…'
  }
  return faultOfMeasure(kind, name) ?? { kind, path: name.split('.') }
}

type Sorted = { similarTo?: unknown }

/** Only conversations that are selected by their meaning have a similarity. */
const lacksMeaning = (key: SortKey, { similarTo }: Sorted): boolean =>
  key.kind === 'similarity' && similarTo === undefined

const needsMeaning = 'similarity requires similarTo in the filter'

/** Validates rules that a schema cannot express. `path` is the sort's path in the request. */
export const faultsOfSort = (sort: Sort | undefined, path: string, filter: Sorted): Issue[] => {
  const key = sort === undefined ? undefined : readKey(sort.by)
  if (key === undefined) return []
  const message = typeof key === 'string' ? key : lacksMeaning(key, filter) ? needsMeaning : undefined
  return message === undefined ? [] : [{ path: `${path}.by`, message }]
}

/**
 * Returns a validated sort. By default, the newest conversations come first. `path` is the sort's path in the request.
 * `filter` is omitted if it is checked later.
 */
export const parseSort = (sort: Sort | undefined, path: string, filter?: Sorted): Sorting => {
  if (sort === undefined) return newestFirst
  const key = readKey(sort.by)
  if (typeof key === 'string') throw invalid(`${path}.by`, key)
  if (filter && lacksMeaning(key, filter)) throw invalid(`${path}.by`, needsMeaning)
  return { key, direction: sort.direction ?? 'desc' }
}

export const isNewestFirst = ({ key, direction }: Sorting): boolean => key.kind === 'startedAt' && direction === 'desc'
