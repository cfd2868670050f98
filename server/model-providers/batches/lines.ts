// Downloads results line by line, so that they are never in memory all at once.
import { StringDecoder } from 'node:string_decoder'
import { OutboundError } from '../../platform/outbound/errors.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { HttpRequest } from '../requests/dialect.ts'
import { EndpointError, kindOfStatus } from '../requests/endpoint-error.ts'

/** The results of the largest batch need less than this. */
const mostBytes = 512 * 1024 * 1024
/** An answer usually has a few kilobytes. A line that is longer than this is invalid. */
const mostCharacters = 4 * 1024 * 1024
const timeoutMs = 20 * 60_000
const minimumRate = { bytesPerSecond: 16 * 1024, longestWaitMs: 60_000 }

const toEndpointError = (error: unknown): unknown =>
  error instanceof OutboundError ? new EndpointError('down', error.message, { unreached: error.reason }) : error

const tooLong = () => new EndpointError('refused', 'the endpoint returned a line that is too long')

/** Splits text at line breaks. Other line separators can be part of JSON. */
async function* splitLines(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > mostCharacters || lines.some((line) => line.length > mostCharacters)) throw tooLong()
    yield* lines
  }
  yield rest + decoder.end()
}

/** Yields the non-empty lines of a response. Fails with an EndpointError, or with the signal's reason. */
export async function* downloadLines(
  { stream }: Pick<Outbound, 'stream'>,
  { url, method, headers }: HttpRequest,
  signal: AbortSignal,
): AsyncGenerator<string> {
  try {
    const options = { method, headers: { 'user-agent': 'Earshot', ...headers }, signal, timeoutMs, minimumRate }
    const { status, body } = await stream(url, { ...options, maxBytes: mostBytes, plainHttp: 'allowed networks' })
    if (status !== 200) {
      body.destroy()
      throw new EndpointError(kindOfStatus(status), `the endpoint returned status ${status}`, { status })
    }
    for await (const line of splitLines(body)) if (line.trim() !== '') yield line
  } catch (error) {
    signal.throwIfAborted()
    throw toEndpointError(error)
  }
}
