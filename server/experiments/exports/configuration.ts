import type { FormatName } from '../../exports/formats/formats.ts'
import { invalid } from '../../platform/errors.ts'
import { isTimeZone } from '../../platform/time-zone.ts'

/** With its defaults. */
export type Configuration = { format: FormatName; reasoning: boolean; timezone: string }

export const parseConfiguration = (given: Partial<Configuration>): Configuration => {
  const { format = 'csv', reasoning = false, timezone = 'UTC' } = given
  if (!isTimeZone(timezone)) throw invalid('config.timezone', 'must be an IANA name such as Europe/Berlin')
  return { format, reasoning, timezone }
}
