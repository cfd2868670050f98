import { isObject } from '../platform/is-object.ts'
import { Unreadable } from './draft.ts'

/** Reading of JSON that others wrote: everything may be absent, and anything may stand anywhere. */

export type JsonObject = Record<string, unknown>

/** The value along a path of property names; undefined where the path breaks off. */
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

/** A text that says something, or null. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** An identifier, which some senders write as a number. */
export const idOf = (value: unknown): string | null => (Number.isSafeInteger(value) ? String(value) : textOf(value))

/** A finite number, also from a text that is nothing but one. */
export const numberOf = (value: unknown): number | null => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : null
}

export const booleanOf = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null)

/** Seconds, as most senders count, in milliseconds. */
export const secondsToMs = (value: unknown): number | null => {
  const seconds = numberOf(value)
  return seconds === null ? null : seconds * 1_000
}

/** Before the year 2000 nobody sent such things: what seems so early is a number in another unit, or none of a time. */
const earliestInstant = Date.UTC(2_000, 0)
const latestInstant = Date.UTC(9_999, 11, 31)

/** An instant from milliseconds since 1970. */
export const instantOfMs = (value: number | null): Date | null =>
  value !== null && value >= earliestInstant && value < latestInstant ? new Date(Math.round(value)) : null

/** An instant from ISO 8601 with an offset; without one it is not known which instant is meant. */
export const instantOf = (value: unknown): Date | null => {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]{5,20}(Z|[+-]\d\d:?\d\d)$/i.test(value)) return null
  return instantOfMs(Date.parse(value))
}

export const msSince = (start: Date | null | undefined, instant: Date | null): number | null =>
  start && instant ? instant.getTime() - start.getTime() : null

/** Walks without recursion, since the depth of the value is the question. */
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
// What an escape can bring in although the text around it was checked: NUL, or half of a surrogate pair.
const unstorable = /\\u(0000|d[89a-f])/i

/** The object or list that a text holds as JSON; undefined when it holds none, or one that could not be stored. */
export const nestedJson = (text: string): JsonObject | unknown[] | undefined => {
  if (!/^\s{0,100}[[{]/.test(text)) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || isDeeperThan(value, nestingLimit)) return undefined
  // JSON.stringify writes a sound pair as itself, and only what cannot be stored as an escape.
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

/** Whether an entry of the list is an object with that; the rest may be anything. */
export const someEntry = (list: unknown[], has: (entry: JsonObject) => boolean): boolean =>
  list.some((entry) => isObject(entry) && has(entry))
