// Decides which incidents a rule opens, repeats, and resolves. Pure.

import type { StoredIncident } from '../alert-incidents/queries.ts'
import { dayMs, minuteMs } from '../platform/durations.ts'
import { mostListed } from './conditions/queries.ts'
import type { AlertQuestion, Reading } from './conditions/read-condition.ts'
import type { StoredRule } from './queries.ts'

/**
 * Returns how long a condition must have been clear before its incident resolves. The time is long enough that a value
 * near the threshold does not open one incident after another. If the condition is definitely over, for example because
 * a finding was closed, the incident resolves immediately.
 */
const clearForMs = ({ condition, windowMinutes }: AlertQuestion): number => {
  if (['spike', 'finding', 'experiment_health', 'judge_budget', 'no_data', 'change'].includes(condition.kind)) return 0
  return Math.min(60 * minuteMs, Math.max(5 * minuteMs, (windowMinutes * minuteMs) / 4))
}

/** An incident also resolves after this long without enough data. */
const unknownForMs = dayMs

/** Returns whether the condition can't be decided for a group without conversations. */
const needsData = ({ condition }: AlertQuestion): boolean =>
  ['rate', 'score', 'category', 'field', 'signal', 'sound', 'change'].includes(condition.kind)

/** The changes to the incidents of a rule. */
export type Step =
  | { do: 'open'; reading: Reading }
  | { do: 'remind'; incident: StoredIncident; reading: Reading }
  | { do: 'note'; incident: StoredIncident; clearSince: Date | null }
  | { do: 'resolve'; incident: StoredIncident }

export type State = { open: StoredIncident[]; overruled: StoredIncident[] }

type About = { rule: StoredRule; question: AlertQuestion; now: Date }

/** Returns whether another message is due for an open incident. */
export const isDueAgain = ({ status, notifiedAt }: StoredIncident, rule: StoredRule, now: Date): boolean => {
  // Someone has already acknowledged it.
  if (status !== 'firing') return false
  if (notifiedAt === null) return rule.mutedUntil === null || rule.mutedUntil <= now
  const { repeatEveryMinutes } = rule
  if (repeatEveryMinutes === null) return false
  return now.getTime() - notifiedAt.getTime() >= repeatEveryMinutes * minuteMs
}

/** Decides what happens to one open incident. `reading` is undefined if its group no longer exists. */
const stepOf = (incident: StoredIncident, reading: Reading | undefined, about: About): Step | undefined => {
  const { rule, question, now } = about
  const { clearSince } = incident
  const verdict = reading?.verdict ?? (needsData(question) ? 'unknown' : 'clear')
  if (reading?.verdict === 'met') {
    if (isDueAgain(incident, rule, now)) return { do: 'remind', incident, reading }
    return clearSince === null ? undefined : { do: 'note', incident, clearSince: null }
  }
  const waitMs = verdict === 'unknown' ? unknownForMs : clearForMs(question)
  const since = clearSince ?? now
  if (now.getTime() - since.getTime() >= waitMs) return { do: 'resolve', incident }
  return clearSince === null ? { do: 'note', incident, clearSince: now } : undefined
}

/** Plans the changes that the readings require. Pure, because it runs before the transaction and again inside it. */
export const planSteps = (readings: Reading[], { open, overruled }: State, about: About): Step[] => {
  const readingOf = new Map(readings.map((reading) => [reading.key, reading]))
  const isCut = readings.length >= mostListed && !needsData(about.question)
  const known = new Set([...open, ...overruled].map(({ groupKey }) => groupKey))
  const opened = readings
    .filter(({ key, verdict }) => verdict === 'met' && !known.has(key))
    .map((reading): Step => ({ do: 'open', reading }))
  const isRead = ({ groupKey }: StoredIncident) => !isCut || readingOf.has(groupKey)
  const changed = open
    .filter(isRead)
    .flatMap((incident) => stepOf(incident, readingOf.get(incident.groupKey), about) ?? [])
  const settled = overruled
    .filter(isRead)
    .filter(({ groupKey }) => ['clear', undefined].includes(readingOf.get(groupKey)?.verdict))
    .map((incident): Step => ({ do: 'note', incident, clearSince: about.now }))
  return [...changed, ...settled, ...opened]
}
