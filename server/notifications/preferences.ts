// Each person's choice of notifications, and how they get them.

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
  /** owned: incidents that the person owns. */
  incidents: (typeof incidentScopes)[number]
  digest: {
    /** When the summary of the organization is sent. */
    summary: (typeof summaryTimes)[number]
    /** HH:MM in the time zone. */
    time: string
    /** The day of the weekly digest. */
    weekday: (typeof weekdays)[number]
    timezone: string
  }
}

const immediate: Channels = { console: true, email: 'immediate' }
const consoleOnly: Channels = { console: true, email: 'off' }

/** Immediate emails are for what waits for the person. Digests are opt-in. */
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

/** Whether the person gets a digest of this kind, if there is anything to say. */
export const wantsDigest = ({ kinds: chosen, digest }: Preferences, cadence: Cadence): boolean =>
  digest.summary === cadence || Object.values(chosen).some(({ email }) => email === cadence)

/** Returns the preferences of a person, which are the default ones until they change them. */
export const preferencesOf = (stored: StoredPreferences | undefined): Preferences => {
  if (!stored?.kinds) return defaultPreferences
  const { kinds, incidents, summary, time, weekday, timezone } = stored
  const { digest } = defaultPreferences
  return {
    // They were checked when they were stored. A kind that was added since has its default.
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
