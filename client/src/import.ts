import { EarshotError } from './errors.ts'
import type { Answer, Body } from './operation.ts'
import type { RequestOptions, Send } from './send.ts'

export type NewConversation = Body<'/v1/conversations', 'post'>

type Outcome = NonNullable<Answer<'/v1/conversations/batch', 'post'>>['data'][number]

export type ImportResult<T> = Outcome & { item: T }

export type ImportOptions = RequestOptions & {
  /** Conversations of one request: 500 unless given. */
  chunkSize?: number
  /** Requests under way at once: 2 unless given. */
  concurrency?: number
}

/** Whatever the number of conversations in it, a request is sent when it has so many characters. */
const chunkLength = 4_000_000

type Chunk<T> = { from: number; items: T[]; lines: string[]; repeatable: boolean }

async function* chunksOf<T>(items: Iterable<T> | AsyncIterable<T>, size: number): AsyncGenerator<Chunk<T>> {
  const empty = (from: number): Chunk<T> => ({ from, items: [], lines: [], repeatable: true })
  let chunk = empty(0)
  let length = 0
  for await (const item of items) {
    const line = JSON.stringify(item)
    chunk.items.push(item)
    chunk.lines.push(line)
    chunk.repeatable &&= typeof (item as { externalId?: unknown } | null)?.externalId === 'string'
    length += line.length
    if (chunk.items.length < size && length < chunkLength) continue
    yield chunk
    chunk = empty(chunk.from + chunk.items.length)
    length = 0
  }
  if (chunk.items.length > 0) yield chunk
}

/**
 * Sends conversations from anywhere, and tells of each, in their order, what became of it. A chunk whose answer was lost
 * is sent again when all of it have an `externalId`; nothing is stored twice then.
 */
export async function* importConversations<T extends NewConversation>(
  send: Send,
  items: Iterable<T> | AsyncIterable<T>,
  { chunkSize = 500, concurrency = 2, signal, ...options }: ImportOptions = {},
): AsyncGenerator<ImportResult<T>> {
  const left = new AbortController()
  const given = { ...options, signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal }

  const sendChunk = async ({ from, items, lines, repeatable }: Chunk<T>): Promise<ImportResult<T>[]> => {
    const body = new Blob(
      lines.map((line) => `${line}\n`),
      { type: 'application/x-ndjson' },
    )
    const sent = { body, ...(repeatable && { repeat: 'always' as const }) }
    try {
      const { data } = await send.json<{ data: Outcome[] }>('POST', '/v1/conversations/batch', sent, given)
      // The service answers for each line.
      return data.map((outcome, at) => ({ ...outcome, index: from + at, item: items[at] as T }))
    } catch (error) {
      const [item] = items
      if (!(error instanceof EarshotError && error.status === 413 && item !== undefined && items.length === 1))
        throw error
      const { code, message, details } = error
      return [{ index: from, status: 'rejected', error: { error: code, message, details }, item }]
    }
  }

  const underWay: Promise<ImportResult<T>[]>[] = []
  const next = async () => (await underWay.shift()) ?? []
  try {
    for await (const chunk of chunksOf(items, chunkSize)) {
      const sending = sendChunk(chunk)
      // Told when its turn comes.
      sending.catch(() => {})
      underWay.push(sending)
      if (underWay.length >= concurrency) yield* await next()
    }
    while (underWay.length > 0) yield* await next()
  } finally {
    left.abort()
  }
}
