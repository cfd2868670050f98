import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

let stampedAt = 0
let stamp = ''

/** Many lines have the same millisecond; its text is created once. */
const timestamp = (): string => {
  const now = Date.now()
  if (now !== stampedAt) {
    stampedAt = now
    stamp = `,"time":"${new Date(now).toISOString()}"`
  }
  return stamp
}

/** Lines that a full disk or a closed pipe rejects wait up to this size, and are dropped beyond it. */
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
 * Writes one JSON object per line to standard error, which keeps standard output for command results. Bodies, headers,
 * and query strings are never logged, so only the error of a library could contain something to redact.
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
