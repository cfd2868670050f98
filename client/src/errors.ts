export type Issue = { path: string; message: string }

/** The server rejected a request, or there was no usable response. */
export class EarshotError extends Error {
  override readonly name = 'EarshotError'
  /** The response's HTTP status, or 0 if there was no response. */
  readonly status: number
  /**
   * A short, stable phrase: `validation failed`, `not found`, `conflict`, and so on. The library adds `unreachable`,
   * `timed out`, and `unexpected response`.
   */
  readonly code: string
  readonly details: Record<string, unknown>
  /** Identifies this request in the server's log. */
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, told: Omit<Partial<EarshotError>, 'name' | 'message'> & { cause?: unknown } = {}) {
    super(message, told.cause === undefined ? undefined : { cause: told.cause })
    this.status = told.status ?? 0
    this.code = told.code ?? 'unreachable'
    this.details = told.details ?? {}
    this.requestId = told.requestId
    this.retryAfterSeconds = told.retryAfterSeconds
  }

  /** Returns all validation errors of a request. */
  get issues(): Issue[] {
    const { issues } = this.details
    return Array.isArray(issues) ? issues : []
  }
}

/** Parses Retry-After, which is a number of seconds or a date. */
const readRetryAfter = (value: string | null, now: number): number | undefined => {
  if (value === null) return undefined
  const isDate = /^[a-z]{3,9},? .*\d{2}:\d{2}/i.test(value.trim())
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : isDate ? (Date.parse(value) - now) / 1_000 : Number.NaN
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Creates the error for a response from something other than Earshot, such as a proxy or sign-in page. */
export const strangeAnswer = ({ status, headers }: Response, origin: string): EarshotError => {
  const to = headers.get('location')
  const hint = to ? `It redirects to ${JSON.stringify(to)}: use that URL.` : 'Check the URL.'
  return new EarshotError(`${origin} did not respond like Earshot (status ${status}). ${hint}`, {
    status,
    code: 'unexpected response',
    retryAfterSeconds: readRetryAfter(headers.get('retry-after'), Date.now()),
  })
}

export const readError = async (response: Response, origin: string): Promise<EarshotError> => {
  const body = parse(await response.text().catch(() => ''))
  if (!isObject(body) || typeof body.message !== 'string') return strangeAnswer(response, origin)
  return new EarshotError(body.message, {
    status: response.status,
    code: String(body.error),
    details: isObject(body.details) ? body.details : {},
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: readRetryAfter(response.headers.get('retry-after'), Date.now()),
  })
}
