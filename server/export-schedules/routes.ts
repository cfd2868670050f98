import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoBody, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { testDestination } from './connection.ts'
import { auditTarget, changeSchedule, createSchedule, removeSchedule } from './lifecycle.ts'
import { getSchedule, listSchedules } from './queries.ts'
import { ExportSchedule, ExportScheduleCreate, ExportScheduleTest, ExportScheduleUpdate } from './schema.ts'
import { show, showAll } from './show-schedules.ts'

const tags = ['Monitors']
const needs = { entitlement: 'monitors', feature: 'monitorExports' } as const

export const exportSchedules = (app: App, deps: Deps): void => {
  const { db } = deps

  app.get(
    '/v1/export-schedules',
    {
      config: { access: { role: 'viewer', ...needs } },
      schema: {
        tags,
        operationId: 'listExportSchedules',
        summary: 'List export schedules',
        description: 'Newest first, each with its last run and the time of the next one.',
        querystring: PageQuery,
        response: answers({ 200: Page(ExportSchedule) }, 400, 401, 403, 503),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['export-schedules', actor.org],
        (page) => listSchedules(db, actor.org, page),
        ({ id }) => id,
      )
      return { data: await showAll(db, actor.org, data), nextCursor }
    },
  )

  app.post(
    '/v1/export-schedules',
    {
      config: { access: { role: 'admin', ...needs } },
      schema: {
        tags,
        operationId: 'createExportSchedule',
        summary: 'Create an export schedule',
        description:
          'Each run creates an ordinary export: of monitor results with `config`, or of conversations with ' +
          '`conversationConfig`. A bucket is tested first by writing and deleting a small object. An organization ' +
          'can have 50 schedules.',
        querystring: NoQuery,
        body: ExportScheduleCreate,
        response: answers({ 201: ExportSchedule }, 400, 401, 403, 404, 409, 503),
      },
    },
    async ({ actor, body }, reply) => {
      const made = await createSchedule(deps, actor, body)
      return reply.code(201).header('location', `/v1/export-schedules/${made.id}`).send(made)
    },
  )

  app.get(
    '/v1/export-schedules/:id',
    {
      config: { access: { role: 'viewer', ...needs } },
      schema: {
        tags,
        operationId: 'getExportSchedule',
        summary: 'Get an export schedule',
        description: '`pauseReason` says why a paused schedule does not run.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: ExportSchedule }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params }) => show(db, actor.org, await getSchedule(db, actor.org, params.id)),
  )

  app.patch(
    '/v1/export-schedules/:id',
    {
      config: { access: { role: 'admin', ...needs } },
      schema: {
        tags,
        operationId: 'updateExportSchedule',
        summary: 'Update, pause, or resume an export schedule',
        description:
          'Nested objects are replaced as a whole. You become the schedule’s owner. A resumed schedule runs at ' +
          'its next time; with `since_last_run`, its window includes the pause.',
        params: IdParams,
        querystring: NoQuery,
        body: ExportScheduleUpdate,
        response: answers({ 200: ExportSchedule }, 400, 401, 403, 404, 409, 503),
      },
    },
    ({ actor, params, body }) => changeSchedule(deps, actor, params.id, body),
  )

  app.delete(
    '/v1/export-schedules/:id',
    {
      config: { access: { role: 'admin', ...needs } },
      schema: {
        tags,
        operationId: 'deleteExportSchedule',
        summary: 'Delete an export schedule',
        description:
          'Deletes the schedule’s runs and keeps the exports it created. To stop a schedule temporarily, pause it.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params }, reply) => {
      await removeSchedule(deps, actor, params.id)
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/export-schedules/:id/test',
    {
      config: { access: { role: 'admin', ...needs } },
      schema: {
        tags,
        operationId: 'testExportSchedule',
        summary: 'Test an export schedule’s destination',
        description: 'Writes and deletes a small object in a bucket, or sends a `webhook.test` event to an endpoint.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: ExportScheduleTest }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params }) => {
      const schedule = await getSchedule(db, actor.org, params.id)
      await recordAudit(db, actor, 'export-schedule.test', auditTarget(schedule.id))
      return testDestination(deps, actor.org, schedule)
    },
  )
}
