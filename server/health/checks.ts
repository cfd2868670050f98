import { countChanges, findCheckedState } from '../analytics/days/queries.ts'
import { findLastArrival } from '../conversations/queries.ts'
import { evaluateConversations, judge } from '../evaluations/lifecycle.ts'
import { scoreConversations } from '../evaluations/scorecards/jobs.ts'
import { getOrganization } from '../organizations/queries.ts'
import { monthOf } from '../organizations/spending/month.ts'
import { getSpending } from '../organizations/spending/queries.ts'
import { hasOneOrganization, listProcesses, measureClockSkew, readDatabaseSize } from '../platform/db/about-database.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dayMs, hourMs, minuteMs } from '../platform/durations.ts'
import {
  countJobs,
  countOpenIncidents,
  countPostponed,
  countWaitingForMeanings,
  type Failing,
  getFileSizes,
  listFailedTranscriptions,
  listFailingDestinations,
  listFailingEndpoints,
  listFailingMonitors,
  listFailingSchedules,
  listFailingSyncs,
  listModelRequests,
  listSources,
  listSyncGaps,
  type ModelRequests,
  type Postponed,
} from './queries.ts'

/** The checks of an organization's health. Each reports its result in one sentence. */

export const healthStatuses = ['ok', 'degraded', 'failing'] as const
export type HealthStatus = (typeof healthStatuses)[number]

export type Check = { name: string; status: HealthStatus; message: string; since: Date | null; details: object[] }

const count = (items: number, one: string): string => `${items.toLocaleString('en')} ${one}${items === 1 ? '' : 's'}`

const checkIngestion = async (db: Db, org: OrgId, now: Date): Promise<Check> => {
  const [last, sources] = [await findLastArrival(db, org), await listSources(db, org)]
  const isSilent = last !== undefined && now.getTime() - last.getTime() > dayMs
  const message =
    last === undefined
      ? 'No conversation has arrived yet.'
      : isSilent
        ? 'No conversation has arrived for more than a day.'
        : 'Conversations are arriving.'
  const details = [{ name: 'All sources', lastArrivalAt: last ?? null }, ...sources]
  return { name: 'ingestion', status: isSilent ? 'degraded' : 'ok', message, since: last ?? null, details }
}

const leastFailures = 5

const spell = (instant: Date): string => `${instant.toISOString().slice(11, 16)} UTC`

/**
 * Returns a sentence about monitors that wait because their scopes compare meanings and the embedding model is not
 * responding.
 */
const describeWaiting = ({ jobs, nextAt }: Postponed): string => {
  if (jobs === 0) return ''
  const next = nextAt ? `, the next time at ${spell(nextAt)}` : ''
  return `The embedding model is not responding, so monitors with similarTo in their scope will be retried${next}.`
}

const checkEvaluations = async (db: Db, org: OrgId, now: Date): Promise<Check> => {
  const waiting = await countWaitingForMeanings(db, org, [evaluateConversations.name, scoreConversations.name])
  const monitors = await listFailingMonitors(db, org, new Date(now.getTime() - dayMs))
  const isDown = monitors.some(({ failed, results }) => failed >= leastFailures && failed * 2 >= results)
  const failed = monitors.reduce((sum, monitor) => sum + monitor.failed, 0)
  const failures =
    failed === 0
      ? 'No evaluation failed in the last day.'
      : `${count(failed, 'evaluation')} failed in the last day. ${monitors[0]?.reason ?? ''}`.trim()
  const status = isDown ? 'failing' : failed > 0 || waiting.jobs > 0 ? 'degraded' : 'ok'
  const message = `${failures} ${describeWaiting(waiting)}`.trim()
  return { name: 'evaluations', status, message, since: null, details: monitors }
}

const isFailingNow = ({ lastFailedAt, lastAnsweredAt }: ModelRequests): boolean =>
  lastFailedAt !== null && (lastAnsweredAt === null || lastFailedAt > lastAnsweredAt)

/**
 * Returns the number of seconds within which 95% of the requests were answered, or undefined if that exceeds every
 * limit.
 */
const usualSeconds = (models: ModelRequests[]): number | undefined => {
  const sum = (pick: (model: ModelRequests) => number) => models.reduce((all, model) => all + pick(model), 0)
  const answered = sum(({ requests, failed }) => requests - failed)
  const within: [number, number][] = [
    [1, sum((model) => model.within1s)],
    [3, sum((model) => model.within3s)],
    [10, sum((model) => model.within10s)],
    [30, sum((model) => model.within30s)],
  ]
  return within.find(([, count]) => count >= answered * 0.95)?.[0]
}

const worryingShare = 0.05

/** Checks how model endpoints respond, and counts the evaluations that are waiting for a failing endpoint. */
const checkJudges = async (db: Db, org: OrgId, now: Date): Promise<Check> => {
  const models = await listModelRequests(db, org, new Date(now.getTime() - dayMs))
  const { jobs, nextAt } = await countPostponed(db, org, judge.name)
  const common = { name: 'judges', since: null, details: models }
  const broken = models.find(isFailingNow)
  if (broken) {
    const waiting = jobs === 0 ? '' : ` ${count(jobs, 'evaluation')} will be retried`
    const next = jobs === 0 ? '' : nextAt ? `, the next at ${spell(nextAt)}.` : '.'
    const message = `The model endpoint is failing, so results are missing: ${broken.reason ?? 'no answer'}.${waiting}${next}`
    return { ...common, status: 'failing', message, since: broken.lastAnsweredAt ?? broken.lastFailedAt }
  }
  const requests = models.reduce((sum, model) => sum + model.requests, 0)
  const failed = models.reduce((sum, model) => sum + model.failed, 0)
  if (requests === 0) return { ...common, status: 'ok', message: 'There were no requests to models in the last day.' }
  const seconds = usualSeconds(models)
  const speed = seconds === undefined ? 'many took more than 30 seconds' : `95% within ${count(seconds, 'second')}`
  const message = `${failed === 0 ? 'None' : failed.toLocaleString('en')} of ${count(requests, 'request')} to models failed in the last day, ${speed}.`
  return { ...common, status: failed / requests > worryingShare ? 'degraded' : 'ok', message }
}

const checkBudget = async (db: Db, org: OrgId, now: Date): Promise<Check> => {
  const { monthlyJudgeBudget } = await getOrganization(db, org)
  const common = { name: 'judge_budget', since: null, details: [] }
  if (!monthlyJudgeBudget) return { ...common, status: 'ok', message: 'There is no monthly judge budget.' }
  const { cost } = await getSpending(db, org, monthOf(now))
  const share = cost / monthlyJudgeBudget
  const message = `${(share * 100).toFixed(1)}% of this month’s judge budget is spent.`
  return { ...common, status: share >= 1 ? 'failing' : share >= 0.8 ? 'degraded' : 'ok', message }
}

const checkTranscriptions = async (db: Db, org: OrgId, now: Date): Promise<Check> => {
  const failures = await listFailedTranscriptions(db, org, new Date(now.getTime() - dayMs))
  const failed = failures.reduce((sum, one) => sum + one.failed, 0)
  const common = { name: 'transcriptions', since: null, details: failures }
  if (failed === 0) return { ...common, status: 'ok', message: 'No transcription failed in the last day.' }
  const message = `${count(failed, 'recording')} could not be transcribed in the last day. ${failures[0]?.reason ?? ''}`
  return { ...common, status: 'degraded', message: message.trim() }
}

/** Checks several resources of one kind, each of which can fail separately. */
const checkFailing = (name: string, one: string, fine: string, failing: Failing[]): Check => ({
  name,
  status: failing.length > 0 ? 'failing' : 'ok',
  message: failing.length > 0 ? `${count(failing.length, one)} failing.` : fine,
  since: failing.map(({ since }) => since).find((since) => since !== null) ?? null,
  details: failing,
})

const lateMs = 10 * minuteMs

const checkJobs = async (db: Db, org: OrgId, now: Date): Promise<Check> => {
  const kinds = await countJobs(db, org)
  const dead = kinds.reduce((sum, kind) => sum + kind.dead, 0)
  const waiting = kinds.reduce((sum, kind) => sum + kind.waiting, 0)
  const oldest = kinds.flatMap(({ oldestDueAt }) => oldestDueAt ?? []).sort((a, b) => a.getTime() - b.getTime())[0]
  const isLate = oldest !== undefined && now.getTime() - oldest.getTime() > lateMs
  const parts = [
    `${count(waiting, 'job')} queued or running`,
    ...(isLate ? ['the oldest has waited for more than 10 minutes'] : []),
    ...(dead > 0 ? [`${count(dead, 'job')} failed for good`] : []),
  ]
  const status = isLate || dead > 0 ? 'degraded' : 'ok'
  return { name: 'jobs', status, message: `${parts.join(', ')}.`, since: isLate ? oldest : null, details: kinds }
}

const worryingSkewMs = 5_000

const checkClock = async (db: Db, warning: string | undefined): Promise<Check> => {
  const skewMs = await measureClockSkew(db)
  const common = { name: 'clock', since: null, details: [{ name: 'This process', skewMs }] }
  if (warning !== undefined) return { ...common, status: 'failing', message: warning }
  const distance = Math.abs(skewMs)
  const difference = distance < 1_000 ? `${distance} ms` : `${(distance / 1_000).toFixed(1)} seconds`
  const message = `The clocks of the service and the database differ by ${difference}.`
  return { ...common, status: distance > worryingSkewMs ? 'degraded' : 'ok', message }
}

const checkSyncs = async (db: Db, org: OrgId): Promise<Check> => {
  const check = checkFailing('syncs', 'provider sync', 'Provider syncs work.', await listFailingSyncs(db, org))
  const missing = await listSyncGaps(db, org)
  if (missing.length === 0) return check
  const gaps = missing.reduce((sum, each) => sum + each.gaps, 0)
  const message = `${check.message} ${count(gaps, 'call')} could not be fetched.`
  const status = check.status === 'ok' ? 'degraded' : check.status
  return { ...check, status, message, details: [...check.details, ...missing] }
}

const megabyte = 1_000_000

const sizeOf = (bytes: number): string =>
  bytes >= 1_000 * megabyte ? `${(bytes / (1_000 * megabyte)).toFixed(1)} GB` : `${Math.round(bytes / megabyte)} MB`

const growthOf = (bytes: number, days: number): string =>
  bytes > 0 ? `${sizeOf(bytes)} more than ${count(days, 'day')} ago` : `with no growth in ${count(days, 'day')}`

const weekDays = 7

/**
 * Checks the size of files and the database. All organizations share the database, so its size is only shown if there
 * is a single organization.
 */
const checkStorage = async (db: Db, org: OrgId, now: Date): Promise<Check> => {
  const files = await getFileSizes(db, org, new Date(now.getTime() - weekDays * dayMs))
  const parts = [`Recordings take ${sizeOf(files.bytes)}, ${growthOf(files.addedBytes, weekDays)}.`]
  const details: object[] = [{ name: 'Recordings', ...files }]
  if (await hasOneOrganization(db)) {
    const { bytes, addedBytes, days } = await readDatabaseSize(db)
    const growth = addedBytes === null || days === null ? '' : `, ${growthOf(addedBytes, days)}`
    parts.push(`The database takes ${sizeOf(bytes)}${growth}.`)
    details.push({ name: 'Database', bytes, addedBytes })
  }
  return { name: 'storage', status: 'ok', message: parts.join(' '), since: null, details }
}

const checkProcesses = async (db: Db): Promise<Check> => {
  const processes = (await listProcesses(db)).map(({ version, roles }) => ({ name: roles.replace('+', ', '), version }))
  const versions = [...new Set(processes.map(({ version }) => version))]
  const runs = processes.length === 1 ? 'runs' : 'run'
  const message =
    versions.length > 1
      ? `Processes run different versions: ${versions.join(', ')}. Finish the upgrade.`
      : `${processes.length === 1 ? '1 process' : `${processes.length} processes`} ${runs} version ${versions[0] ?? 'unknown'}.`
  return {
    name: 'processes',
    status: versions.length > 1 ? 'degraded' : 'ok',
    message,
    since: null,
    details: processes,
  }
}

const checkAlerts = async (db: Db, org: OrgId): Promise<Check> => {
  const { open, critical, since } = await countOpenIncidents(db, org)
  const message = open === 0 ? 'No incident is open.' : `${count(open, 'incident')} open.`
  const status = critical > 0 ? 'failing' : open > 0 ? 'degraded' : 'ok'
  return { name: 'alerts', status, message, since, details: [] }
}

/** Checks the sums that analytics reads instead of conversations. */
const checkAnalytics = async (db: Db, org: OrgId, now: Date): Promise<Check> => {
  const state = await findCheckedState(db, org)
  const { hours, waitingSince } = await countChanges(db, org)
  const common = {
    name: 'analytics',
    since: null,
    details: state ? [{ name: 'Stored sums', ...state, changedHours: hours }] : [],
  }
  if (!state || state.builtSince !== null) {
    return {
      ...common,
      status: 'ok',
      message: 'Sums are not stored for all days yet, so charts of long periods take longer.',
    }
  }
  if (state.differedAt && now.getTime() - state.differedAt.getTime() < weekDays * dayMs) {
    const message = 'Stored sums differed from their conversations in the last week. They were corrected.'
    return { ...common, status: 'degraded', message, since: state.differedAt }
  }
  if (waitingSince && now.getTime() - waitingSince.getTime() > 2 * hourMs) {
    const message = 'Sums have not been updated for two hours. Charts are correct but take longer.'
    return { ...common, status: 'degraded', message, since: waitingSince }
  }
  return { ...common, status: 'ok', message: 'Charts read stored sums, and the sums match their conversations.' }
}

export type OrganizationHealth = { status: HealthStatus; checks: Check[] }

const inAll = (checks: Check[]): OrganizationHealth => {
  const worst = Math.max(...checks.map(({ status }) => healthStatuses.indexOf(status)))
  return { status: healthStatuses[worst] ?? 'ok', checks }
}

const resultChecks = async (db: Db, org: OrgId, now: Date): Promise<Check[]> => [
  await checkIngestion(db, org, now),
  await checkEvaluations(db, org, now),
  await checkJudges(db, org, now),
]

/** Runs the checks that explain missing results. They only mention things that viewers can also see elsewhere. */
export const checkResults = async ({ db, clock }: Pick<Deps, 'db' | 'clock'>, org: OrgId) => {
  const checks = await resultChecks(db, org, clock.now())
  return inAll(checks.map((check) => (check.name === 'ingestion' ? { ...check, details: [] } : check)))
}

/** Runs all checks for an organization. */
export const checkHealth = async (
  { db, clock, sweeps }: Pick<Deps, 'db' | 'clock' | 'sweeps'>,
  org: OrgId,
): Promise<OrganizationHealth> => {
  const now = clock.now()
  return inAll([
    ...(await resultChecks(db, org, now)),
    await checkBudget(db, org, now),
    await checkTranscriptions(db, org, now),
    await checkAlerts(db, org),
    checkFailing('webhooks', 'webhook endpoint', 'Webhooks are delivered.', await listFailingEndpoints(db, org)),
    checkFailing('destinations', 'destination', 'Alerts are delivered.', await listFailingDestinations(db, org)),
    await checkSyncs(db, org),
    checkFailing('export_schedules', 'export schedule', 'Scheduled exports work.', await listFailingSchedules(db, org)),
    await checkJobs(db, org, now),
    await checkAnalytics(db, org, now),
    await checkStorage(db, org, now),
    await checkProcesses(db),
    await checkClock(db, sweeps.warning()),
  ])
}
