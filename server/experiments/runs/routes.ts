import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page, PageQuery } from '../../platform/http/schemas.ts'
import { getExperiment, listOutcomes, type StoredOutcome } from '../queries.ts'
import { countsOf, createRetryRun } from './lifecycle.ts'
import { listRuns, type RetryRun } from './queries.ts'
import { ExperimentRun } from './schema.ts'

const tags = ['Experiments']
const path = '/v1/experiments/:id/evaluations'

const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0)

/** Returns a run in the API's format. The counts of new conversations come from the outcomes. */
const shown = (outcomes: StoredOutcome[]) => (run: RetryRun) => {
  const { afterId: _, waits: __, ...rest } = run
  if (run.trigger === 'retry') return { kind: 'experiment' as const, ...rest }
  const counts = countsOf(outcomes)
  const scored = sum(counts.map(({ observed }) => observed))
  const unscored = sum(counts.map(({ missing }) => missing))
  const failed = sum(counts.map((one) => one.failed))
  const total = scored + unscored + failed + sum(counts.map(({ pending }) => pending))
  return { kind: 'experiment' as const, ...rest, total, scored, unscored, failed }
}

export const experimentRuns = (app: App, deps: Deps): void => {
  const { db } = deps

  app.get(
    path,
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listExperimentEvaluations',
        summary: 'List an experiment’s runs',
        description: 'Newest first. Each run shows its progress: `total`, `scored`, `unscored`, and `failed`.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(ExperimentRun) }, 401),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getExperiment(db, actor.org, params.id)
      const outcomes = await listOutcomes(db, actor.org, id)
      const { data, nextCursor } = await app.paging.page(
        query,
        ['experiment-runs', actor.org, id],
        (page) => listRuns(db, actor.org, id, page),
        (run) => run.id,
      )
      return { data: data.map(shown(outcomes)), nextCursor }
    },
  )

  app.post(
    path,
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'retryExperimentEvaluations',
        summary: 'Retry missing and failed observations',
        description:
          'Evaluates rules and judges again in their pinned versions. External results are not requested. ' +
          'Conversations that a judge could not decide are not evaluated again.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 202: ExperimentRun }, 401, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const run = await db.transaction().execute(async (trx) => {
        return shown([])(await createRetryRun(deps, trx, actor, params.id))
      })
      return reply.code(202).send(run)
    },
  )
}
