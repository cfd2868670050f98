// Sends HTTP as bytes on a socket, for requests that no client library would send.
import { connect, type Socket } from 'node:net'

export type RawAnswer = { status: number; headers: Map<string, string>; body: Buffer }

type Exchange = {
  /** The request is HEAD, so the response has no body, whatever its headers say. */
  head?: boolean
  /** All bytes until the end of the connection are responses. */
  untilEnd?: boolean
  /** Like `untilEnd`, but this half of the connection is closed after the request. */
  last?: boolean
  timeoutMs?: number
}

/** Returns undefined while the body is incomplete. `length` includes the chunk framing. */
const parseChunks = (bytes: Buffer): { body: Buffer; length: number } | undefined => {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const next = lineEnd + 2 + size + 2
    if (next > bytes.length) return undefined
    if (size === 0) return { body: Buffer.concat(chunks), length: next }
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = next
  }
}

/** Returns undefined while the response is incomplete. `rest` is what follows the response. */
const parseAnswer = (bytes: Buffer, head: boolean, ended: boolean): { answer: RawAnswer; rest: Buffer } | undefined => {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first)?.[1])
  if (!status) throw new Error(`not an answer: ${first}`)
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const after = bytes.subarray(end + 4)
  if (status < 200) return parseAnswer(after, head, ended)
  const whole = (body: Buffer, length: number) => ({ answer: { status, headers, body }, rest: after.subarray(length) })
  if (head || status === 204 || status === 304) return whole(Buffer.alloc(0), 0)
  if (headers.get('transfer-encoding') === 'chunked') {
    const chunked = parseChunks(after)
    return chunked && whole(chunked.body, chunked.length)
  }
  const length = headers.get('content-length')
  if (length === undefined) return ended ? whole(after, after.length) : undefined
  return after.length < Number(length) ? undefined : whole(after.subarray(0, Number(length)), Number(length))
}

export type RawConnection = {
  /**
   * Sends bytes and returns the first response, or all responses with `untilEnd` or `last`. Returns none if the service
   * disconnects.
   */
  exchange: (bytes: Uint8Array | string, options?: Exchange) => Promise<RawAnswer[]>
  isOpen: () => boolean
  close: () => void
}

export const openConnection = (port: number): RawConnection => {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  let received: Buffer = Buffer.alloc(0)
  let open = true
  let ended = false
  let advance = () => {}
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    advance()
  })
  const finish = () => {
    open = false
    ended = true
    socket.destroy()
    advance()
  }
  // The service may reject a request and disconnect before it has read everything. Its response still counts.
  socket.on('error', finish).on('end', finish).on('close', finish)

  const exchange: RawConnection['exchange'] = (
    bytes,
    { head = false, last = false, untilEnd = last, timeoutMs = 10_000 } = {},
  ) =>
    new Promise((resolve, reject) => {
      const answers: RawAnswer[] = []
      const settle = (settled: () => void) => {
        clearTimeout(timer)
        advance = () => {}
        settled()
      }
      const timer = setTimeout(() => settle(() => reject(new Error(`no answer within ${timeoutMs} ms`))), timeoutMs)
      const takeAnswers = () => {
        for (let parsed = parseAnswer(received, head, ended); parsed; parsed = parseAnswer(received, head, ended)) {
          answers.push(parsed.answer)
          received = parsed.rest
          if (!untilEnd) break
        }
      }
      advance = () => {
        try {
          takeAnswers()
        } catch (error) {
          return settle(() => reject(error))
        }
        if (ended || (!untilEnd && answers.length > 0)) settle(() => resolve(answers))
        if (answers.at(-1)?.headers.get('connection') === 'close') open = false
      }
      if (last) socket.end(bytes)
      else socket.write(bytes)
      if (ended) advance()
    })

  return { exchange, isOpen: () => open, close: () => socket.destroy() }
}
