import { EarshotError } from './errors.ts'
import type { Answer, Body } from './operation.ts'
import type { RequestOptions, Send } from './send.ts'

export type NewConversation = Body<'/v1/conversations', 'post'>

type Outcome = NonNullable<Answer<'/v1/conversations/batch', 'post'>>['data'][number]

export type ImportResult<T> = Outcome & { item: T }

export type ImportOptions = RequestOptions & {
  /** The number of conversations in a request. Defaults to 500. */
  chunkSize?: number
  /** The number of concurrent requests. Defaults to 2. */
  concurrency?: number
}

/** The maximum number of characters in a request, unless a single conversation is larger. */
const chunkLength = 4_000_000

type Chunk<T> = { from: number; items: T[]; lines: string[]; repeatable: boolean }

async function* chunksOf<T>(items: Iterable<T> | AsyncIterable<T>, size: number): AsyncGenerator<Chunk<T>> {
  const empty = (from: number): Chunk<T> => ({ from, items: [], lines: [], repeatable: true })
  let chunk = empty(0)
  let length = 0
  for await (const item of items) {
    // The server rejects `undefined` as an invalid conversation too.
    const line = JSON.stringify(item) ?? 'null'
    if (chunk.items.length > 0 && length + line.length > chunkLength) {
      yield chunk
      chunk = empty(chunk.from + chunk.items.length)
      length = 0
    }
    chunk.items.push(item)
    chunk.lines.push(line)
    chunk.repeatable &&= typeof (item as { externalId?: unknown } | null)?.externalId === 'string'
    length += line.length
    if (chunk.items.length < size) continue
    yield chunk
    chunk = empty(chunk.from + chunk.items.length)
    length = 0
  }
  if (chunk.items.length > 0) yield chunk
}

const halvesOf = <T>({ from, items, lines, repeatable }: Chunk<T>): [Chunk<T>, Chunk<T>] => {
  const middle = Math.ceil(items.length / 2)
  return [
    { from, items: items.slice(0, middle), lines: lines.slice(0, middle), repeatable },
    { from: from + middle, items: items.slice(middle), lines: lines.slice(middle), repeatable },
  ]
}

const requireCount = (name: string, count: number): void => {
  if (!Number.isInteger(count) || count < 1)
    throw new TypeError(`${name} must be a whole number of at least 1, not ${count}`)
}

/**
 * Creates conversations from any source, and returns their results in order. If a response is lost, its chunk is sent
 * again, provided that all its conversations have an `externalId`, which prevents duplicates.
 */
export async function* importConversations<T extends NewConversation>(
  send: Send,
  items: Iterable<T> | AsyncIterable<T>,
  { chunkSize = 500, concurrency = 2, signal, ...options }: ImportOptions = {},
): AsyncGenerator<ImportResult<T>> {
  requireCount('chunkSize', chunkSize)
  requireCount('concurrency', concurrency)
  const left = new AbortController()
  const given = { ...options, signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal }

  const sendChunk = async (chunk: Chunk<T>): Promise<ImportResult<T>[]> => {
    const { from, items, lines, repeatable } = chunk
    const body = new Blob(
      lines.map((line) => `${line}\n`),
      { type: 'application/x-ndjson' },
    )
    const sent = { body, ...(repeatable && { repeat: 'always' as const }) }
    try {
      const answer = await send.json<{ data: Outcome[] } | undefined>('POST', '/v1/conversations/batch', sent, given)
      if (answer?.data?.length !== items.length)
        throw new EarshotError('The service did not return a result for each conversation', {
          code: 'unexpected response',
        })
      return items.map((item, at) => ({ ...(answer.data[at] as Outcome), index: from + at, item }))
    } catch (error) {
      if (!(error instanceof EarshotError && error.status === 413)) throw error
      if (items.length > 1) {
        const [first, second] = halvesOf(chunk)
        return [...(await sendChunk(first)), ...(await sendChunk(second))]
      }
      const { code, message, details } = error
      return [{ index: from, status: 'rejected', error: { error: code, message, details }, item: items[0] as T }]
    }
  }

  const underWay: Promise<ImportResult<T>[]>[] = []
  const next = async () => (await underWay.shift()) ?? []
  try {
    for await (const chunk of chunksOf(items, chunkSize)) {
      const sending = sendChunk(chunk)
      // Errors are reported in the order of the conversations, so this one has to wait.
      sending.catch(() => {})
      underWay.push(sending)
      if (underWay.length >= concurrency) yield* await next()
    }
    while (underWay.length > 0) yield* await next()
  } finally {
    left.abort()
  }
}
