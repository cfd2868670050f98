import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoBody, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { deleteFailedJob, listFailedJobs, lockFailedJob, restartFailedJob } from './queries.ts'
import { FailedJob } from './schema.ts'

const tags = ['Alerts']

const target = (id: string) => ({ type: 'job', id })

export const failedJobs = (app: App, { db, clock }: Deps): void => {
  app.get(
    '/v1/failed-jobs',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'listFailedJobs',
        summary: 'List failed jobs',
        description: 'Your organization’s background jobs that used up their attempts, newest first.',
        querystring: PageQuery,
        response: answers({ 200: Page(FailedJob) }, 401, 403),
      },
    },
    ({ actor, query }) =>
      app.paging.page(
        query,
        ['failed-jobs', actor.org],
        (page) => listFailedJobs(db, actor.org, page),
        ({ id }) => id,
      ),
  )

  app.post(
    '/v1/failed-jobs/:id/retry',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'retryFailedJob',
        summary: 'Retry a failed job',
        description: 'The job runs immediately and gets all its attempts again.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 204: Empty }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { id } = await lockFailedJob(trx, actor.org, params.id)
        await restartFailedJob(trx, actor.org, id, clock.now())
        await recordAudit(trx, actor, 'job.retry', target(id))
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/failed-jobs/:id/discard',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'discardFailedJob',
        summary: 'Discard a failed job',
        description: 'Deletes the job without running it.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 204: Empty }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const { id } = await lockFailedJob(trx, actor.org, params.id)
        await deleteFailedJob(trx, actor.org, id)
        await recordAudit(trx, actor, 'job.discard', target(id))
      })
      return reply.code(204).send(null)
    },
  )
}
