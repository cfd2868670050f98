import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page } from '../platform/http/schemas.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { listReviewed } from './correction/queries.ts'
import { canMove } from './experiment-status.ts'
import { healthOf } from './health.ts'
import { launch } from './launch.ts'
import { tellFinished } from './notices.ts'
import { countChanges } from './observations/apply-changes.ts'
import { hasChanges, listSplits, listUnits } from './observations/queries.ts'
import {
  finishExperiment,
  getExperiment,
  listExperiments,
  listOutcomes,
  listOverlapping,
  lockExperiment,
} from './queries.ts'
import { launchedOf, outcomesOf } from './results.ts'
import { Experiment } from './results-schema.ts'
import { endLaunchRun } from './runs/lifecycle.ts'
import { ExperimentLaunch, ExperimentQuery, ExperimentSummary } from './schema.ts'

const tags = ['Experiments']

/** The maximum number of times that a request counts new changes before it finishes the experiment regardless. */
const mostRounds = 10

const undefinedIfNotFound = (error: unknown): undefined => {
  if (!(error instanceof ApiError && error.kind === 'notFound')) throw error
}

export const experiments = (app: App, deps: Deps): void => {
  const { db, replica, clock } = deps

  /** Reads everything in one snapshot. */
  const shown = (on: Db, org: OrgId, id: string) =>
    on
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((trx) => read(trx, org, id))

  const read = async (trx: Db, org: OrgId, id: string) => {
    const experiment = await getExperiment(trx, org, id)
    const outcomes = await listOutcomes(trx, org, id)
    const health = healthOf(experiment, await listSplits(trx, org, id), clock.now())
    const overlapping = await listOverlapping(trx, org, experiment)
    const reviews = await listReviewed(trx, org, id, outcomes)
    const unitIds = [...new Set(reviews.map(({ unitId }) => unitId))]
    const units = new Map((await listUnits(trx, org, id, unitIds)).map((unit) => [unit.id, unit]))
    const { alpha, tuningConversations, countedAt } = experiment
    return {
      ...launchedOf(experiment),
      alpha,
      tuningConversations,
      countedAt,
      outcomes: outcomesOf({ experiment, outcomes, health, reviews, units }),
      health: { ...health, overlapping },
    }
  }

  /** Finishes an experiment. Returns undefined if changes have to be counted first and the caller can wait. */
  const finish = async (trx: Db, actor: Actor, id: string, mayWait: boolean) => {
    const { status } = await lockExperiment(trx, actor.org, id)
    if (!canMove(status, 'finished')) throw new ApiError('conflict', 'The experiment is already finished.')
    if (mayWait && (await hasChanges(trx, actor.org, id))) return undefined
    const finishedAt = clock.now()
    await finishExperiment(trx, actor.org, id, { finishedAt, finishedByUserId: actor.userId })
    const experiment = await getExperiment(trx, actor.org, id)
    await tellFinished(deps, trx, actor.org, experiment)
    await endLaunchRun(trx, actor.org, experiment, finishedAt)
    await recordAudit(trx, actor, 'experiment.finish', { type: 'experiment', id })
    return read(trx, actor.org, id)
  }

  app.post(
    '/v1/experiments',
    {
      config: { access: { role: 'admin', entitlement: 'observability', feature: 'experimentsV2' } },
      schema: {
        tags,
        operationId: 'launchExperiment',
        summary: 'Launch an experiment',
        description:
          'Starts immediately and continues until someone finishes it. Monitors are pinned to their current ' +
          'versions, and later changes to them do not affect the experiment.',
        querystring: NoQuery,
        body: ExperimentLaunch,
        response: answers({ 201: Experiment }, 400, 401, 403),
      },
    },
    async ({ actor, body }, reply) => {
      const answer = await db.transaction().execute(async (trx) => {
        const { id } = await launch(deps, trx, actor, body)
        return read(trx, actor.org, id)
      })
      return reply.code(201).header('location', `/v1/experiments/${answer.id}`).send(answer)
    },
  )

  app.get(
    '/v1/experiments',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listExperiments',
        summary: 'List experiments',
        description: 'Newest first. All filters must match.',
        querystring: ExperimentQuery,
        response: answers({ 200: Page(ExperimentSummary) }, 400, 401),
      },
    },
    async ({ actor, query: { limit, cursor, ...filter } }) => {
      const { data, nextCursor } = await app.paging.page(
        { limit, cursor },
        ['experiments', actor.org, filter],
        (page) => listExperiments(db, actor.org, filter, page),
        ({ id }) => id,
      )
      return { data: data.map(launchedOf), nextCursor }
    },
  )

  app.get(
    '/v1/experiments/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getExperiment',
        summary: 'Get an experiment',
        description: 'Includes outcomes and health checks. Figures change while the experiment runs; see `countedAt`.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Experiment }, 401, 404),
      },
    },
    async ({ actor, params: { id } }) => {
      const experiment = await replica.read(
        (on) => shown(on, actor.org, id).catch(undefinedIfNotFound),
        // The response must include a launch or finish that the caller has just made.
        async (answer) => answer?.status === (await getExperiment(db, actor.org, id)).status,
      )
      if (experiment === undefined) throw notFound()
      return experiment
    },
  )

  app.post(
    '/v1/experiments/:id/finish',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'finishExperiment',
        summary: 'Finish an experiment',
        description: 'No new conversations are counted. Late results for counted conversations are still included.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: Experiment }, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }) => {
      const { id } = await getExperiment(db, actor.org, params.id)
      for (let round = 1; ; round++) {
        // This counts the conversations that have arrived so far, unless there are very many. Another process may
        // already be counting them.
        await countChanges(deps, actor.org, id)
        const answer = await db.transaction().execute((trx) => finish(trx, actor, id, round < mostRounds))
        if (answer) return answer
      }
    },
  )
}
