import { openIncident, remindOfIncident, resolveIncident } from '../alert-incidents/lifecycle.ts'
import {
  listOpenIncidents,
  listOverruledIncidents,
  lockOpenIncidents,
  type StoredIncident,
  updateIncident,
} from '../alert-incidents/queries.ts'
import type { Chart } from '../destinations/chart.ts'
import { type Filter, parseFilter } from '../filters/filter.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dayMs, minuteMs } from '../platform/durations.ts'
import type { Attempt } from '../platform/jobs/define-job.ts'
import type { AlertCondition } from './condition-schema.ts'
import { mostListed } from './conditions/queries.ts'
import {
  type AlertQuestion,
  findExamples,
  lastWholeWindow,
  type Reading,
  readCondition,
} from './conditions/read-condition.ts'
import { readCourse } from './course.ts'
import { describeReading } from './describe.ts'
import { findLockedRule, type StoredRule, updateNextCheck } from './queries.ts'
import { subjectOf } from './subject.ts'

/** Returns the question that a stored rule asks. Condition and filter were validated when they were stored. */
const questionOf = (rule: StoredRule): AlertQuestion => ({
  condition: rule.condition as AlertCondition,
  selection: rule.filter === null ? undefined : parseFilter(rule.filter as Filter),
  groupBy: rule.groupBy,
  windowMinutes: rule.windowMinutes,
  minimumSample: rule.minimumSample,
  createdAt: rule.createdAt,
})

const shortestMs = 15_000

/**
 * Checks short windows often, so that alerts arrive within a minute. The result of a month-long window changes slowly.
 */
const checkEveryMs = ({ condition, windowMinutes }: AlertQuestion): number => {
  if (!['rate', 'score', 'signal', 'volume'].includes(condition.kind)) return minuteMs / 2
  const longestMs = windowMinutes <= 1_440 ? minuteMs : 10 * minuteMs
  return Math.min(longestMs, Math.max(shortestMs, (windowMinutes * minuteMs) / 200))
}

/**
 * Returns how long a condition must not be met before its incident resolves. The time is long enough that a value near
 * the threshold does not open one incident after another. If the condition is certain to be over, for example because a
 * finding was closed, the incident resolves immediately.
 */
const clearForMs = ({ condition, windowMinutes }: AlertQuestion): number => {
  if (['spike', 'finding', 'experiment_health', 'judge_budget', 'no_data', 'change'].includes(condition.kind)) return 0
  return Math.min(60 * minuteMs, Math.max(5 * minuteMs, (windowMinutes * minuteMs) / 4))
}

/** An incident also resolves after this long without enough data. */
const unknownForMs = dayMs

/** Returns whether the condition says nothing about a group without conversations. */
const needsData = ({ condition }: AlertQuestion): boolean =>
  ['rate', 'score', 'signal', 'change'].includes(condition.kind)

/** Waits longer after a slow check, so that no rule keeps a worker busy. */
const restMs = (tookMs: number): number => Math.min(10 * minuteMs, 20 * tookMs)

/** The changes to the incidents of a rule. */
type Step =
  | { do: 'open'; reading: Reading }
  | { do: 'remind'; incident: StoredIncident; reading: Reading }
  | { do: 'note'; incident: StoredIncident; clearSince: Date | null }
  | { do: 'resolve'; incident: StoredIncident }

type State = { open: StoredIncident[]; overruled: StoredIncident[] }

const readState = async (
  db: Db,
  org: OrgId,
  ruleId: string,
  list: typeof listOpenIncidents | typeof lockOpenIncidents,
): Promise<State> => ({
  open: await list(db, org, ruleId),
  overruled: await listOverruledIncidents(db, org, ruleId),
})

const isDueAgain = ({ status, notifiedAt }: StoredIncident, rule: StoredRule, now: Date): boolean => {
  // Someone is already looking into it.
  if (status !== 'firing') return false
  if (notifiedAt === null) return rule.mutedUntil === null || rule.mutedUntil <= now
  const { repeatEveryMinutes } = rule
  if (repeatEveryMinutes === null) return false
  return now.getTime() - notifiedAt.getTime() >= repeatEveryMinutes * minuteMs
}

/** Decides on one open incident. `reading` is undefined if its group is gone. */
const stepOf = (
  incident: StoredIncident,
  reading: Reading | undefined,
  about: { rule: StoredRule; question: AlertQuestion; now: Date },
): Step | undefined => {
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

/**
 * Returns what follows from the readings. This is a pure function, because it runs before the transaction and again
 * inside it.
 */
const planSteps = (
  readings: Reading[],
  { open, overruled }: State,
  about: { rule: StoredRule; question: AlertQuestion; now: Date },
): Step[] => {
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

type Firing = { rule: StoredRule; question: AlertQuestion; now: Date; course: Map<string, Chart> | undefined }

/** The maximum number of incidents that one check opens. */
const mostOpened = 50
/** The maximum number of open incidents of a rule. Nobody would read more. */
const mostOpen = 1_000

const perform = async (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { rule, question, now, course }: Firing,
  step: Step,
): Promise<void> => {
  const storedOf = (reading: Reading) => {
    const { value, interval, sample } = reading
    return { value, interval, sample, text: describeReading(question, reading) }
  }
  switch (step.do) {
    case 'open': {
      const { reading } = step
      const conversationIds = await findExamples(trx, org, question, reading.key, now)
      const { id: alertRuleId, name: ruleName, severity } = rule
      const { key: groupKey, label: groupLabel } = reading
      const subject = await subjectOf(trx, org, rule, groupKey)
      const opening = { alertRuleId, ruleName, severity, groupKey, groupLabel, conversationIds, subject }
      const chart = course?.get(groupKey)
      await openIncident(deps, trx, org, { ...opening, reading: storedOf(reading) }, { now, chart })
      return
    }
    case 'remind':
      return remindOfIncident(deps, trx, org, step.incident, storedOf(step.reading), now)
    case 'note':
      await updateIncident(trx, org, step.incident.id, { clearSince: step.clearSince })
      return
    case 'resolve':
      await resolveIncident(deps, trx, org, step.incident, null, now)
  }
}

/** Reads the chart, but sends the alert without one if that fails. */
const tryCourse = ({ db, log }: Deps, org: OrgId, question: AlertQuestion, now: Date) =>
  readCourse(db, org, question, now).catch((error: unknown) => {
    log.warn({ err: error }, 'sending an alert without a chart')
    return undefined
  })

/**
 * Locks the rule. Returns undefined if it was deleted or changed since its condition was read, because the next check
 * reads it again.
 */
const lockUnchanged = async (trx: Db, org: OrgId, rule: StoredRule): Promise<StoredRule | undefined> => {
  const locked = await findLockedRule(trx, org, rule.id)
  return locked?.enabled && locked.updatedAt.getTime() === rule.updatedAt.getTime() ? locked : undefined
}

/**
 * Sends reminders between the ends of windows, when the condition itself can't change. Also sends messages that were
 * held back while the rule was muted.
 */
const remindBetweenWindows = async (
  deps: Deps,
  org: OrgId,
  { rule, open, now }: { rule: StoredRule; open: StoredIncident[]; now: Date },
  attempt: Attempt,
): Promise<void> => {
  const isDue = (incident: StoredIncident) => incident.clearSince === null && isDueAgain(incident, rule, now)
  if (!open.some(isDue)) return
  await attempt.transaction(async (trx) => {
    if (!(await lockUnchanged(trx, org, rule))) return
    for (const incident of (await lockOpenIncidents(trx, org, rule.id)).filter(isDue)) {
      await remindOfIncident(deps, trx, org, incident, incident.reading, now)
    }
  })
}

/**
 * Checks a rule: reads its condition, and opens, repeats, or resolves its incidents. Locks nothing if nothing changes.
 * Otherwise decides again after it has locked the rule, so that concurrent checks do nothing twice.
 */
export const checkRule = async (
  deps: Deps,
  org: OrgId,
  rule: StoredRule,
  { now, attempt }: { now: Date; attempt: Attempt },
): Promise<void> => {
  const { db } = deps
  const question = questionOf(rule)
  const { checkedUntil } = rule
  const startedAt = performance.now()
  const nextCheckAt = (leastMs: number) =>
    new Date(now.getTime() + Math.max(leastMs, restMs(performance.now() - startedAt)))
  const state = await readState(db, org, rule.id, listOpenIncidents)
  const watchedKeys = [...state.open, ...state.overruled].map(({ groupKey }) => groupKey)
  let readings: Reading[] | undefined
  try {
    readings = await readCondition(db, org, question, { now, checkedUntil, watchedKeys })
  } catch (error) {
    await updateNextCheck(db, org, rule, { nextCheckAt: nextCheckAt(minuteMs), checkedUntil })
    throw error
  }
  const checked = { nextCheckAt: nextCheckAt(checkEveryMs(question)), checkedUntil }
  if (readings === undefined) {
    await remindBetweenWindows(deps, org, { rule, open: state.open, now }, attempt)
    return void (await updateNextCheck(db, org, rule, checked))
  }
  const until = question.condition.kind === 'change' ? lastWholeWindow(now, question.windowMinutes) : null
  const about = { rule, question, now }
  const planned = planSteps(readings, state, about)
  if (planned.length === 0) return void (await updateNextCheck(db, org, rule, { ...checked, checkedUntil: until }))
  const isOpening = rule.destinationIds.length > 0 && planned.some((step) => step.do === 'open')
  const course = isOpening ? await tryCourse(deps, org, question, now) : undefined
  await attempt.transaction(async (trx) => {
    const locked = await lockUnchanged(trx, org, rule)
    if (!locked) return
    const lockedState = await readState(trx, org, rule.id, lockOpenIncidents)
    const steps = planSteps(readings, lockedState, { ...about, rule: locked })
    const most = Math.max(0, Math.min(mostOpened, mostOpen - lockedState.open.length))
    const opened = steps.filter((step) => step.do === 'open').slice(0, most)
    const others = steps.filter((step) => step.do !== 'open')
    for (const step of [...others, ...opened]) await perform(deps, trx, org, { ...about, rule: locked, course }, step)
    await updateNextCheck(trx, org, locked, { ...checked, checkedUntil: until })
  })
}
