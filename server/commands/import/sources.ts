import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { WronglyCalled } from '../call.ts'

/** Opens the inputs of an import: files, files in folders, and standard input. */

export type ImportSource = {
  /** The path, or `-` for standard input. */
  name: string
  bytes: number
  /**
   * A hash of the file's beginning, size, and time, so that a changed file with the same name counts as a different
   * file.
   */
  fingerprint: string
  open: (onBytes: (bytes: number) => void) => AsyncIterable<Buffer>
}

const readable = /\.(json|jsonl|ndjson)(\.gz)?$/i
const headBytes = 4_096

/** Adds the path to reading errors, because an import can have several files. */
async function* naming(path: string, blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* blocks
  } catch (error) {
    throw new Error(`Reading ${path} failed: ${(error as Error).message}`, { cause: error })
  }
}

const counted = (stream: Readable, onBytes: (bytes: number) => void, isPacked: boolean): AsyncIterable<Buffer> => {
  stream.on('data', (chunk: Buffer) => onBytes(chunk.length)).pause()
  if (!isPacked) return stream
  const unpacked = createGunzip()
  stream.once('error', (error) => unpacked.destroy(error))
  return stream.pipe(unpacked)
}

const readHead = async (path: string): Promise<Buffer> => {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const sourceOf = async (path: string): Promise<ImportSource> => {
  const { size, mtimeMs } = await stat(path)
  const head = await readHead(path)
  const isPacked = head[0] === 0x1f && head[1] === 0x8b
  return {
    name: path,
    bytes: size,
    fingerprint: createHash('sha256').update(head).update(`${size} ${mtimeMs}`).digest('hex'),
    open: (onBytes) => naming(path, counted(createReadStream(path), onBytes, isPacked)),
  }
}

const standardInput: ImportSource = {
  name: '-',
  bytes: 0,
  fingerprint: '',
  open: (onBytes) => counted(process.stdin, onBytes, false),
}

const sourcesAt = async (given: string): Promise<ImportSource[]> => {
  if (given === '-') return [standardInput]
  const path = resolve(given)
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new WronglyCalled(`${JSON.stringify(given)} does not exist.`)
  if (found.isFile()) return [await sourceOf(path)]
  if (!found.isDirectory())
    throw new WronglyCalled(`${JSON.stringify(given)} is not a regular file. Use - to read standard input.`)
  const names = (await readdir(path)).filter((name) => readable.test(name)).sort()
  if (names.length === 0) throw new WronglyCalled(`The folder ${JSON.stringify(given)} contains no JSON files.`)
  return Promise.all(names.map((name) => sourceOf(join(path, name))))
}

export const openSources = async (given: string[]): Promise<ImportSource[]> => {
  const sources = (await Promise.all(given.map(sourcesAt))).flat()
  const names = sources.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new WronglyCalled(`${JSON.stringify(twice)} is listed twice.`)
  return sources
}
