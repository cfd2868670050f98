import type { Readable } from 'node:stream'
import type { Deps } from '../../platform/deps.ts'
import { OutboundError } from '../../platform/outbound/errors.ts'
import { readRetryAfter } from '../../platform/outbound/retry-after.ts'

const timeoutMs = 15_000
const keptBytes = 1_024

/** The result of one request: a response, or the reason why there was none. */
export type Posted = {
  at: Date
  durationMs: number
  statusCode: number | null
  error: string | null
  /** The beginning of the response. */
  answer: string | null
  /** The wait that the receiver requests, which is at most an hour. */
  retryAfterMs: number
}

/**
 * Reads the beginning of the body, as much as is stored. An interruption does not change the status that has already
 * arrived.
 */
const readBeginning = async (body: Readable): Promise<string> => {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= keptBytes) break
    }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
  }
  const beginning = Buffer.concat(chunks).subarray(0, keptBytes)
  // In stream mode, the decoder drops an incomplete character at the end. PostgreSQL's text can't contain NUL.
  return new TextDecoder().decode(beginning, { stream: true }).replaceAll('\0', '\ufffd')
}

type Request = { url: string; headers: Record<string, string>; body: string }

/**
 * Sends a request. The URL must be https, and its address must be public when the connection opens. A redirect is a
 * response like any other.
 */
export const post = async (
  { outbound, clock }: Pick<Deps, 'outbound' | 'clock'>,
  request: Request,
): Promise<Posted> => {
  const at = clock.now()
  const startedAt = performance.now()
  const durationMs = () => Math.round(performance.now() - startedAt)
  try {
    const { url, headers, body } = request
    const options = { method: 'POST', headers, body, timeoutMs, maxBytes: Number.MAX_SAFE_INTEGER } as const
    const response = await outbound.stream(url, { ...options, plainHttp: 'nowhere', maxRedirects: 0 })
    const answer = await readBeginning(response.body)
    const retryAfterMs = readRetryAfter(response.headers['retry-after'], at)
    return { at, durationMs: durationMs(), statusCode: response.status, error: null, answer, retryAfterMs }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { at, durationMs: durationMs(), statusCode: null, error: error.message, answer: null, retryAfterMs: 0 }
  }
}
