// Reads the JSON values in a file one by one, and keeps only one of them in memory. A file can contain lines, a single
// array, or values that span several lines.

import { isUtf8 } from 'node:buffer'

export type ReadValue = { value: unknown } | { fault: string }

/** The maximum length of a line that the service accepts. */
const longestBytes = 32 * 1024 * 1024

const [quote, backslash, comma, newline] = [0x22, 0x5c, 0x2c, 0x0a]
const isOpening = (byte: number) => byte === 0x7b || byte === 0x5b
const isClosing = (byte: number) => byte === 0x7d || byte === 0x5d
const isSpace = (byte: number) => byte === 0x20 || byte === newline || byte === 0x0d || byte === 0x09

const parse = (bytes: Buffer): ReadValue => {
  if (!isUtf8(bytes)) return { fault: 'Not valid UTF-8.' }
  try {
    return { value: JSON.parse(bytes.toString('utf8')) }
  } catch {
    return { fault: 'Not valid JSON.' }
  }
}

/** Collects the parts of a value. */
const openByteCollector = () => {
  let parts: Buffer[] = []
  let bytes = 0
  return {
    add: (part: Buffer): void => {
      bytes += part.length
      if (bytes <= longestBytes) parts.push(part)
    },
    take: (): ReadValue | undefined => {
      const whole = Buffer.concat(parts)
      const isTooLong = bytes > longestBytes
      parts = []
      bytes = 0
      if (isTooLong) return { fault: `Larger than ${longestBytes} bytes.` }
      return whole.every(isSpace) ? undefined : parse(whole)
    },
  }
}

async function* valuesOfLines(source: AsyncIterable<Buffer>): AsyncGenerator<ReadValue> {
  const gather = openByteCollector()
  for await (const block of source) {
    let start = 0
    for (let end = block.indexOf(newline); end >= 0; end = block.indexOf(newline, start)) {
      gather.add(block.subarray(start, end))
      start = end + 1
      const read = gather.take()
      if (read) yield read
    }
    if (start < block.length) gather.add(block.subarray(start))
  }
  const last = gather.take()
  if (last) yield last
}

/** Tracks strings byte by byte, so that brackets and commas within them aren't interpreted as structure. */
const openStringTracker = () => {
  let [isString, isEscaped] = [false, false]
  return {
    isWithin: () => isString,
    /** Returns whether the byte belongs to a string, including its quotes. */
    take: (byte: number): boolean => {
      if (!isString) {
        isString = byte === quote
        return isString
      }
      if (isEscaped) isEscaped = false
      else if (byte === backslash) isEscaped = true
      else if (byte === quote) isString = false
      return true
    },
  }
}

/**
 * The role of a byte between the values in a file. `starts`: it opens the array. `endsBefore`: the value ends before
 * it. `endsWith`: the value ends with it.
 */
type Boundary = 'starts' | 'endsBefore' | 'endsWith' | undefined

/** Finds where values start and end: at the commas of an array, or where all open brackets are closed. */
const openBoundaries = (isArray: boolean) => {
  const strings = openStringTracker()
  let depth = 0
  return {
    isBetweenValues: () => depth === 0 && !strings.isWithin(),
    /** Returns whether the next bytes can belong to a value. They can't if they are outside an array's brackets. */
    areOpen: () => !isArray || depth >= 1,
    take: (byte: number): Boundary => {
      if (strings.take(byte)) return undefined
      const boundary = isArray ? boundaryInArray(byte, depth) : boundaryInText(byte, depth)
      if (isOpening(byte)) depth++
      else if (isClosing(byte)) depth--
      return boundary
    },
  }
}

/**
 * Returns whether an item starts at the byte or ends before it. `depth` is the number of open brackets before the byte.
 */
const boundaryInArray = (byte: number, depth: number): Boundary => {
  if (depth === 0 && isOpening(byte)) return 'starts'
  return depth === 1 && (byte === comma || isClosing(byte)) ? 'endsBefore' : undefined
}

const boundaryInText = (byte: number, depth: number): Boundary =>
  depth === 1 && isClosing(byte) ? 'endsWith' : undefined

type Piece = { bytes: Buffer; endsValue: boolean }

function* piecesOf(block: Buffer, boundaries: ReturnType<typeof openBoundaries>): Generator<Piece> {
  let start = 0
  for (let at = 0; at < block.length; at++) {
    const boundary = boundaries.take(block[at] as number)
    if (boundary === undefined) continue
    const end = boundary === 'endsWith' ? at + 1 : at
    if (boundary !== 'starts') yield { bytes: block.subarray(start, end), endsValue: true }
    start = at + 1
  }
  if (start < block.length && boundaries.areOpen()) yield { bytes: block.subarray(start), endsValue: false }
}

/** Reads the values in a single array, or values that span several lines. */
async function* valuesOfText(source: AsyncIterable<Buffer>, isArray: boolean): AsyncGenerator<ReadValue> {
  const gather = openByteCollector()
  const boundaries = openBoundaries(isArray)
  for await (const block of source) {
    for (const { bytes, endsValue } of piecesOf(block, boundaries)) {
      gather.add(bytes)
      const read = endsValue ? gather.take() : undefined
      if (read) yield read
    }
  }
  const rest = gather.take()
  if (!boundaries.isBetweenValues()) yield { fault: 'The file ends in the middle of a value.' }
  else if (rest) yield rest
}

/** Returns the first chunk, and a stream of all chunks including it. */
const peek = async (source: AsyncIterable<Buffer>): Promise<{ head: Buffer; all: AsyncIterable<Buffer> }> => {
  const iterator = source[Symbol.asyncIterator]()
  const buffered: Buffer[] = []
  let head = Buffer.alloc(0)
  // Whether the first line is complete. It can be as long as the whole array.
  const isTold = () => {
    const start = head.findIndex((byte) => !isSpace(byte))
    return start >= 0 && (head[start] === 0x5b || head.includes(newline, start))
  }
  while (head.length < longestBytes && !isTold()) {
    const { done, value } = await iterator.next()
    if (done) break
    buffered.push(value)
    head = Buffer.concat(buffered)
  }
  async function* all() {
    try {
      yield* buffered.splice(0)
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
    } finally {
      await iterator.return?.()
    }
  }
  return { head, all: all() }
}

const mark = Buffer.from('\uFEFF')

/** Removes the byte order mark, which some editors add. */
async function* withoutMark(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const block of source) {
    if (head === undefined) {
      yield block
      continue
    }
    head = Buffer.concat([head, block])
    if (head.length < mark.length) continue
    yield head.subarray(0, mark.length).equals(mark) ? head.subarray(mark.length) : head
    head = undefined
  }
  if (head !== undefined) yield head
}

export async function* valuesOf(source: AsyncIterable<Buffer>): AsyncGenerator<ReadValue> {
  const { head, all } = await peek(withoutMark(source))
  const start = head.findIndex((byte) => !isSpace(byte))
  if (start < 0) return
  const end = head.indexOf(newline, start)
  const line = end < 0 ? head.subarray(start) : head.subarray(start, end)
  // A line that contains only `[` starts an array, and a line with only `{` starts a value that spans lines.
  if (head[start] === 0x5b) yield* valuesOfText(all, true)
  else if (head[start] === 0x7b && line.subarray(1).every((byte) => isSpace(byte))) yield* valuesOfText(all, false)
  else yield* valuesOfLines(all)
}
