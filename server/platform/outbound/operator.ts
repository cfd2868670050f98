// The client for addresses that the operator configures: any address, but no redirect, and bounded in time and size.
import { Agent, request as send } from 'undici'
import { inRequestSpan } from '../telemetry/span.ts'
import { OutboundError, toOutboundError } from './errors.ts'
import type { OutboundHeaders } from './request.ts'

type OperatorRequest = {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
  /** From the wait for a connection to the last byte of the answer. */
  timeoutMs: number
  signal: AbortSignal
}

type OperatorResponse = { status: number; headers: OutboundHeaders; body: string }

export type OperatorClient = {
  /** Fails with an OutboundError, or with the reason of the signal when that ends it. */
  request: (url: URL, options: OperatorRequest) => Promise<OperatorResponse>
  /** Ends what is under way: it fails. */
  close: () => Promise<void>
}

/** Connections stay open for the next request, since all go to the same few addresses. */
export const openOperatorClient = ({ maxBytes }: { maxBytes: number }): OperatorClient => {
  // The deadline of each request covers its headers and its body.
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
