// Sends requests to model endpoints: with the operator's client to the operator's endpoint, and with the client for
// tenants' URLs to all others.
import { openOperatorClient } from '../../platform/outbound/operator.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { OutboundHeaders } from '../../platform/outbound/request.ts'
import type { FileRequest, HttpRequest } from './dialect.ts'

export type Sending = (HttpRequest | FileRequest) & { timeoutMs: number; signal: AbortSignal }

/** Fails with an OutboundError, or with the reason of an aborted signal. */
export type Transport = (request: Sending) => Promise<{ status: number; headers: OutboundHeaders; body: string }>

/** A response usually has a few kilobytes. A response that is longer than this is invalid. */
const mostAnswerBytes = 4 * 1024 * 1024

export const openOperatorTransport = () => {
  const client = openOperatorClient({ maxBytes: mostAnswerBytes })
  const transport: Transport = ({ url, ...request }) => client.request(url, request)
  return { transport, close: client.close }
}

/** Returns a transport that only connects to public addresses, and to private ones that the operator allows. */
export const tenantTransport =
  ({ request }: Pick<Outbound, 'request'>): Transport =>
  async ({ url, ...options }) => {
    const { status, headers, body } = await request(url, {
      ...options,
      maxBytes: mostAnswerBytes,
      plainHttp: 'allowed networks',
    })
    return { status, headers, body: body.toString() }
  }
