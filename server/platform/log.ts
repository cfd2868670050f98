import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

let stampedAt = 0
let stamp = ''

/** Returns the time. Many lines are written in the same millisecond, so the text is only created once for them. */
const timestamp = (): string => {
  const now = Date.now()
  if (now !== stampedAt) {
    stampedAt = now
    stamp = `,"time":"${new Date(now).toISOString()}"`
  }
  return stamp
}

/** If a full disk or a closed pipe rejects lines, this many bytes are kept for later. Further lines are dropped. */
const maxWaitingBytes = 4 * 1024 * 1024

const openStandardError = (): DestinationStream => {
  const destination = pino.destination({
    dest: 2,
    sync: false,
    minLength: 16_000,
    periodicFlush: 250,
    maxLength: maxWaitingBytes,
  })
  // A failing log must not end the service.
  destination.on('error', () => {})
  return destination
}

/**
 * Writes one JSON object per line to standard error, because standard output is for the results of commands. Bodies,
 * headers, and query strings are never logged, so only a library's errors could contain confidential data.
 */
export const openLog = (destination?: DestinationStream): Log =>
  pino(
    {
      base: null,
      timestamp,
      formatters: { level: (label) => ({ level: label }) },
      redact: ['err.config', 'err.client', 'err.parameters', 'err.detail', 'err.where', 'err.headers'],
    },
    destination ?? openStandardError(),
  )
