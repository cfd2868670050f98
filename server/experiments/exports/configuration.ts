import type { TableFormat } from '../../exports/formats/formats.ts'
import { readTimeZone } from '../../platform/time-zone.ts'

/** The configuration, including defaults. */
export type ExperimentExportConfiguration = { format: TableFormat; reasoning: boolean; timezone: string }

export const parseConfiguration = (given: Partial<ExperimentExportConfiguration>): ExperimentExportConfiguration => {
  const { format = 'csv', reasoning = false, timezone = 'UTC' } = given
  return { format, reasoning, timezone: readTimeZone(timezone, 'config.timezone') }
}
