// The client for addresses that the operator configures: any address, but no redirect, and bounded in time and size.
import type { Readable } from 'node:stream'
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

type OperatorDownload = { status: number; headers: OutboundHeaders; body: Readable }

export type OperatorClient = {
  /** Fails with an OutboundError, or with the reason of the signal when that ends it. */
  request: (url: URL, options: OperatorRequest) => Promise<OperatorResponse>
  /** A file of any size. Whoever takes the stream reads it to its end or destroys it; it fails when nothing comes. */
  download: (url: URL, options: Pick<OperatorRequest, 'headers' | 'signal'>) => Promise<OperatorDownload>
  /** Ends what is under way: it fails. */
  close: () => Promise<void>
}

/** A download in which nothing comes for so long has broken off. */
const silenceMs = 30_000

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
      if (tooLate.aborted) throw new OutboundError('timed_out', `There was no whole answer within ${timeoutMs} ms.`)
      throw toOutboundError(error)
    }
  }

  const download: OperatorClient['download'] = async (url, { headers, signal }) => {
    const waiting = new Agent({ headersTimeout: silenceMs, bodyTimeout: silenceMs })
    try {
      const { statusCode, headers: answered, body } = await send(url, { headers, signal, dispatcher: waiting })
      // Without a listener, to destroy it early would end the process.
      body.on('error', () => {}).once('close', () => void waiting.destroy())
      return { status: statusCode, headers: answered, body }
    } catch (error) {
      await waiting.destroy()
      signal.throwIfAborted()
      throw toOutboundError(error)
    }
  }

  return { request, download, close: () => agent.destroy() }
}
