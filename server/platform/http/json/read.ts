import { isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import { ApiError, type Issue } from '../../errors.ts'
import { maxIssues } from '../validation.ts'
import { findFaults } from './faults.ts'
import { type JsonCounts, openScan, type ScanOptions, type ScanResult } from './scan.ts'

export type { JsonCounts }

/**
 * The maximum nesting depth of a body, which a rich-text document needs. Serializers and PostgreSQL recurse into nested
 * values.
 */
const maxDepth = 64
/** The maximum number of names and values in a body. Reading more would block other requests. */
const maxParts = 100_000
/** The size limit for a value that is read separately, and for all items of a list together. */
const maxPartsTogether = 1_000_000
/** Reading shorter values separately is not worthwhile. */
const apartBytes = 16 * 1024
/** The number of bytes that are processed in one turn of the event loop. */
const turnBytes = 128 * 1024
const turnMs = 25

/** A long value that is still text, because a thread parses it. */
export class JsonText {
  // The field is private, so that the bytes are not enumerated as properties.
  readonly #bytes: Uint8Array<ArrayBuffer>
  /** Undefined if the text was not scanned in detail. */
  readonly #counts: JsonCounts | undefined
  constructor(bytes: Uint8Array<ArrayBuffer>, counts?: JsonCounts) {
    this.#bytes = bytes
    this.#counts = counts
  }
  get bytes() {
    return this.#bytes
  }
  get counts() {
    return this.#counts
  }
}

const refused = (message: string) => new ApiError('invalid', message, { issues: [{ path: '', message }] })

const isSound = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/**
 * Finds strings and property names that PostgreSQL can't store because they contain NUL or a lone surrogate, and
 * numbers that are out of range.
 */
export const unsoundParts = (value: unknown, path = ''): Issue[] => {
  const issues: Issue[] = []
  addUnsound(issues, value, path)
  return issues
}

const addUnsound = (issues: Issue[], value: unknown, path: string): void => {
  if (issues.length >= maxIssues) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) addUnsound(issues, item, `${path}[${index}]`)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) addUnsoundProperty(issues, name, item, path)
  } else {
    const message = faultOfScalar(value)
    if (message !== undefined) issues.push({ path, message })
  }
}

const addUnsoundProperty = (issues: Issue[], name: string, value: unknown, path: string): void => {
  const inside = path === '' ? name : `${path}.${name}`
  if (!isSound(name))
    issues.push({ path: inside.toWellFormed(), message: 'is a property name with NUL or a lone surrogate' })
  addUnsound(issues, value, inside)
}

const faultOfScalar = (value: unknown): string | undefined => {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'must be a number below 1.8e308'
  if (typeof value === 'string' && !isSound(value)) return 'must not contain NUL or a lone surrogate'
  return undefined
}

const countNames = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) for (const item of value) count += countNames(item)
  else {
    const items = Object.values(value)
    count += items.length
    for (const item of items) count += countNames(item)
  }
  return count
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refused(`The body is not valid JSON: ${(error as Error).message}.`)
  }
}

type Reading = {
  apart?: string | undefined
  /** Whether integers with too many digits are accepted, because other services send such integers. */
  isForeign?: boolean | undefined
}

/** Parses text of known size. Throws if a value can't be stored unchanged. */
export const parseCounted = (text: string, counts: JsonCounts, { apart, isForeign = false }: Reading = {}): unknown => {
  const value = parse(text)
  if (counts.isSuspicious) {
    const issues = unsoundParts(value)
    if (issues.length > 0)
      throw new ApiError('invalid', 'The body contains something that cannot be stored.', { issues })
  }
  const isRepetitive = countNames(value) !== counts.names
  if (!isRepetitive && (isForeign || !counts.hasLongInteger)) return value
  // Transcripts from other services are not rejected for this reason.
  const inApart = new RegExp(`^(?:\\w+\\[\\d+\\]\\.)?${apart}(?:$|[.[])`)
  const keepsIntegers = (path: string) => !isForeign && (apart === undefined || !inApart.test(path))
  const [first, ...others] = findFaults(text, { most: maxIssues, keepsIntegers })
  if (first) throw new ApiError('invalid', `${first.path} ${first.message}`, { issues: [first, ...others] })
  return value
}

const tooMany = (most: number) =>
  new ApiError(
    'tooLarge',
    `A body can contain at most ${most.toLocaleString('en')} names and values. Send less at once.`,
  )

const scan = async (bytes: Buffer, wanted: ScanOptions): Promise<ScanResult> => {
  const isLong = bytes.length > turnBytes
  // Merging the chunks has already used some of this turn.
  if (isLong) await setImmediate()
  if (!isUtf8(bytes)) throw refused('The body is not valid UTF-8.')
  if (isLong) await setImmediate()
  const scanning = openScan(bytes, wanted)
  while (!scanning.run(turnBytes)) {
    if (scanning.parts() > maxPartsTogether) throw tooMany(maxPartsTogether)
    await setImmediate()
  }
  const found = scanning.found()
  if (found.deepest > maxDepth) throw refused(`The body is nested more than ${maxDepth} levels deep.`)
  if (found.isRepeated) throw refused(`${wanted.apart ?? wanted.list} is repeated.`)
  return found
}

/**
 * Reads a JSON document without blocking other requests. Throws if a value can't be stored or would take too long to
 * process.
 */
export const readJson = async (bytes: Buffer, reading: Reading = {}): Promise<unknown> => {
  const found = await scan(bytes, { apart: reading.apart })
  const { apart } = found
  const isApart = apart !== undefined && apart.end - apart.start > apartBytes
  const inApart = apart && !isApart ? apart : undefined
  const counts: JsonCounts = {
    parts: found.parts + (inApart?.parts ?? 0),
    names: found.names + (inApart?.names ?? 0),
    isSuspicious: found.isSuspicious || inApart?.isSuspicious === true,
    hasLongInteger: found.hasLongInteger,
  }
  if (counts.parts > maxParts) throw tooMany(maxParts)
  // Parsing gets its own turn, and so does processing the value.
  const isLong = bytes.length > turnBytes
  if (isLong) await setImmediate()
  if (!isApart) {
    const value = parseCounted(bytes.toString('utf8'), counts, reading)
    if (isLong) await setImmediate()
    return value
  }
  if (apart.parts > maxPartsTogether) throw tooMany(maxPartsTogether)
  const { start, end, parts, names, isSuspicious, hasLongInteger } = apart
  const text = `${bytes.toString('utf8', 0, start)}null${bytes.toString('utf8', end)}`
  // The scan has found a property, so this is an object.
  const value = parseCounted(text, counts, reading) as Record<string, unknown>
  const copied = new Uint8Array(end - start)
  copied.set(bytes.subarray(start, end))
  value[reading.apart ?? ''] = new JsonText(copied, { parts, names, isSuspicious, hasLongInteger })
  return value
}

const within = (error: unknown, at: string): unknown => {
  if (!(error instanceof ApiError) || error.kind !== 'invalid') return error
  const issues = (error.details?.issues ?? []).map(({ path, message }) => ({
    path: path === '' ? at : `${at}.${path}`,
    message,
  }))
  return new ApiError('invalid', `${at}: ${error.message}`, { issues })
}

/** Reads a document that contains a long list, one item at a time. */
export const readJsonList = async (
  bytes: Buffer,
  { list, mostItems, itemBytes, ...reading }: Reading & { list: string; mostItems: number; itemBytes: number },
): Promise<unknown> => {
  if (bytes.length <= apartBytes) return readJson(bytes, reading)
  // One item more than the limit is enough to detect the error.
  const found = await scan(bytes, { list, mostItems: mostItems + 1 })
  const restBytes = bytes.length - (found.list ? found.list.end - found.list.start : 0)
  if (restBytes > itemBytes)
    throw new ApiError('tooLarge', `The body without its ${list} can have at most ${itemBytes} bytes.`)
  if (!found.list) return readJson(bytes, reading)
  if (found.parts > maxPartsTogether) throw tooMany(maxPartsTogether)
  const { start, end, items } = found.list
  const rest = Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)])
  // The scan has found a property, so this is an object.
  const value = (await readJson(rest, { isForeign: reading.isForeign })) as Record<string, unknown>
  const read: unknown[] = []
  let since = performance.now()
  for (const [index, item] of items.entries()) {
    if (item.end - item.start > itemBytes)
      throw new ApiError('tooLarge', `${list}[${index}] has more than ${itemBytes} bytes.`)
    read.push(
      await readJson(bytes.subarray(item.start, item.end), reading).catch((error: unknown) => {
        throw within(error, `${list}[${index}]`)
      }),
    )
    if (performance.now() - since < turnMs) continue
    await setImmediate()
    since = performance.now()
  }
  value[list] = read
  return value
}
