/**
 * SQLSTATE classes and Node error codes for a database that is unavailable, restarting, out of connections, or
 * overloaded.
 */
const passingStates = /^(08|53|57P|25P0[34]$|57014$|40001$|40P01$)/
const passingCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  // The server's name may not resolve while the server is being recreated.
  'EAI_AGAIN',
  'ENOTFOUND',
])
const socketCalls = new Set(['connect', 'read', 'write', 'getaddrinfo'])
const passingMessages =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error)/

/**
 * Matches the messages that Citus returns if it lost a node, or a shard that was split in the meantime. They have no
 * SQLSTATE of their own. If the message is about the commit, the transaction may have committed, as after a connection
 * lost during COMMIT.
 */
const lostNode = new RegExp(
  `^(${[
    'failure on connection marked as essential',
    'could not commit transaction for shard',
    'could not connect to any active placements',
    'execution cannot recover from multiple connection failures',
    'failed to (complete )?COPY (to shard|on)',
    'connection not open',
    'could not (send data to|receive data from) (server|client)',
    '(server closed the|SSL) connection (has been closed )?unexpectedly',
    'SSL (SYSCALL )?error',
    'no connection to the server',
    'could not find valid entry for shard',
    'terminating connection',
    'deadlock detected',
    'cancell?ing (statement|the transaction)',
  ].join('|')})`,
)
const statesWithoutMeaning = new Set(['XX000', '58030'])

const codeOf = (error: unknown): string => (error as { code?: unknown } | null)?.code?.toString() ?? ''

const isConnectionFault = (error: Error): boolean => {
  const fromSocket = passingCodes.has(codeOf(error)) && socketCalls.has((error as NodeJS.ErrnoException).syscall ?? '')
  return fromSocket || passingMessages.test(error.message)
}

/** Returns whether the same statement may succeed in a moment. */
export const isPassingDatabaseError = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  // All addresses of the name were tried.
  if (error instanceof AggregateError) return error.errors.every(isPassingDatabaseError)
  const code = codeOf(error)
  const fromNode = statesWithoutMeaning.has(code) && lostNode.test(error.message)
  return passingStates.test(code) || fromNode || isConnectionFault(error)
}

/**
 * The SQLSTATE classes for a lost or rejected connection, and for a conflict with recovery. Messages are in the
 * server's language, so only the codes count. Reads on a standby can't fail with serialization errors or deadlocks for
 * any other reason.
 */
const standbyStates = /^(08|28|57P0[123]$|53300$|40001$|40P01$)/
const waitedForPool = 'timeout exceeded when trying to connect'

/** Returns whether all connections of a pool were in use for too long. */
export const isFullPool = (error: unknown): boolean => error instanceof Error && error.message === waitedForPool

/**
 * Returns whether the primary should run a read that failed on a standby. If a read took too long, or waited too long
 * for a connection, running it again would only increase the primary's load.
 */
export const isFaultOfStandby = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.every(isFaultOfStandby)
  return standbyStates.test(codeOf(error)) || (isConnectionFault(error) && error.message !== waitedForPool)
}

/** Returns whether a statement was cancelled, for example by its timeout. */
export const isCancelled = (error: unknown): boolean => codeOf(error) === '57014'

/** Returns whether a statement failed because the server's disk is full. */
export const isFullDisk = (error: unknown): boolean => codeOf(error) === '53100'

/** Matches the name of a constraint. Citus appends the number of a shard. */
const constraintName = /\b([a-z]\w*_(?:pkey|key|fkey|check))(?:_\d+)?\b/

/**
 * Returns the name of the constraint that a statement violated. Citus only forwards the node's message. For rows that
 * it copies there (INSERT … SELECT), it doesn't even forward the SQLSTATE.
 */
export const violatedConstraint = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const { constraint, routine } = error as { constraint?: unknown; routine?: unknown }
  const isViolation = /^23/.test(codeOf(error)) || routine === 'ReportCopyError'
  if (!isViolation) return undefined
  const name = typeof constraint === 'string' ? constraint : error.message
  return constraintName.exec(name)?.[1]
}

/** Returns whether a transaction that reads one snapshot of the database conflicts with a later change. */
export const isOvertaken = (error: unknown): boolean => codeOf(error) === '40001'
