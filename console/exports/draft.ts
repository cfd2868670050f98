import { instantIn, localIn, midnightIn, ownZone } from '../lib/zones.ts'
import type { ResultsConfig as Config } from './queries.ts'

/** The form's input. The period is in the local time of its time zone. */
export type Draft = Omit<Config, 'since' | 'until'> & { since: string; until: string }

export const startOf = (config: Partial<Config> = {}): Draft => {
  const timezone = config.timezone ?? ownZone()
  return {
    ...config,
    timezone,
    monitors: config.monitors ?? [],
    since: config.since ? localIn(config.since, timezone) : midnightIn(timezone, -7),
    until: config.until ? localIn(config.until, timezone) : midnightIn(timezone, 0),
  }
}

/** Returns the configuration, or the reason why the export can't be created yet. */
export const readDraft = (draft: Draft): { config: Config } | { missing: string } => {
  const [since, until] = [instantIn(draft.since, draft.timezone), instantIn(draft.until, draft.timezone)]
  if (draft.monitors.length === 0) return { missing: 'Choose at least one monitor.' }
  if (since === undefined || until === undefined) return { missing: 'Enter a start and an end.' }
  if (since >= until) return { missing: 'The end must be later than the start.' }
  return { config: { ...draft, since, until } }
}

/** Returns the input as query parameters, without invalid times. */
export const paramsOf = ({ since, until, ...rest }: Draft): Partial<Config> => {
  const [from, to] = [instantIn(since, rest.timezone), instantIn(until, rest.timezone)]
  return { ...rest, ...(from && { since: from }), ...(to && { until: to }) }
}

/** Returns the fields that aren't empty. */
export const withoutEmpty = <T extends object>(fields: T): Partial<T> => {
  const isFilled = (value: unknown) =>
    ![undefined, '', false].includes(value as never) && !(Array.isArray(value) && value.length === 0)
  // The result has a subset of the same fields.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isFilled(value))) as Partial<T>
}

/** Returns the draft without its empty optional fields. */
export const tidy = ({ monitors, since, until, timezone, ...rest }: Draft): Draft => ({
  ...withoutEmpty(rest),
  monitors,
  since,
  until,
  timezone,
})
