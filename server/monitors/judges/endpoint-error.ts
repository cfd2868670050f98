/**
 * `busy`: the endpoint asks for fewer requests. `down`: it may respond in a moment. `locked`: it rejects everything
 * until the operator changes something. `refused`: it rejects this request, but not others. `resting`: no request was
 * sent.
 */
type Kind = 'busy' | 'down' | 'locked' | 'refused' | 'resting'

/**
 * Why an endpoint gave no response. The message is safe to show, because it contains nothing that was sent or received.
 */
export class EndpointError extends Error {
  readonly kind: Kind
  /** When to retry, or 0 if that is unknown. */
  readonly retryAfterMs: number

  constructor(kind: Kind, message: string, retryAfterMs = 0) {
    super(message)
    this.name = 'EndpointError'
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }
}

const kinds: Record<number, Kind> = {
  401: 'locked',
  402: 'locked',
  403: 'locked',
  408: 'down',
  409: 'down',
  425: 'down',
  429: 'busy',
}

export const kindOfStatus = (status: number): Kind => kinds[status] ?? (status >= 500 ? 'down' : 'refused')
