// The client for addresses that the operator configures. It allows any address but no redirects, and limits time and
// size.
import { Agent, request as send } from 'undici'
import { inRequestSpan } from '../telemetry/span.ts'
import { OutboundError, toOutboundError } from './errors.ts'
import type { OutboundHeaders } from './request.ts'

type OperatorRequest = {
  method: 'GET' | 'POST' | 'DELETE'
  headers: Record<string, string>
  body?: string | Buffer
  /** The maximum time from waiting for a connection to the last byte of the response. */
  timeoutMs: number
  signal: AbortSignal
}

type OperatorResponse = { status: number; headers: OutboundHeaders; body: string }

export type OperatorClient = {
  /** Sends a request. Fails with an OutboundError, or with the reason of an aborted signal. */
  request: (url: URL, options: OperatorRequest) => Promise<OperatorResponse>
  /** Aborts pending requests, which fail. */
  close: () => Promise<void>
}

/** Opens the client. Connections stay open for the next request, because all requests go to the same few addresses. */
export const openOperatorClient = ({ maxBytes }: { maxBytes: number }): OperatorClient => {
  // Each request's timeout covers its headers and body.
  const agent = new Agent({ maxResponseSize: maxBytes, headersTimeout: 0, bodyTimeout: 0 })

  const request: OperatorClient['request'] = async (url, { timeoutMs, signal, ...asked }) => {
    const tooLate = AbortSignal.timeout(timeoutMs)
    try {
      const response = await inRequestSpan(asked.method, url, () =>
        send(url, { ...asked, signal: AbortSignal.any([signal, tooLate]), dispatcher: agent }),
      )
      return { status: response.statusCode, headers: response.headers, body: await response.body.text() }
    } catch (error) {
      signal.throwIfAborted()
      if (tooLate.aborted)
        throw new OutboundError('timed_out', `There was no complete response within ${timeoutMs} ms.`)
      throw toOutboundError(error)
    }
  }

  return { request, close: () => agent.destroy() }
}
