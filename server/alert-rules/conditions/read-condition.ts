import { findLastArrival } from '../../conversations/queries.ts'
import type { Resolved } from '../../filters/queries.ts'
import { getOrganization } from '../../organizations/queries.ts'
import { monthOf } from '../../organizations/spending/month.ts'
import { getSpending } from '../../organizations/spending/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { dayMs, minuteMs } from '../../platform/durations.ts'
import { soundPaths } from '../../sound-measures/names.ts'
import type { Interval } from '../../statistics/interval.ts'
import { type AlertCondition, type ConditionOf, signalPaths } from '../condition-schema.ts'
import {
  type ConditionVerdict,
  type Decision,
  decideChange,
  decideFieldChange,
  decideRate,
  decideStatistic,
  decideVolume,
  nothingMeasured,
  quantileOf,
} from '../measures/is-met.ts'
import {
  findGroupNames,
  findLatestStart,
  type GroupBy,
  listExamples,
  listRecentGroups,
  type Measure,
  sumMeasure,
  sumPairs,
  type WindowSums,
} from '../measures/queries.ts'
import { countFailures, listAlarmedExperiments, listOpenFindings, listSpikes } from './queries.ts'

/** The question of a rule, with its filter parsed. */
export type AlertQuestion = {
  condition: AlertCondition
  selection: Resolved | undefined
  groupBy: GroupBy | null
  windowMinutes: number
  minimumSample: number
  createdAt: Date
}

/** The state of one group, or of the whole rule if it has no groups. A rule without groups has an empty key. */
export type Reading = {
  key: string
  label: string | null
  verdict: ConditionVerdict
  value: number | null
  interval: Interval | null
  sample: number | null
}

const measuredKinds = ['rate', 'score', 'category', 'field', 'signal', 'sound', 'volume', 'change'] as const

export type MeasureCondition = ConditionOf<(typeof measuredKinds)[number]>

export const isMeasured = (condition: AlertCondition): condition is MeasureCondition =>
  (measuredKinds as readonly string[]).includes(condition.kind)

/** Returns the measure that a condition depends on. */
export const measureOf = (condition: MeasureCondition): Measure => {
  switch (condition.kind) {
    case 'rate':
      return { kind: 'rate', monitorId: condition.monitorId }
    case 'change': {
      const { monitorId, category, field } = condition
      if (field !== undefined) return { kind: 'field', monitorId, field, threshold: 0, quantile: 0.5 }
      return category === undefined ? { kind: 'rate', monitorId } : { kind: 'category', monitorId, category }
    }
    case 'category':
      return { kind: 'category', monitorId: condition.monitorId, category: condition.category }
    case 'field': {
      const { monitorId, field, threshold, statistic } = condition
      return { kind: 'field', monitorId, field, threshold, quantile: quantileOf(statistic) }
    }
    case 'score': {
      const { monitorId, threshold, statistic } = condition
      return { kind: 'score', monitorId, threshold, quantile: quantileOf(statistic) }
    }
    case 'signal': {
      const { signal, threshold, statistic } = condition
      const quantile = quantileOf(statistic)
      if (signal === 'durationSeconds') return { kind: 'duration', threshold, quantile }
      return { kind: 'signal', path: signalPaths[signal], threshold, quantile }
    }
    case 'sound': {
      const { name, threshold, statistic } = condition
      return { kind: 'sound', path: soundPaths[name], threshold, quantile: quantileOf(statistic) }
    }
    case 'volume':
      return { kind: 'volume' }
  }
}

/**
 * Evaluates a condition from the sums of one window. Conditions about a change need two windows and are evaluated
 * elsewhere.
 */
export const decideMeasure = (
  condition: Exclude<MeasureCondition, ConditionOf<'change'>>,
  sums: WindowSums,
  minimumSample: number,
): Decision => {
  switch (condition.kind) {
    case 'rate':
    case 'category':
      return decideRate(sums, { certainty: 'interval', ...condition }, minimumSample)
    case 'volume':
      return decideVolume(sums.count, condition)
    default:
      return decideStatistic(sums, condition, minimumSample)
  }
}

const labelled = async (db: Db, org: OrgId, groupBy: GroupBy | null, decisions: Map<string, Decision>) => {
  const names = groupBy === null ? undefined : await findGroupNames(db, org, groupBy, [...decisions.keys()])
  return [...decisions].map(([key, decision]): Reading => ({ key, label: names?.get(key) ?? null, ...decision }))
}

const weekMs = 7 * dayMs

/** The time of a check, and the results of earlier checks. */
type Check = {
  now: Date
  checkedUntil: Date | null
  /**
   * The groups with incidents that are open, or would reopen because somebody resolved them while the condition was
   * met.
   */
  watchedKeys: string[]
}

/**
 * Lists the groups that had a conversation not much longer than `silentMinutes` ago. Groups with incidents stay listed
 * for longer.
 */
const listGroups = (
  db: Db,
  org: OrgId,
  { selection, groupBy, silentMinutes }: { selection: Resolved | undefined; groupBy: GroupBy; silentMinutes: number },
  { now, watchedKeys }: Check,
) => {
  const silentSince = now.getTime() - silentMinutes * minuteMs
  const watched = { keys: watchedKeys, since: new Date(silentSince - weekMs) }
  return listRecentGroups(db, org, { selection, groupBy, watched, since: new Date(silentSince - dayMs), now })
}

/** Returns the groups to check. A group that recently had conversations but has none in the window counts as empty. */
const groupKeys = async (db: Db, org: OrgId, question: AlertQuestion, check: Check): Promise<string[]> => {
  const { selection, groupBy, windowMinutes: silentMinutes } = question
  if (groupBy === null) return ['']
  return (await listGroups(db, org, { selection, groupBy, silentMinutes }, check)).map(({ key }) => key)
}

type Measured = Exclude<MeasureCondition, ConditionOf<'change'>>

const readMeasure = async (db: Db, org: OrgId, question: AlertQuestion, condition: Measured, check: Check) => {
  const { now } = check
  const { selection, groupBy, windowMinutes, minimumSample } = question
  const bounds = [new Date(now.getTime() - windowMinutes * minuteMs), now]
  const rows = await sumMeasure(db, org, { measure: measureOf(condition), selection, groupBy, bounds })
  const sums = new Map(rows.map(({ key, ...row }) => [key, row]))
  // Without conversations, only the volume is known: zero. Zero is never above a threshold.
  const countsMissing = condition.kind === 'volume' && (groupBy === null || condition.direction === 'below')
  const keys = countsMissing ? await groupKeys(db, org, question, check) : []
  const decisions = new Map(
    [...new Set([...keys, ...sums.keys()])].map((key) => [
      key,
      decideMeasure(condition, sums.get(key) ?? nothingMeasured, minimumSample),
    ]),
  )
  return labelled(db, org, groupBy, decisions)
}

/** How long to wait for results, which arrive some time after their conversations end. */
const settlingMs = 5 * minuteMs

/**
 * Returns the end of the last complete window. Windows follow each other without gaps and are the same for every check.
 */
export const lastWholeWindow = (now: Date, windowMinutes: number): Date => {
  const windowMs = windowMinutes * minuteMs
  return new Date(Math.floor((now.getTime() - settlingMs) / windowMs) * windowMs)
}

type ChangeCondition = ConditionOf<'change'>

/**
 * Returns the start of the earliest conversation that a check at the given time can read. A check reads several windows
 * for its chart, the same window a week earlier, and groups that have been silent for up to a week.
 */
export const earliestRead = (
  { condition, windowMinutes }: Pick<AlertQuestion, 'condition' | 'windowMinutes'>,
  at: Date,
) => {
  const minutes = condition.kind === 'no_data' ? condition.forMinutes : windowMinutes
  const windows = minutes <= dayMs / minuteMs ? 8 : 4
  return new Date(at.getTime() - windows * minutes * minuteMs - weekMs - dayMs)
}

/** Reads, for each group, the two windows that a condition about the change of a field compares. */
const readPairs = (
  db: Db,
  org: OrgId,
  { selection, groupBy, windowMinutes }: AlertQuestion,
  condition: ChangeCondition,
  until: Date,
) => {
  const windowMs = windowMinutes * minuteMs
  const measure = measureOf(condition)
  const start = (end: number) => new Date(end - windowMs)
  const earlier = until.getTime() - weekMs
  // A comparison with the previous week has three periods: the two windows, and the time between them.
  const isWeek = condition.comparedTo === 'same_weekday' && windowMs < weekMs
  const bounds = isWeek
    ? [start(earlier), new Date(earlier), start(until.getTime()), until]
    : [start(until.getTime() - windowMs), start(until.getTime()), until]
  const back = bounds.length - 2
  return sumPairs(db, org, { measure, selection, groupBy, bounds, back }).then((pairs) =>
    pairs.filter(({ period }) => period === back),
  )
}

const readFieldChange = async (
  db: Db,
  org: OrgId,
  question: AlertQuestion,
  condition: ChangeCondition,
  until: Date,
): Promise<Reading[]> => {
  const { groupBy, windowMinutes, minimumSample } = question
  const pairs = await readPairs(db, org, question, condition, until)
  const about = { windowMinutes, groups: pairs.length, minimumSample }
  return labelled(db, org, groupBy, new Map(pairs.map((pair) => [pair.key, decideFieldChange(pair, condition, about)])))
}

const readChange = async (
  db: Db,
  org: OrgId,
  question: AlertQuestion,
  condition: ChangeCondition,
  until: Date,
): Promise<Reading[]> => {
  if (condition.field !== undefined) return readFieldChange(db, org, question, condition, until)
  const { selection, groupBy, windowMinutes, minimumSample } = question
  const windowMs = windowMinutes * minuteMs
  const back = condition.comparedTo === 'same_weekday' ? weekMs : windowMs
  const sumsUntil = async (end: Date) => {
    const bounds = [new Date(end.getTime() - windowMs), end]
    const rows = await sumMeasure(db, org, { measure: measureOf(condition), selection, groupBy, bounds })
    return new Map(rows.map(({ key, ...row }) => [key, row]))
  }
  const now = await sumsUntil(until)
  const before = await sumsUntil(new Date(until.getTime() - back))
  const keys = [...new Set([...now.keys(), ...before.keys()])]
  const about = { windowMinutes, groups: keys.length, minimumSample }
  const decisions = new Map(
    keys.map((key) => [
      key,
      decideChange(
        { before: before.get(key) ?? nothingMeasured, now: now.get(key) ?? nothingMeasured },
        condition,
        about,
      ),
    ]),
  )
  return labelled(db, org, groupBy, decisions)
}

const single = (reading: Omit<Reading, 'key' | 'label'>): Reading[] => [{ key: '', label: null, ...reading }]

/** Measures the minutes since the last conversation for the rule, or for each group. */
const readNoData = async (
  db: Db,
  org: OrgId,
  { selection, groupBy, createdAt }: AlertQuestion,
  { forMinutes }: ConditionOf<'no_data'>,
  check: Check,
) => {
  const { now } = check
  const readSince = (lastAt: Date | undefined): Decision => {
    // If there has never been a conversation, the time since the rule was created counts.
    const minutes = (now.getTime() - (lastAt ?? createdAt).getTime()) / minuteMs
    return { verdict: minutes >= forMinutes ? 'met' : 'clear', value: Math.floor(minutes), interval: null, sample: 0 }
  }
  if (groupBy === null && selection === undefined) {
    const lastAt = await findLastArrival(db, org)
    // An organization that has never sent conversations has no outage.
    if (lastAt === undefined) return single({ verdict: 'unknown', value: null, interval: null, sample: 0 })
    return single(readSince(lastAt))
  }
  if (groupBy === null) {
    const since = new Date(now.getTime() - forMinutes * minuteMs - weekMs)
    const lastAt = await findLatestStart(db, org, { selection, since, now })
    return single(readSince(lastAt ?? (createdAt > since ? undefined : since)))
  }
  const groups = await listGroups(db, org, { selection, groupBy, silentMinutes: forMinutes }, check)
  return labelled(db, org, groupBy, new Map(groups.map(({ key, lastAt }) => [key, readSince(lastAt)])))
}

const readFailures = async (
  db: Db,
  org: OrgId,
  { windowMinutes }: AlertQuestion,
  { source, threshold }: ConditionOf<'failures'>,
  now: Date,
) => {
  const count = await countFailures(db, org, source, new Date(now.getTime() - windowMinutes * minuteMs))
  return single({ verdict: count >= threshold ? 'met' : 'clear', value: count, interval: null, sample: null })
}

const readBudget = async (db: Db, org: OrgId, { percent }: ConditionOf<'judge_budget'>, now: Date) => {
  const { monthlyJudgeBudget } = await getOrganization(db, org)
  if (!monthlyJudgeBudget) return single({ verdict: 'clear', value: null, interval: null, sample: null })
  const { cost } = await getSpending(db, org, monthOf(now))
  const share = cost / monthlyJudgeBudget
  return single({ verdict: share * 100 >= percent ? 'met' : 'clear', value: share, interval: null, sample: null })
}

const occurrences = (listed: { key: string; label: string }[]): Reading[] =>
  listed.map(({ key, label }) => ({ key, label, verdict: 'met', value: null, interval: null, sample: null }))

/**
 * Returns the current state of a rule's condition for each group. Omits groups that no longer meet it. Returns
 * undefined if the condition needs complete windows, and none has ended since `checkedUntil`.
 */
export const readCondition = async (
  db: Db,
  org: OrgId,
  question: AlertQuestion,
  check: Check,
): Promise<Reading[] | undefined> => {
  const { condition, createdAt, windowMinutes } = question
  const { now, checkedUntil } = check
  switch (condition.kind) {
    case 'change': {
      const until = lastWholeWindow(now, windowMinutes)
      if (checkedUntil !== null && until <= checkedUntil) return undefined
      return readChange(db, org, question, condition, until)
    }
    case 'spike':
      return occurrences(await listSpikes(db, org, condition.monitorId))
    case 'finding': {
      const { events, minPriority = 'none' } = condition
      return occurrences(await listOpenFindings(db, org, { events, minPriority, since: createdAt }))
    }
    case 'experiment_health':
      return occurrences(await listAlarmedExperiments(db, org))
    case 'no_data':
      return readNoData(db, org, question, condition, check)
    case 'failures':
      return readFailures(db, org, question, condition, now)
    case 'judge_budget':
      return readBudget(db, org, condition, now)
    default:
      return readMeasure(db, org, question, condition, check)
  }
}

const examplesShown = 3

/** Lists the newest conversations that show why a condition is met. */
export const findExamples = async (
  db: Db,
  org: OrgId,
  question: AlertQuestion,
  key: string,
  now: Date,
): Promise<string[]> => {
  const { condition, selection, groupBy, windowMinutes } = question
  if (!isMeasured(condition) || condition.kind === 'volume') return []
  const until = condition.kind === 'change' ? lastWholeWindow(now, windowMinutes) : now
  const bounds = [new Date(until.getTime() - windowMinutes * minuteMs), until]
  const hits = condition.direction !== 'below' && condition.direction !== 'down'
  const measure = measureOf(condition)
  if (measure.kind === 'field' && condition.kind === 'change') {
    const pair = (await readPairs(db, org, question, condition, until)).find((one) => one.key === key)
    measure.threshold = pair?.median ?? 0
  }
  return listExamples(db, org, {
    measure,
    selection,
    groupBy,
    bounds,
    key,
    hits,
    limit: examplesShown,
  })
}
