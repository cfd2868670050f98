// Defines which notifications each person receives, and how.

import type { weekdays } from '../export-schedules/recurrence.ts'
import type { StoredPreferences } from './queries.ts'

export const kinds = ['incident', 'assignment', 'mention', 'export', 'review_request', 'invitation'] as const
export type NotificationKind = (typeof kinds)[number]

export const emailTimes = ['off', 'immediate', 'daily', 'weekly'] as const
export type EmailTime = (typeof emailTimes)[number]

export const cadences = ['daily', 'weekly'] as const
export type Cadence = (typeof cadences)[number]

export const incidentScopes = ['owned', 'all'] as const
export const summaryTimes = ['off', ...cadences] as const

export type Channels = { console: boolean; email: EmailTime }

export type Preferences = {
  kinds: Record<NotificationKind, Channels>
  /** `owned` means incidents that the person owns. */
  incidents: (typeof incidentScopes)[number]
  digest: {
    /** The time at which the organization's summary is sent. */
    summary: (typeof summaryTimes)[number]
    /** The time as HH:MM in the time zone. */
    time: string
    /** The day of the weekly digest. */
    weekday: (typeof weekdays)[number]
    timezone: string
  }
}

const immediate: Channels = { console: true, email: 'immediate' }
const consoleOnly: Channels = { console: true, email: 'off' }

/** Only events that require the person's action send an immediate email. Digests are opt-in. */
const defaultPreferences: Preferences = {
  kinds: {
    incident: immediate,
    assignment: immediate,
    mention: immediate,
    export: consoleOnly,
    review_request: immediate,
    invitation: consoleOnly,
  },
  incidents: 'owned',
  digest: { summary: 'off', time: '08:00', weekday: 'monday', timezone: 'UTC' },
}

/** Returns whether the person wants this kind of digest. */
export const wantsDigest = ({ kinds: chosen, digest }: Preferences, cadence: Cadence): boolean =>
  digest.summary === cadence || Object.values(chosen).some(({ email }) => email === cadence)

/** Returns a person's preferences, or the defaults if they have not changed any. */
export const preferencesOf = (stored: StoredPreferences | undefined): Preferences => {
  if (!stored?.kinds) return defaultPreferences
  const { kinds, incidents, summary, time, weekday, timezone } = stored
  const { digest } = defaultPreferences
  return {
    // The kinds were validated when they were stored. Kinds that were added since then have their defaults.
    kinds: { ...defaultPreferences.kinds, ...(kinds as Preferences['kinds']) },
    incidents: incidents ?? defaultPreferences.incidents,
    digest: {
      summary: summary ?? digest.summary,
      time: time ?? digest.time,
      weekday: (weekday as Preferences['digest']['weekday'] | null) ?? digest.weekday,
      timezone: timezone ?? digest.timezone,
    },
  }
}
