type OutboundReason = 'forbidden_address' | 'too_large' | 'timed_out' | 'too_many_redirects' | 'failed'

/**
 * The reason why an outgoing request failed. The tenant may see the message: it contains at most the host. It has no
 * cause, because the underlying errors contain addresses and parts of bodies.
 */
export class OutboundError extends Error {
  readonly reason: OutboundReason

  constructor(reason: OutboundReason, message: string) {
    super(message)
    this.name = 'OutboundError'
    this.reason = reason
  }
}

const timeouts = ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']

export const toOutboundError = (error: unknown): OutboundError => {
  if (error instanceof OutboundError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (timeouts.includes(code)) return new OutboundError('timed_out', 'Connecting to the server timed out.')
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new OutboundError('too_large', 'The response headers are too large.')
  return new OutboundError('failed', `The request failed${/^[A-Z][A-Z0-9_]+$/.test(code) ? ` (${code})` : ''}.`)
}
