export type Issue = { path: string; message: string }

/** A request that was refused, in the words of the service. Status 0 is a service out of reach. */
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

/** Whether an id leads nowhere: there is nothing under it, or it is none. */
export const leadsNowhere = (error: unknown): boolean => error instanceof Fault && [400, 404].includes(error.status)

export const isRefusal = (error: unknown): error is Fault =>
  error instanceof Fault && error.status >= 400 && error.status < 500
