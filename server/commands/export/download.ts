import { createHash } from 'node:crypto'
import { closeSync, createReadStream, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refused, type Remote } from './remote.ts'

/** In a row, without a byte more. */
const mostFailures = 6

export class Damaged extends Error {}

type Wanted = {
  /** The path of the download at the remote. */
  path: string
  bytes: number
  file: string
  signal: AbortSignal
  onProgress: (bytes: number) => void
}

const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(() => undefined))?.size ?? 0

const digestOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return `sha-256=:${hash.digest('base64')}:`
}

/** As it arrives, so that all that came before a connection broke is kept. */
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

/** One connection's worth, after what is there already. A link is asked for each time: they live for minutes. */
const fetchMore = async (remote: Remote, part: string, { path, onProgress }: Wanted): Promise<string> => {
  const file = openSync(part, 'a')
  try {
    const from = fstatSync(file).size
    const { location, digest } = await remote.link(path)
    const { status, body } = await remote.download(location, from)
    if (status !== 200 && status !== 206) {
      body.destroy()
      throw new Refused(status, `The file was answered with ${status}.`)
    }
    if (status === 200) ftruncateSync(file)
    let at = status === 206 ? from : 0
    await writeAll(body, file, (written) => {
      at += written
      onProgress(at)
    })
    return digest
  } finally {
    closeSync(file)
  }
}

/**
 * Downloads beside the file, goes on where a connection broke, and puts it in its place when its digest is right. What
 * is left of an interrupted download is used the next time.
 */
export const downloadFile = async (remote: Remote, part: string, wanted: Wanted): Promise<void> => {
  let digest = ''
  for (let failures = 0; digest === '' || (await sizeOf(part)) < wanted.bytes; ) {
    const before = await sizeOf(part)
    if (before > wanted.bytes) await rm(part)
    try {
      // A whole file from the last time lacks nothing but its digest.
      digest = before === wanted.bytes ? (await remote.link(wanted.path)).digest : await fetchMore(remote, part, wanted)
    } catch (error) {
      wanted.signal.throwIfAborted()
      // A link that has just expired is no reason to give up, a full disk is.
      if (error instanceof Refused && error.status < 500 && ![403, 410].includes(error.status)) throw error
      if (['ENOSPC', 'EACCES', 'EROFS', 'ENOENT'].includes(String((error as { code?: unknown }).code))) throw error
      failures = (await sizeOf(part)) > before ? 0 : failures + 1
      if (failures >= mostFailures) throw error
      await sleep(500 * 2 ** failures, undefined, { signal: wanted.signal })
    }
  }
  if (digest !== (await digestOf(part))) {
    await rm(part)
    throw new Damaged('The file arrived damaged: its digest is another one. It was thrown away; try again.')
  }
  await rename(part, wanted.file)
}
