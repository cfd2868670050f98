import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

let stampedAt = 0
let stamp = ''

/** Many lines fall into one millisecond; its text is made once. */
const timestamp = (): string => {
  const now = Date.now()
  if (now !== stampedAt) {
    stampedAt = now
    stamp = `,"time":"${new Date(now).toISOString()}"`
  }
  return stamp
}

/** Lines that a full disk or a closed pipe does not take wait up to this size, and beyond it are dropped. */
const maxWaitingBytes = 4 * 1024 * 1024

const openStandardError = (): DestinationStream => {
  const destination = pino.destination({
    dest: 2,
    sync: false,
    minLength: 16_000,
    periodicFlush: 250,
    maxLength: maxWaitingBytes,
  })
  // A log that cannot be written must not end the service.
  destination.on('error', () => {})
  return destination
}

/**
 * One JSON object a line on standard error, which leaves standard output to what a command answers. Bodies, headers and query strings are never given to the log, so
 * there is nothing to redact but what an error of a library might carry.
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
