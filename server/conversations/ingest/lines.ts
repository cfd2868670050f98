import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../../platform/errors.ts'
import { openByteCollector } from '../../platform/http/byte-collector.ts'
import { readJson } from '../../platform/http/json/read.ts'

/** Reads newline-delimited JSON as it arrives. Only one chunk is kept in memory. */

const newline = 0x0a
/** Many lines can arrive at once. After this time, other work gets a turn. */
const turnMs = 15

const tooLong = (maxBytes: number) =>
  new ApiError(
    'tooLarge',
    `A line can have at most ${maxBytes.toLocaleString('en')} bytes. Send the conversation in parts.`,
  )

/** Yields the lines of a stream, or an error in place of a line that is too long. */
async function* linesOf(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer | ApiError> {
  const pending = openByteCollector()
  let bytes = 0
  const take = (): Buffer | ApiError => {
    const line = pending.take()
    const isTooLong = bytes > maxBytes
    bytes = 0
    return isTooLong ? tooLong(maxBytes) : line
  }
  const keep = (part: Buffer): void => {
    bytes += part.length
    if (bytes <= maxBytes) pending.add(part)
  }
  for await (const block of source) {
    let start = 0
    for (let end = block.indexOf(newline); end >= 0; end = block.indexOf(newline, start)) {
      keep(block.subarray(start, end))
      yield take()
      start = end + 1
    }
    if (start < block.length) keep(block.subarray(start))
  }
  if (bytes > 0) yield take()
}

const isBlank = (line: Buffer): boolean => line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09)

const parseLine = async (line: Buffer): Promise<unknown> => {
  try {
    return await readJson(line, { apart: 'transcript' })
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

export type ChunkLimits = { items: number; bytes: number; lineBytes: number }

/** Yields the values of the lines in chunks, with an error in place of each invalid value. Blank lines do not count. */
export async function* chunksOfLines(source: AsyncIterable<Buffer>, limits: ChunkLimits): AsyncGenerator<unknown[]> {
  let chunk: unknown[] = []
  let bytes = 0
  let since = performance.now()
  for await (const line of linesOf(source, limits.lineBytes)) {
    if (performance.now() - since > turnMs) {
      await setImmediate()
      since = performance.now()
    }
    if (line instanceof ApiError) chunk.push(line)
    else if (!isBlank(line)) {
      chunk.push(await parseLine(line))
      bytes += line.length
    }
    if (chunk.length >= limits.items || bytes >= limits.bytes) {
      yield chunk
      chunk = []
      bytes = 0
    }
  }
  if (chunk.length > 0) yield chunk
}
