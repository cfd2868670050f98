import { isObject } from '../platform/is-object.ts'
import { Unreadable } from './draft.ts'

/** Reads other senders' JSON. Every value can be missing, and any value can be anywhere. */

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

/** Returns the list itself, or the first list at one of the paths (`call.transcript_object`). */
export const listAt = (content: unknown, ...paths: string[]): unknown[] | undefined => {
  if (Array.isArray(content)) return content
  return paths.map((path) => at(content, ...path.split('.'))).find(Array.isArray)
}

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** Returns a string that is not empty, or null. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Returns an ID. Some senders write it as a number. */
export const idOf = (value: unknown): string | null => (Number.isSafeInteger(value) ? String(value) : textOf(value))

/** Returns a finite number. Also accepts a string that contains one. */
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

/** No data is older than the year 2000. A smaller number has a different unit or is not a time. */
const earliestInstant = Date.UTC(2_000, 0)
const latestInstant = Date.UTC(9_999, 11, 31)

/** Converts a time in milliseconds since 1970 to a Date. */
export const instantOfMs = (value: number | null): Date | null =>
  value !== null && value >= earliestInstant && value < latestInstant ? new Date(Math.round(value)) : null

/** Converts a time in ISO 8601 to a Date. Returns null if it has no offset, because it would be ambiguous. */
export const instantOf = (value: unknown): Date | null => {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]{5,20}(Z|[+-]\d\d:?\d\d)$/i.test(value)) return null
  return instantOfMs(Date.parse(value))
}

export const msSince = (start: Date | null | undefined, instant: Date | null): number | null =>
  start && instant ? instant.getTime() - start.getTime() : null

/** Returns whether a value is nested more deeply than the limit. Does not recurse, because the depth is unknown. */
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
// An escape can represent characters that the check of the surrounding text has not found: NUL, or a lone surrogate.
const unstorable = /\\u(0000|d[89a-f])/i

/** Returns the object or array in a JSON string. Returns undefined if there is none, or if it can't be stored. */
export const nestedJson = (text: string): JsonObject | unknown[] | undefined => {
  if (!/^\s{0,100}[[{]/.test(text)) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || isDeeperThan(value, nestingLimit)) return undefined
  // JSON.stringify writes surrogate pairs unchanged. It only escapes text that can't be stored.
  if (unstorable.test(text) && unstorable.test(JSON.stringify(value))) return undefined
  return value as JsonObject | unknown[]
}

/** Yields each entry of a list as an object. */
export function* entriesOf(list: unknown[], what = 'entry'): Generator<JsonObject> {
  for (const [index, entry] of list.entries()) {
    if (!isObject(entry)) throw new Unreadable(`${what} ${index} is not an object`)
    yield entry
  }
}

/**
 * Returns whether any entry in the list is an object for which `has` returns true. The other entries can be anything.
 */
export const someEntry = (list: unknown[], has: (entry: JsonObject) => boolean): boolean =>
  list.some((entry) => isObject(entry) && has(entry))
