// Calculates when digests are sent and which periods they cover.

import type { Recurrence } from '../export-schedules/queries.ts'
import { latestPlanned, plannedAfter } from '../export-schedules/recurrence.ts'
import { type Cadence, type Preferences, wantsDigest } from './preferences.ts'

/** The period of the next digest, and the time at which it is sent. */
export type Period = { since: Date; nextAt: Date }

const recurrenceOf = ({ digest }: Preferences, cadence: Cadence): Recurrence =>
  cadence === 'daily' ? { every: 'day', at: digest.time } : { every: 'week', weekday: digest.weekday, at: digest.time }

/** Returns the period after a change of preferences. It starts at the same time as the current period. */
export const periodOf = (
  preferences: Preferences,
  cadence: Cadence,
  { current, now }: { current: Period | null; now: Date },
): Period | null => {
  if (!wantsDigest(preferences, cadence)) return null
  return { since: current?.since ?? now, nextAt: nextAfter(preferences, cadence, now) }
}

export const nextAfter = (preferences: Preferences, cadence: Cadence, now: Date): Date =>
  plannedAfter(recurrenceOf(preferences, cadence), preferences.digest.timezone, now)

/**
 * Returns the latest time at which the digest should have been sent. After an outage, one digest covers all missed
 * ones.
 */
export const latestBefore = (preferences: Preferences, cadence: Cadence, now: Date): Date =>
  latestPlanned(recurrenceOf(preferences, cadence), preferences.digest.timezone, now)
