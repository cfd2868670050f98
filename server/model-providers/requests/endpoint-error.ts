/**
 * `busy`: the endpoint asks for fewer requests. `down`: it is temporarily unavailable. `locked`: it rejects everything
 * until someone changes something. `refused`: it rejects this request, but not others. `resting`: no request was sent,
 * because the endpoint keeps failing. `limited`: no request was sent, because it would exceed the provider's limits.
 * `changed`: no request was sent, because the provider was changed, disabled, or deleted after it was read.
 */
type Kind = 'busy' | 'down' | 'locked' | 'refused' | 'resting' | 'limited' | 'changed'

/** The endpoint's answer, to the extent that it can be shown. */
type Answered = {
  status?: number
  /** The endpoint's error code, such as `model_not_found`. */
  word?: string
}

/** The reason why the connection failed. */
type Unreached = 'forbidden_address' | 'too_large' | 'timed_out' | 'too_many_redirects' | 'failed'

type Details = Answered & {
  unreached?: Unreached
  retryAfterMs?: number
  /** The message for people who may see the provider's address. */
  messageWithHost?: string
}

/**
 * The reason why an endpoint gave no response. The message is safe to show, because it contains no request or response
 * data and not the endpoint's host, which can be internal.
 */
export class EndpointError extends Error {
  readonly kind: Kind
  /** The time until a retry, or 0 if it is unknown. */
  readonly retryAfterMs: number
  readonly status: number | undefined
  readonly word: string | undefined
  readonly unreached: Unreached | undefined
  readonly messageWithHost: string

  constructor(kind: Kind, message: string, details: Details = {}) {
    const { retryAfterMs = 0, status, word, unreached, messageWithHost = message } = details
    super(message)
    this.name = 'EndpointError'
    this.kind = kind
    this.retryAfterMs = retryAfterMs
    this.status = status
    this.word = word
    this.unreached = unreached
    this.messageWithHost = messageWithHost
  }
}

/** Returns whether the request didn't fail: it was not sent yet, and can be sent later. */
export const isNotSentYet = ({ kind }: EndpointError): boolean => kind === 'limited' || kind === 'changed'

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
