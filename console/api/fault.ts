export type Issue = { path: string; message: string }

/** A failed request, with the API's error message. Status 0 means that the API couldn't be reached. */
export class Fault extends Error {
  readonly status: number
  readonly issues: Issue[]
  readonly requestId: string | null

  constructor({
    status,
    message,
    issues = [],
    requestId = null,
  }: {
    status: number
    message: string
    issues?: Issue[]
    requestId?: string | null
  }) {
    super(message)
    this.status = status
    this.issues = issues
    this.requestId = requestId
  }
}

export const asFault = (error: unknown): Fault =>
  error instanceof Fault
    ? error
    : new Fault({ status: -1, message: 'Something went wrong in the console. Reload the page.' })

/** Returns whether an error means that an ID is invalid or doesn't exist. */
export const isNotFound = (error: unknown): boolean => error instanceof Fault && [400, 404].includes(error.status)

export const isRefusal = (error: unknown): error is Fault =>
  error instanceof Fault && error.status >= 400 && error.status < 500
