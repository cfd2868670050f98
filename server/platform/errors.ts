/** The kinds of errors that endpoints, jobs, and commands can have. There are no others. */
const kinds = {
  invalid: { status: 400, error: 'validation failed' },
  unauthorized: { status: 401, error: 'unauthorized' },
  forbidden: { status: 403, error: 'forbidden' },
  notFound: { status: 404, error: 'not found' },
  methodNotAllowed: { status: 405, error: 'method not allowed' },
  tooSlow: { status: 408, error: 'request timeout' },
  conflict: { status: 409, error: 'conflict' },
  gone: { status: 410, error: 'gone' },
  tooLarge: { status: 413, error: 'payload too large' },
  unsupportedMediaType: { status: 415, error: 'unsupported media type' },
  rangeNotSatisfiable: { status: 416, error: 'range not satisfiable' },
  rateLimited: { status: 429, error: 'rate limited' },
  headersTooLarge: { status: 431, error: 'validation failed' },
  unavailable: { status: 503, error: 'temporarily unavailable' },
  internal: { status: 500, error: 'internal error' },
} as const

export type ErrorKind = keyof typeof kinds

/** One error in a request. `path` is its location, such as `config.monitors[0].id`. */
export type Issue = { path: string; message: string }

export type ErrorDetails = { issues?: Issue[]; retryAfterSeconds?: number; [key: string]: unknown }

export class ApiError extends Error {
  readonly kind: ErrorKind
  readonly details: ErrorDetails | undefined

  constructor(kind: ErrorKind, message: string, details?: ErrorDetails) {
    super(message)
    this.name = 'ApiError'
    this.kind = kind
    this.details = details
  }

  get status(): number {
    return kinds[this.kind].status
  }

  /** The error in the format of the API. */
  get body(): { error: string; message: string; details?: ErrorDetails } {
    const body = { error: kinds[this.kind].error, message: this.message }
    return this.details ? { ...body, details: this.details } : body
  }
}

/**
 * Returns the error for a missing resource. The text does not name the resource, because a resource of another
 * organization must produce the same response.
 */
export const notFound = () =>
  new ApiError('notFound', 'Nothing with this ID exists in your organization. Check the ID.')

/** Returns the error for missing resources that a body refers to, each with its path. */
export const notFoundAt = (paths: string[]) => {
  const issues = paths.map((path) => ({ path, message: 'does not exist in your organization' }))
  return new ApiError('notFound', invalidAll(issues).message, { issues })
}

/** Returns an error that only the handler can detect, in the format of all validation errors. */
export const invalid = (path: string, message: string) =>
  new ApiError('invalid', `${path} ${message}`, { issues: [{ path, message }] })

/** Returns one error for several issues. The message describes the first one. */
export const invalidAll = (issues: Issue[]) => {
  const [first] = issues
  const others = issues.length > 1 ? `, and ${issues.length - 1} more` : ''
  return new ApiError('invalid', `${first?.path} ${first?.message}${others}`, { issues })
}
