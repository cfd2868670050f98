import { isObject } from '../platform/is-object.ts'
import { Unreadable } from './draft.ts'

/** Reads JSON from others: everything can be missing, and anything can be anywhere. */

export type JsonObject = Record<string, unknown>

/** Returns the value at a path of property names, or undefined if the path does not exist. */
export const at = (value: unknown, ...path: string[]): unknown => {
  let found = value
  for (const name of path) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined
    found = found[name]
  }
  return found
}

/** The list itself, or the first list found along one of the paths (`call.transcript_object`). */
export const listAt = (content: unknown, ...paths: string[]): unknown[] | undefined => {
  if (Array.isArray(content)) return content
  return paths.map((path) => at(content, ...path.split('.'))).find(Array.isArray)
}

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** A non-blank string, or null. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** An ID, which some senders write as a number. */
export const idOf = (value: unknown): string | null => (Number.isSafeInteger(value) ? String(value) : textOf(value))

/** A finite number, also from a numeric string. */
export const numberOf = (value: unknown): number | null => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : null
}

export const booleanOf = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null)

/** Converts seconds, which most senders use, to milliseconds. */
export const secondsToMs = (value: unknown): number | null => {
  const seconds = numberOf(value)
  return seconds === null ? null : seconds * 1_000
}

/** No data is older than the year 2000: an earlier number has another unit, or is not a time. */
const earliestInstant = Date.UTC(2_000, 0)
const latestInstant = Date.UTC(9_999, 11, 31)

/** A time from milliseconds since 1970. */
export const instantOfMs = (value: number | null): Date | null =>
  value !== null && value >= earliestInstant && value < latestInstant ? new Date(Math.round(value)) : null

/** A time from ISO 8601 with an offset; without one, the time is ambiguous. */
export const instantOf = (value: unknown): Date | null => {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]{5,20}(Z|[+-]\d\d:?\d\d)$/i.test(value)) return null
  return instantOfMs(Date.parse(value))
}

export const msSince = (start: Date | null | undefined, instant: Date | null): number | null =>
  start && instant ? instant.getTime() - start.getTime() : null

/** Without recursion, because it measures the depth of the value. */
export const isDeeperThan = (value: unknown, limit: number): boolean => {
  let level: object[] = isNested(value) ? [value] : []
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true
    level = nestedIn(level)
  }
  return false
}

const nestedIn = (level: object[]): object[] => {
  const nested: object[] = []
  for (const item of level) {
    for (const child of Array.isArray(item) ? item : Object.values(item)) if (isNested(child)) nested.push(child)
  }
  return nested
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

const nestingLimit = 64
// Characters that an escape can contain although the text around it was checked: NUL, or a lone surrogate.
const unstorable = /\\u(0000|d[89a-f])/i

/** The object or array in a JSON string; undefined if it contains none, or one that cannot be stored. */
export const nestedJson = (text: string): JsonObject | unknown[] | undefined => {
  if (!/^\s{0,100}[[{]/.test(text)) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || isDeeperThan(value, nestingLimit)) return undefined
  // JSON.stringify writes a surrogate pair as it is, and only what cannot be stored as an escape.
  if (unstorable.test(text) && unstorable.test(JSON.stringify(value))) return undefined
  return value as JsonObject | unknown[]
}

/** Each entry of a list as an object. */
export function* entriesOf(list: unknown[], what = 'entry'): Generator<JsonObject> {
  for (const [index, entry] of list.entries()) {
    if (!isObject(entry)) throw new Unreadable(`${what} ${index} is not an object`)
    yield entry
  }
}

/** Whether an entry of the list is an object with that property; the rest can be anything. */
export const someEntry = (list: unknown[], has: (entry: JsonObject) => boolean): boolean =>
  list.some((entry) => isObject(entry) && has(entry))
