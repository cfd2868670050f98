/**
 * `busy`: it asks for fewer requests. `down`: it may answer in a moment. `locked`: nobody is let in until the operator
 * changes something. `refused`: this request is, others are not. `resting`: it was not even asked.
 */
type Kind = 'busy' | 'down' | 'locked' | 'refused' | 'resting'

/** Why an endpoint gave no answer. Its message may be shown: it holds nothing of what was sent or received. */
export class EndpointError extends Error {
  readonly kind: Kind
  /** When to ask again, as far as that is known. */
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
