/** The SQLSTATE classes and Node codes of a database that is away, restarting, full of connections or too busy. */
const passingStates = /^(08|53|57P|25P0[34]$|57014$|40001$|40P01$)/
const passingCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT'],
  // Its name, while it is made anew.
  ...['EAI_AGAIN', 'ENOTFOUND'],
])
const socketCalls = new Set(['connect', 'read', 'write', 'getaddrinfo'])
const passingMessages =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error)/

const codeOf = (error: unknown): string => (error as { code?: unknown } | null)?.code?.toString() ?? ''

/** Whether the same statement may well succeed in a moment. */
export const isPassingDatabaseError = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  // Of a name with several addresses, each was tried.
  if (error instanceof AggregateError) return error.errors.every(isPassingDatabaseError)
  const code = codeOf(error)
  const fromSocket = passingCodes.has(code) && socketCalls.has((error as NodeJS.ErrnoException).syscall ?? '')
  return passingStates.test(code) || fromSocket || passingMessages.test(error.message)
}

/** Whether a statement found no room on the server's disk. */
export const isFullDisk = (error: unknown): boolean => codeOf(error) === '53100'

/**
 * The named constraint that a statement violated. A database distributed over shards appends their number, which
 * is cut off.
 */
export const violatedConstraint = (error: unknown): string | undefined => {
  if (!/^23/.test(codeOf(error))) return undefined
  const { constraint } = error as { constraint?: unknown }
  return typeof constraint === 'string' ? constraint.replace(/_\d+$/, '') : undefined
}
