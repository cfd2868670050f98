import type { Registry } from 'prom-client'
import type { Config } from '../config.ts'
import type { Log } from '../log.ts'

export type Telemetry = {
  /** Sends the remaining data, for a few seconds at most. */
  close: () => Promise<void>
}

type Options = { config: Config; registry: Registry; log: Log }

/** Sends this process's traces and metrics to the operator's collector. Only then is the SDK loaded. */
export const openTelemetry = async (options: Options): Promise<Telemetry> => {
  if (!options.config.telemetry.endpoint) return { close: async () => {} }
  const { startExport } = await import('./export.ts')
  return startExport(options, options.config.telemetry.endpoint)
}
