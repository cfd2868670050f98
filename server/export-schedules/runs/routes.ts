import { lockLine } from '../../exports/queries.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError, notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, NoBody, NoQuery, Page, PageQuery } from '../../platform/http/schemas.ts'
import { getSchedule, lockSchedule } from '../queries.ts'
import { ExportScheduleRun } from '../schema.ts'
import { shownRun } from '../show-schedules.ts'
import { makeRun, type Obstacle, obstacleOf } from './lifecycle.ts'
import { listRuns } from './queries.ts'

const tags = ['Monitors']
const needs = { entitlement: 'monitors', feature: 'monitorExports' } as const

const obstacles: Record<Obstacle, ApiError> = {
  unfinished: new ApiError('conflict', 'A run of the schedule is still in progress. Wait until it finishes.'),
  made: new ApiError('conflict', 'A run for this time already exists.'),
  nothing_settled: new ApiError('conflict', 'There is no settled period since the last run yet. Try again later.'),
  line_full: new ApiError('conflict', 'Too many exports are in progress. Wait until one finishes.'),
}

export const exportScheduleRuns = (app: App, deps: Deps): void => {
  const { db, clock } = deps

  app.get(
    '/v1/export-schedules/:id/runs',
    {
      config: { access: { role: 'viewer', ...needs } },
      schema: {
        tags,
        operationId: 'listExportScheduleRuns',
        summary: 'List an export schedule’s runs',
        description: 'Newest first. Each run has its export’s ID, and an error if it failed.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(ExportScheduleRun) }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params, query }) => {
      const { id } = await getSchedule(db, actor.org, params.id)
      const { data, nextCursor } = await app.paging.page(
        query,
        ['export-schedule-runs', actor.org, id],
        (page) => listRuns(db, actor.org, id, page),
        (run) => run.id,
      )
      return { data: data.map(shownRun), nextCursor }
    },
  )

  app.post(
    '/v1/export-schedules/:id/run',
    {
      config: { access: { role: 'member', ...needs } },
      schema: {
        tags,
        operationId: 'runExportSchedule',
        summary: 'Run an export schedule now',
        description: 'Works while the schedule is paused. Returns 409 with the reason if it cannot run now.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 202: ExportScheduleRun }, 400, 401, 403, 404, 409, 503),
      },
    },
    async ({ actor, params }, reply) => {
      const { org } = actor
      await deps.blobs.check()
      const run = await db.transaction().execute(async (trx) => {
        await lockLine(trx, org)
        const schedule = await lockSchedule(trx, org, params.id)
        if (!schedule) throw notFound()
        const plannedFor = clock.now()
        const obstacle = await obstacleOf(trx, org, schedule, plannedFor)
        if (obstacle) throw obstacles[obstacle]
        const made = await makeRun(deps, trx, org, { schedule, plannedFor, isManual: true })
        await recordAudit(trx, actor, 'export-schedule.run', { type: 'export-schedule', id: schedule.id })
        return made
      })
      return reply.code(202).send(shownRun(run))
    },
  )
}
