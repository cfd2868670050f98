import { findLastArrival } from '../conversations/queries.ts'
import { getOrganization } from '../organizations/queries.ts'
import { monthOf } from '../organizations/spending/month.ts'
import { getSpending } from '../organizations/spending/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dayMs, minuteMs } from '../platform/durations.ts'
import {
  countJobs,
  countOpenIncidents,
  type Failing,
  listFailingDestinations,
  listFailingEndpoints,
  listFailingMonitors,
  listFailingSchedules,
  listFailingSyncs,
  listSources,
} from './queries.ts'

/** The checks of an organization's health. Each gives its result in one sentence. */

export const statuses = ['ok', 'degraded', 'failing'] as const
export type Status = (typeof statuses)[number]

export type Check = { name: string; status: Status; message: string; since: Date | null; details: object[] }

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

const checkEvaluations = async (db: Db, org: OrgId, now: Date): Promise<Check> => {
  const monitors = await listFailingMonitors(db, org, new Date(now.getTime() - dayMs))
  const isDown = monitors.some(({ failed, results }) => failed >= leastFailures && failed * 2 >= results)
  const failed = monitors.reduce((sum, monitor) => sum + monitor.failed, 0)
  const message =
    failed === 0
      ? 'No evaluation failed in the last day.'
      : `${count(failed, 'evaluation')} failed in the last day. ${monitors[0]?.reason ?? ''}`.trim()
  const status = isDown ? 'failing' : failed > 0 ? 'degraded' : 'ok'
  return { name: 'evaluations', status, message, since: null, details: monitors }
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

/** A check of things that fail one by one. */
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
    ...(isLate ? ['the oldest waits for more than 10 minutes'] : []),
    ...(dead > 0 ? [`${count(dead, 'job')} failed for good`] : []),
  ]
  const status = isLate || dead > 0 ? 'degraded' : 'ok'
  return { name: 'jobs', status, message: `${parts.join(', ')}.`, since: isLate ? oldest : null, details: kinds }
}

const checkClock = (warning: string | undefined): Check => ({
  name: 'clock',
  status: warning === undefined ? 'ok' : 'failing',
  message: warning ?? 'The clocks agree.',
  since: null,
  details: [],
})

const checkAlerts = async (db: Db, org: OrgId): Promise<Check> => {
  const { open, critical, since } = await countOpenIncidents(db, org)
  const message = open === 0 ? 'No incident is open.' : `${count(open, 'incident')} open.`
  const status = critical > 0 ? 'failing' : open > 0 ? 'degraded' : 'ok'
  return { name: 'alerts', status, message, since, details: [] }
}

/** Runs all checks of an organization. */
export const checkHealth = async (
  { db, clock, sweeps }: Pick<Deps, 'db' | 'clock' | 'sweeps'>,
  org: OrgId,
): Promise<{ status: Status; checks: Check[] }> => {
  const now = clock.now()
  const checks = [
    await checkIngestion(db, org, now),
    await checkEvaluations(db, org, now),
    await checkBudget(db, org, now),
    await checkAlerts(db, org),
    checkFailing('webhooks', 'webhook endpoint', 'Webhooks are delivered.', await listFailingEndpoints(db, org)),
    checkFailing('destinations', 'destination', 'Alerts are delivered.', await listFailingDestinations(db, org)),
    checkFailing('syncs', 'provider sync', 'Provider syncs work.', await listFailingSyncs(db, org)),
    checkFailing('export_schedules', 'export schedule', 'Scheduled exports work.', await listFailingSchedules(db, org)),
    await checkJobs(db, org, now),
    checkClock(sweeps.warning()),
  ]
  const worst = Math.max(...checks.map(({ status }) => statuses.indexOf(status)))
  return { status: statuses[worst] ?? 'ok', checks }
}
