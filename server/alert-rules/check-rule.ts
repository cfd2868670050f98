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
import { resolve } from '../filters/resolve.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { minuteMs } from '../platform/durations.ts'
import type { Attempt } from '../platform/jobs/define-job.ts'
import type { AlertCondition } from './condition-schema.ts'
import {
  type AlertQuestion,
  earliestRead,
  findExamples,
  isMeasured,
  lastWholeWindow,
  type Reading,
  readCondition,
} from './conditions/read-condition.ts'
import { readCourse } from './course.ts'
import { describeReading } from './describe.ts'
import { isDueAgain, planSteps, type State, type Step } from './plan-incidents.ts'
import { findLockedRule, type StoredRule, updateNextCheck } from './queries.ts'
import { subjectOf } from './subject.ts'

type Asking = Pick<StoredRule, 'condition' | 'filter' | 'groupBy' | 'windowMinutes' | 'minimumSample' | 'createdAt'>

/**
 * Returns what a rule asks at a time, or at any later one. Its condition and its filter were validated before. The filter
 * only selects conversations that a reading at that time needs.
 */
export const questionOf = async (
  deps: Pick<Deps, 'meanings'>,
  org: OrgId,
  { condition: stored, filter, groupBy, windowMinutes, minimumSample, createdAt }: Asking,
  at: Date,
): Promise<AlertQuestion> => {
  const condition = stored as AlertCondition
  const since = earliestRead({ condition, windowMinutes }, at).toISOString()
  const selection = filter === null ? undefined : await resolve(deps, org, parseFilter(filter as Filter), { since })
  return { condition, selection, groupBy, windowMinutes, minimumSample, createdAt }
}

const shortestMs = 15_000

/**
 * Checks short windows often, so that alerts arrive within a minute. Measurements over long windows, such as a month,
 * change slowly.
 */
const checkEveryMs = ({ condition, windowMinutes }: AlertQuestion): number => {
  if (!isMeasured(condition) || condition.kind === 'change') return minuteMs / 2
  const longestMs = windowMinutes <= 1_440 ? minuteMs : 10 * minuteMs
  return Math.min(longestMs, Math.max(shortestMs, (windowMinutes * minuteMs) / 200))
}

/** Waits longer after a slow check, so that no rule can keep a worker busy. */
const restMs = (tookMs: number): number => Math.min(10 * minuteMs, 20 * tookMs)

const readState = async (
  db: Db,
  org: OrgId,
  ruleId: string,
  list: typeof listOpenIncidents | typeof lockOpenIncidents,
): Promise<State> => ({
  open: await list(db, org, ruleId),
  overruled: await listOverruledIncidents(db, org, ruleId),
})

type Firing = { rule: StoredRule; question: AlertQuestion; now: Date; course: Map<string, Chart> | undefined }

/** The maximum number of incidents that one check can open. */
const mostOpened = 50
/** The maximum number of open incidents for a rule. Nobody would read more. */
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

/** Reads the chart. If that fails, the alert is sent without one. */
const tryCourse = ({ db, log }: Deps, org: OrgId, question: AlertQuestion, now: Date) =>
  readCourse(db, org, question, now).catch((error: unknown) => {
    log.warn({ err: error }, 'sending an alert without a chart')
    return undefined
  })

/**
 * Locks the rule. Returns undefined if it was deleted, or if it changed after its condition was read. In the second
 * case, the next check reads it again.
 */
const lockUnchanged = async (trx: Db, org: OrgId, rule: StoredRule): Promise<StoredRule | undefined> => {
  const locked = await findLockedRule(trx, org, rule.id)
  return locked?.enabled && locked.updatedAt.getTime() === rule.updatedAt.getTime() ? locked : undefined
}

/**
 * Sends reminders that are due before the current window ends, when the condition itself can't change. Also sends
 * messages that were held back while the rule was muted.
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
 * Otherwise, decides again after locking the rule, so that concurrent checks do nothing twice.
 */
export const checkRule = async (
  deps: Deps,
  org: OrgId,
  rule: StoredRule,
  { now, attempt }: { now: Date; attempt: Attempt },
): Promise<void> => {
  const { db } = deps
  const { checkedUntil } = rule
  const startedAt = performance.now()
  const nextCheckAt = (leastMs: number) =>
    new Date(now.getTime() + Math.max(leastMs, restMs(performance.now() - startedAt)))
  const state = await readState(db, org, rule.id, listOpenIncidents)
  const watchedKeys = [...state.open, ...state.overruled].map(({ groupKey }) => groupKey)
  let question: AlertQuestion
  let readings: Reading[] | undefined
  try {
    question = await questionOf(deps, org, rule, now)
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
