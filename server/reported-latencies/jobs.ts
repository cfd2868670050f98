import { findAgent } from '../agents/queries.ts'
import { fileLatencyGap } from '../findings/file.ts'
import { findResolvedAt } from '../findings/queries.ts'
import { recordServiceAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dayMs } from '../platform/durations.ts'
import { eachOfPages } from '../platform/jobs/attempt-each.ts'
import { currentTime, defineSweep } from '../platform/jobs/define-sweep.ts'
import { findGap } from './decide.ts'
import { describeGap } from './describe.ts'
import { listComparedAgents, listDifferences, listExamples, listOrganizationsWithSoundAllOrgs } from './queries.ts'

const comparedDays = 7
/** The maximum delay until a recording has arrived and is measured. */
const settlingMs = 60 * 60 * 1_000
const agentsAtOnce = 100
const mostCalls = 10_000
const attachedAtOnce = 20

const rangeAt = (now: Date) => {
  const until = now.getTime() - settlingMs
  return { since: new Date(until - comparedDays * dayMs), until: new Date(until) }
}

const later = (a: Date, b: Date | undefined): Date => (b !== undefined && b > a ? b : a)

/** Creates or updates a finding if the agent's reported response times differ from those in its recordings. */
const compareAgent = async (deps: Deps, trx: Db, org: OrgId, agentId: string, step: { now: Date; jobId: string }) => {
  const { now, jobId } = step
  const range = rangeAt(now)
  // After people have resolved the finding, only later calls can show that the problem was not solved.
  const since = later(range.since, await findResolvedAt(trx, org, { kind: 'agent', id: agentId }))
  const gap = findGap(await listDifferences(trx, org, agentId, { ...range, since }, mostCalls))
  const agent = gap && (await findAgent(trx, org, agentId))
  if (!gap || !agent) return
  const examples = { since, until: range.until, leastMs: gap.medianMs, limit: attachedAtOnce }
  const filed = await fileLatencyGap(deps, trx, org, {
    agentId,
    now,
    affected: () => listExamples(trx, org, agentId, examples),
    tell: async () => describeGap({ agent: agent.name, days: comparedDays, gap }),
  })
  if (!filed?.news) return
  const action = filed.news === 'created' ? 'finding.create' : 'finding.reopen'
  const job = { kind: 'service', keyId: null, requestId: jobId } as const
  await recordServiceAudit(trx, org, job, action, { type: 'finding', id: filed.id })
}

/** Compares agents' reported response times with their recordings every day. */
export const compareLatencies = defineSweep({
  name: 'sound.compare-latencies',
  schedule: '20 5 * * *',
  time: currentTime,
  listOrganizations: ({ db }: Deps) => listOrganizationsWithSoundAllOrgs(db),
  listItems: ({ db }, { org, now, after }) =>
    eachOfPages(agentsAtOnce, (page) => listComparedAgents(db, org, rangeAt(now), page), after),
  sweepItem: (deps, { id }, { org, now, attempt }) =>
    attempt.transaction((trx) => compareAgent(deps, trx, org, id, { now, jobId: attempt.jobId })),
})
