import type { Static } from 'typebox'
import { parseFilter } from '../../filters/filter.ts'
import type { Selection } from '../../filters/queries.ts'
import type { JudgeDefinition } from '../../monitors/judges/definition.ts'
import { getMonitor, type StoredMonitor } from '../../monitors/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { ApiError, invalid, invalidAll } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page, PageQuery, withHeaders } from '../../platform/http/schemas.ts'
import type { EvaluationDeps } from '../deps.ts'
import { type BatchProgress, listProgress } from './batches/queries.ts'
import { countPopulation, estimateRun } from './estimate.ts'
import { cancelRun, createRun, resumeRun } from './lifecycle.ts'
import { resolvePopulation } from './next-page.ts'
import { getDatabaseTime, getRun, listRuns, listStarts, type Run as StoredRun } from './queries.ts'
import { Run, RunCreate, RunEstimate, RunParams } from './schema.ts'

const tags = ['Monitors']
const entitlement = 'monitors'

type BatchStatus = 'submitting' | 'submitted' | 'ended'

const batchOf = ({ batchPhase, status: runStatus }: StoredRun, progress: BatchProgress | undefined) => {
  if (batchPhase === null) return null
  const { unsent = 0, submitted = 0, requests = 0, answered = 0, failed = 0, expiresAt = null } = progress ?? {}
  const isSending = batchPhase === 'sending' && (runStatus === 'queued' || runStatus === 'running')
  const status: BatchStatus = isSending || unsent > 0 ? 'submitting' : submitted > 0 ? 'submitted' : 'ended'
  return { status, requests, answered, failed, expiresAt }
}

const shown = (
  {
    population,
    afterId: _,
    afterStartedAt: __,
    waits: ___,
    resumes: ____,
    createdByUserId: _____,
    batchPhase,
    sentId: ______,
    sentStartedAt: _______,
    ...run
  }: StoredRun,
  batch: ReturnType<typeof batchOf>,
) => {
  const { since, until, ...filter } = population.filter
  const listed = population.conversationIds?.length ?? null
  const mode: 'standard' | 'batch' = batchPhase === null ? 'standard' : 'batch'
  // Every run has a period.
  return { ...run, since: new Date(since as string), until: new Date(until as string), filter, listed, mode, batch }
}

/** Returns runs in the API's format, with the progress of their batches. */
const showRuns = async (db: Db, org: OrgId, runs: StoredRun[]) => {
  const inBatches = runs.filter(({ batchPhase }) => batchPhase !== null).map(({ id }) => id)
  const progress = inBatches.length > 0 ? await listProgress(db, org, inBatches) : []
  const progressOf = new Map(progress.map((one) => [one.runId, one]))
  return runs.map((run) => shown(run, batchOf(run, progressOf.get(run.id))))
}

const showRun = async (db: Db, org: OrgId, run: StoredRun) => {
  const progress = run.batchPhase === null ? [] : await listProgress(db, org, [run.id])
  return shown(run, batchOf(run, progress[0]))
}

const longestRangeDays = 3_660

type Request = Static<typeof RunCreate>

/** Returns the filter of a run. It can't contain a period, because the run has `since` and `until`. */
const readFilter = ({ since, until, filter: given = {} }: Request): Selection => {
  if (since === undefined || until === undefined) {
    const missing = Object.entries({ since, until }).filter(([, value]) => value === undefined)
    throw invalidAll(missing.map(([path]) => ({ path, message: 'is required unless conversationIds are given' })))
  }
  for (const name of ['since', 'until', 'period'] as const) {
    const instead = name === 'period' ? 'since and until' : name
    if (given[name] !== undefined)
      throw invalid(`filter.${name}`, `is not allowed in the filter; use the top-level ${instead}`)
  }
  const days = (Date.parse(until) - Date.parse(since)) / 86_400_000
  if (days <= 0) throw invalid('until', 'must be later than since')
  if (days > longestRangeDays) throw invalid('until', `must be at most ${longestRangeDays} days after since`)
  return parseFilter({ ...given, since, until }, 'filter')
}

/** Returns the conversations that a run lists, and the period in which they started. */
const readListed = async (db: Db, org: OrgId, { since, until, filter, conversationIds = [] }: Request) => {
  for (const [name, value] of Object.entries({ since, until, filter })) {
    if (value !== undefined) throw invalid(name, 'cannot be combined with conversationIds')
  }
  const ids = [...new Set(conversationIds.map((id) => id.toLowerCase()))]
  const starts = new Map((await listStarts(db, org, ids)).map(({ id, startedAt }) => [id, startedAt.getTime()]))
  const issues = conversationIds.flatMap((id, index) =>
    starts.has(id.toLowerCase())
      ? []
      : [{ path: `conversationIds[${index}]`, message: 'must be a conversation of this organization' }],
  )
  if (issues.length > 0) throw invalidAll(issues)
  const times = [...starts.values()]
  const period = {
    since: new Date(Math.min(...times)).toISOString(),
    until: new Date(Math.max(...times) + 1).toISOString(),
  }
  return { filter: period, conversationIds: ids }
}

export const evaluationRuns = (app: App, deps: EvaluationDeps): void => {
  const { db, clock, judge } = deps

  const requireEvaluated = async (org: OrgId, { kind, definition }: StoredMonitor): Promise<void> => {
    if (kind === 'external') {
      throw new ApiError(
        'conflict',
        'Earshot does not evaluate external monitors. Send their results to /v1/monitor-results.',
      )
    }
    // Definitions were validated for their kind when they were stored.
    if (kind === 'judge') await judge.requireModel(org, definition as JudgeDefinition)
  }

  const requireBatches = async (org: OrgId, { kind, definition }: StoredMonitor): Promise<void> => {
    if (kind !== 'judge') throw invalid('mode', 'can only be batch for an LLM judge')
    const batching = await judge.batching(org, definition as JudgeDefinition)
    if ('fault' in batching) throw new ApiError('conflict', batching.fault)
  }

  app.get(
    '/v1/monitors/:id/evaluations',
    {
      config: { access: { role: 'viewer', entitlement } },
      schema: {
        tags,
        operationId: 'listMonitorEvaluations',
        summary: 'List a monitor’s runs',
        description: 'Newest first. Each run shows its progress: `total`, `scored`, `unscored`, and `failed`.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(Run) }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getMonitor(db, actor.org, params.id)
      const { data, nextCursor } = await app.paging.page(
        query,
        ['monitor-evaluations', actor.org, id],
        (page) => listRuns(db, actor.org, id, page),
        (run) => run.id,
      )
      return { data: await showRuns(db, actor.org, data), nextCursor }
    },
  )

  app.post(
    '/v1/monitors/:id/evaluations',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'createMonitorEvaluation',
        summary: 'Start a run over stored conversations',
        description:
          'Evaluates completed conversations in the period with the current version, within the monitor’s scope, ' +
          'sampling rate, and the optional filter. Rules and scorecards evaluate all of them. Judges skip ' +
          'conversations that already have a result from this version, unless it failed. With `conversationIds`, ' +
          'only the listed conversations within the scope are evaluated, sampled or not. With `mode` `batch`, a ' +
          'judge’s requests cost less and take up to 24 hours. With `dryRun`, returns 200 with an estimate and ' +
          'evaluates nothing.',
        params: IdParams,
        querystring: NoQuery,
        body: RunCreate,
        response: answers({ 200: RunEstimate, 202: withHeaders(Run, 'Location') }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body }, reply) => {
      const selected = body.conversationIds ? await readListed(db, actor.org, body) : { filter: readFilter(body) }
      const monitor = await getMonitor(db, actor.org, params.id)
      await requireEvaluated(actor.org, monitor)
      if (body.mode === 'batch') await requireBatches(actor.org, monitor)
      const createdAt = clock.now()
      const { scope } = monitor
      const samplePercent = body.conversationIds ? 100 : monitor.samplePercent
      const storedBefore = await getDatabaseTime(db, actor.org)
      const population = { ...selected, scope, samplePercent, storedBefore }
      const resolved = await resolvePopulation(deps, actor.org, population)
      if (body.dryRun) return reply.code(200).send(await estimateRun(deps, actor.org, monitor, resolved))
      const total = await countPopulation(deps, actor.org, monitor, resolved)
      const inBatches = body.mode === 'batch'
      const run = await createRun(deps, actor, { monitor, population, total, createdAt, inBatches })
      const location = `/v1/monitors/${monitor.id}/evaluations/${run.id}`
      return reply
        .code(202)
        .header('location', location)
        .send(await showRun(db, actor.org, run))
    },
  )

  app.get(
    '/v1/monitors/:id/evaluations/:runId',
    {
      config: { access: { role: 'viewer', entitlement } },
      schema: {
        tags,
        operationId: 'getMonitorEvaluation',
        summary: 'Get a run',
        description: 'Poll it until `finishedAt` is set.',
        params: RunParams,
        querystring: NoQuery,
        response: answers({ 200: Run }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params }) => {
      const { id } = await getMonitor(db, actor.org, params.id)
      return showRun(db, actor.org, await getRun(db, actor.org, id, params.runId))
    },
  )

  app.post(
    '/v1/monitors/:id/evaluations/:runId/cancel',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'cancelMonitorEvaluation',
        summary: 'Cancel a run',
        description:
          'Keeps the results so far, and cancels batches at the provider within a minute. A cancelled run can be resumed. Returns 409 if the run is not in progress.',
        params: RunParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: Run }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params }) =>
      db.transaction().execute(async (trx) => {
        const { id: monitorId } = await getMonitor(trx, actor.org, params.id)
        return showRun(trx, actor.org, await cancelRun(deps, trx, actor, { monitorId, runId: params.runId }))
      }),
  )

  app.post(
    '/v1/monitors/:id/evaluations/:runId/resume',
    {
      config: { access: { role: 'member', entitlement } },
      schema: {
        tags,
        operationId: 'resumeMonitorEvaluation',
        summary: 'Resume a run',
        description: 'Continues a cancelled or failed run where it stopped. Returns 409 for other runs.',
        params: RunParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 202: Run }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const run = await db.transaction().execute(async (trx) => {
        const { id: monitorId } = await getMonitor(trx, actor.org, params.id)
        return resumeRun(deps, trx, actor, { monitorId, runId: params.runId })
      })
      return reply.code(202).send(await showRun(db, actor.org, run))
    },
  )
}
