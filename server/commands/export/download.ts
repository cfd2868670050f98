import { createHash } from 'node:crypto'
import { closeSync, createReadStream, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { EarshotError } from '../../../client/src/errors.ts'
import type { Remote } from './remote.ts'

/** The maximum number of consecutive failures without a new byte. */
const mostFailures = 6

export class Damaged extends Error {}

type DownloadRequest = {
  /** The path of the download in the API. */
  path: string
  bytes: number
  file: string
  signal: AbortSignal
  onProgress: (bytes: number) => void
  /** The pause after the first failure. It doubles with each further failure. */
  pauseMs?: number
}

const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(() => undefined))?.size ?? 0

const digestOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return `sha-256=:${hash.digest('base64')}:`
}

/** Writes data as it arrives, so that the received bytes survive a broken connection. */
const writeAll = (body: Readable, file: number, onWritten: (bytes: number) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    body.on('data', (chunk: Buffer) => {
      try {
        for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at)
        onWritten(chunk.length)
      } catch (error) {
        body.destroy()
        reject(error)
      }
    })
    body.once('end', resolve).once('error', reject)
  })

/** Downloads over one connection, starting after the bytes that already exist. */
const fetchMore = async (remote: Remote, location: URL, part: string, onProgress: DownloadRequest['onProgress']) => {
  const file = openSync(part, 'a')
  try {
    const from = fstatSync(file).size
    const { status, body } = await remote.download(location, from)
    if (status !== 200 && status !== 206) {
      body.destroy()
      throw new EarshotError(`The download failed with status ${status}.`, { status })
    }
    if (status === 200) ftruncateSync(file)
    let at = status === 206 ? from : 0
    await writeAll(body, file, (written) => {
      at += written
      onProgress(at)
    })
  } finally {
    closeSync(file)
  }
}

/** Returns whether retrying is pointless. An expired link or busy storage is retried, but a full disk is not. */
const isFinal = (error: unknown): boolean => {
  if (error instanceof EarshotError) {
    return error.status >= 400 && error.status < 500 && ![403, 410, 429].includes(error.status)
  }
  return ['open', 'write', 'ftruncate'].includes(String((error as { syscall?: unknown }).syscall))
}

/**
 * Downloads to a temporary file, resumes after a broken connection, and renames the file when its digest matches.
 * Continues the file of an earlier download that was interrupted.
 */
export const downloadFile = async (remote: Remote, part: string, wanted: DownloadRequest): Promise<void> => {
  const { path, bytes, file, signal, onProgress, pauseMs = 500 } = wanted
  if ((await sizeOf(part)) > bytes) await rm(part)
  let digest = ''
  let furthest = await sizeOf(part)
  for (let failures = 0; ; ) {
    // The link is requested for each attempt, because it expires within minutes. If the file was already complete, only
    // its digest is checked.
    const link = await remote.link(path)
    digest = link.digest
    if ((await sizeOf(part)) >= bytes) break
    let fault: unknown = new Error('The download was interrupted repeatedly.')
    await fetchMore(remote, link.location, part, onProgress).catch((error: unknown) => {
      signal.throwIfAborted()
      if (isFinal(error)) throw error
      fault = error
    })
    const size = await sizeOf(part)
    if (size >= bytes) break
    failures = size > furthest ? 0 : failures + 1
    furthest = Math.max(furthest, size)
    if (failures >= mostFailures) throw fault
    await sleep(pauseMs * 2 ** failures, undefined, { signal })
  }
  if (digest !== (await digestOf(part))) {
    await rm(part)
    throw new Damaged('The downloaded file is damaged: its digest does not match. It was deleted. Try again.')
  }
  await rename(part, file)
}
