// Creates an export, waits for it, and downloads its file with a digest check.

import { EarshotError, readError, strangeAnswer } from './errors.ts'
import { pause, type RequestOptions, type Send } from './send.ts'
import { openSha256 } from './sha256.ts'

/** This type is `Uint8Array<ArrayBuffer>` in TypeScript 5.7 and later. */
type Bytes = ReturnType<Uint8Array['slice']>

type Manifest = {
  id: string
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'expired'
  rowCount: number | null
  bytes: number | null
  errorCode: string | null
  downloadPath: string | null
}

export type ExportProgress = {
  doing: 'queued' | 'generating' | 'downloading'
  rows: number | null
  bytes: number
  /** This is null until the file exists. */
  totalBytes: number | null
}

export type DownloadOptions = RequestOptions & {
  /** The ID from an earlier call, which returns the same export again. Use it if the response was lost. */
  operationId?: string
  onProgress?: (progress: ExportProgress) => void
}

export type ExportedFile<M> = {
  export: M
  fileName: string
  /** Resumes if a connection breaks. Fails at the end of the file if the digest doesn't match. */
  stream: ReadableStream<Bytes>
  /** Returns the whole file in memory. */
  bytes: () => Promise<Bytes>
}

const firstPollMs = 200
const longestPollMs = 5_000
/** The maximum number of consecutive attempts that receive no new byte. */
const mostFailures = 6
/** A connection without data for this long is dropped. */
const silenceMs = 60_000

/** Returns a random UUID, even on a page without HTTPS. */
const newId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant + hex.slice(18, 20), hex.slice(20)].join(
    '-',
  )
}

type FilePart = { response: Response; digest: string | null }

/** Requests the rest of the file. If the runtime reveals the file's location, the key is only sent to the server. */
const openPart = async (send: Send, path: string, from: number, options: RequestOptions): Promise<FilePart> => {
  const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {}
  const link = await send.raw('GET', path, {}, options)
  const location = link.headers.get('location')
  if (link.type !== 'opaqueredirect' && location === null) throw strangeAnswer(link, 'The service')
  const response =
    location === null
      ? await send.raw('GET', path, { redirect: 'follow', headers }, options)
      : await send.raw(
          'GET',
          link.url ? new URL(location, link.url).href : location,
          { withoutKey: true, headers },
          options,
        )
  if (response.status !== 200 && response.status !== 206) throw await readError(response, 'The file storage')
  return { response, digest: link.headers.get('x-file-digest') ?? response.headers.get('repr-digest') }
}

/** Returns a plain file name, so that writing the file can't leave the current folder. */
const nameIn = (response: Response): string | undefined => {
  const told = response.headers.get('content-disposition') ?? ''
  const [name = ''] = /[^/\\]*$/.exec(/filename="([^"]+)"/.exec(told)?.[1] ?? '') ?? []
  return /^\.{0,2}$/.test(name) ? undefined : name
}

async function* chunksOf({ body }: Response): AsyncGenerator<Bytes> {
  if (!body) return
  const reader = body.getReader()
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    for (;;) {
      const silence = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(
          () => reject(new EarshotError('The download stalled. Try again.', { code: 'timed out' })),
          silenceMs,
        )
      })
      const { done, value } = await Promise.race([reader.read(), silence])
      clearTimeout(timer)
      if (done) return
      yield value
    }
  } finally {
    clearTimeout(timer)
    await reader.cancel().catch(() => {})
  }
}

const isFinal = (error: unknown): boolean => {
  if (!(error instanceof EarshotError)) return false
  const { status, code } = error
  return code === 'damaged' || (status >= 400 && status < 500 && ![403, 410, 429].includes(status))
}

const damaged = (what: string): EarshotError =>
  new EarshotError(`The downloaded file is damaged: ${what}. Download it again.`, { code: 'damaged' })

type OpenFilePart = (from: number) => Promise<FilePart>

/** Opens the file. Retries while the server or the storage is busy. */
const openFirst = async (open: OpenFilePart, signal: AbortSignal | undefined): Promise<FilePart> => {
  for (let failures = 1; ; failures++) {
    try {
      return await open(0)
    } catch (error) {
      signal?.throwIfAborted()
      if (isFinal(error) || failures >= mostFailures) throw error
    }
    await pause(firstPollMs * 2 ** failures, signal)
  }
}

/**
 * Yields the bytes of a part from `at` to the end of the file. A server that doesn't support ranges starts from the
 * beginning.
 */
async function* freshChunks({ response }: FilePart, at: number, end: number): AsyncGenerator<Bytes> {
  let skip = response.status === 200 ? at : 0
  let left = end - at
  for await (const chunk of chunksOf(response)) {
    const fresh = chunk.subarray(Math.min(skip, chunk.length))
    skip -= chunk.length - fresh.length
    left -= fresh.length
    if (left < 0) throw damaged('it is larger than announced')
    if (fresh.length > 0) yield fresh
  }
}

/** Downloads the file over as many connections as necessary. */
async function* download(
  open: OpenFilePart,
  first: FilePart,
  bytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Bytes> {
  const hash = openSha256()
  let part: FilePart | undefined = first
  let [at, failures] = [0, 0]
  let { digest } = first
  while (at < bytes) {
    let fault: unknown = new EarshotError('The download was interrupted repeatedly.')
    try {
      part ??= await open(at)
      digest = part.digest ?? digest
      for await (const chunk of freshChunks(part, at, bytes)) {
        at += chunk.length
        hash.add(chunk)
        failures = 0
        yield chunk
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (isFinal(error)) throw error
      fault = error
    }
    part = undefined
    if (at >= bytes) break
    failures++
    if (failures >= mostFailures) throw fault
    await pause(firstPollMs * 2 ** failures, signal)
  }
  requireDigest(hash, digest)
}

const requireDigest = (hash: ReturnType<typeof openSha256>, digest: string | null): void => {
  if (digest !== null && digest !== `sha-256=:${hash.digest()}:`) throw damaged('its digest does not match')
}

const streamOf = (chunks: AsyncGenerator<Bytes>, onBytes: (bytes: number) => void): ReadableStream<Bytes> => {
  let at = 0
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await chunks.next()
      if (done) return controller.close()
      at += value.length
      try {
        onBytes(at)
      } catch (error) {
        await chunks.return(undefined)
        throw error
      }
      controller.enqueue(value)
    },
    cancel: async () => {
      await chunks.return(undefined)
    },
  })
}

const bytesOf = async (stream: ReadableStream<Bytes>): Promise<Bytes> =>
  new Uint8Array(await new Response(stream).arrayBuffer())

type Steps<M> = { create: (operationId: string) => Promise<M>; get: (id: string) => Promise<M> }

export const makeFile = async <M extends Manifest>(
  send: Send,
  { create, get }: Steps<M>,
  { operationId = newId(), onProgress, ...options }: DownloadOptions = {},
): Promise<ExportedFile<M>> => {
  const { signal } = options
  let made = await create(operationId)
  for (let pollMs = firstPollMs; made.status === 'pending' || made.status === 'processing'; pollMs *= 1.5) {
    const doing = made.status === 'pending' ? 'queued' : 'generating'
    onProgress?.({ doing, rows: made.rowCount, bytes: 0, totalBytes: null })
    await pause(Math.min(pollMs, longestPollMs), signal)
    made = await get(made.id)
  }
  const { id, status, errorCode, downloadPath, bytes, rowCount } = made
  if (status !== 'completed' || downloadPath === null || bytes === null) {
    const why = status === 'failed' ? `failed: ${errorCode}` : 'no longer has a file'
    throw new EarshotError(`The export ${why}`, { code: 'export failed', details: { id, status, errorCode } })
  }
  const open = (from: number) => openPart(send, downloadPath, from, options)
  const first = await openFirst(open, signal)
  const onBytes = (done: number) =>
    onProgress?.({ doing: 'downloading', rows: rowCount, bytes: done, totalBytes: bytes })
  const stream = streamOf(download(open, first, bytes, signal), onBytes)
  return { export: made, fileName: nameIn(first.response) ?? `earshot-${id}`, stream, bytes: () => bytesOf(stream) }
}
