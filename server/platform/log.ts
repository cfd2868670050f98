import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/**
 * One JSON object a line on standard error, which leaves standard output to what a command answers. Bodies, headers and query strings are never given to the log, so
 * there is nothing to redact but what an error of a library might carry.
 */
export const openLog = (destination?: DestinationStream): Log =>
  pino(
    {
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: ['err.config', 'err.parameters', 'err.detail', 'err.where', 'err.headers'],
    },
    destination ?? pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 500 }),
  )
