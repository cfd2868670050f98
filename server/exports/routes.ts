import type { Static } from 'typebox'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, NoQuery, withHeaders } from '../platform/http/schemas.ts'
import { parseConfiguration } from './configuration.ts'
import { exportLife } from './life-routes.ts'
import { createExport } from './lifecycle.ts'
import { previewCalls } from './make-order.ts'
import { createdHeaders, manifestOf, scheduleOf } from './manifest.ts'
import { openPreviews } from './preview.ts'
import type { StoredExport } from './queries.ts'
import { requireSelected } from './requirements.ts'
import {
  MonitorExport,
  type MonitorExportConfig,
  MonitorExportCreate,
  MonitorExportPreview,
  MonitorExportPreviewRequest,
} from './schema.ts'

const tags = ['Monitors']
const needs = { entitlement: 'monitors', feature: 'monitorExports' } as const

// Only this file writes the configuration, in this format.
const show = (stored: StoredExport, now: Date): Static<typeof MonitorExport> => ({
  ...manifestOf(stored, now),
  ...scheduleOf(stored),
  config: stored.config as unknown as MonitorExportConfig,
})

export const monitorExports = (app: App, deps: Deps): void => {
  const { db, clock } = deps
  const preview = openPreviews(deps)

  app.post(
    '/v1/monitor-exports',
    {
      config: { access: { role: 'viewer', ...needs } },
      schema: {
        tags,
        operationId: 'createMonitorExport',
        summary: 'Create an export of monitor results',
        description:
          'The file is created in the background. Poll the export every five seconds, or set a webhook endpoint to ' +
          'notify. If the response gets lost, send the same `operationId` and configuration again to get the same ' +
          'export, with `Idempotent-Replayed: true`. Limits: 100,000 calls per export and 20 unfinished exports.',
        querystring: NoQuery,
        body: MonitorExportCreate,
        response: answers(
          { 202: withHeaders(MonitorExport, 'Location', 'Retry-After', 'Idempotent-Replayed') },
          400,
          401,
          403,
          404,
          409,
          429,
          503,
        ),
      },
    },
    async ({ actor, body }, reply) => {
      const config = parseConfiguration(body.config, 'config')
      const { notificationEndpointId } = config
      const request = {
        kind: 'monitor' as const,
        experimentId: null,
        config,
        operationId: body.operationId.toLowerCase(),
        since: new Date(config.since),
        until: new Date(config.until),
        ...(notificationEndpointId !== undefined && { notificationEndpointId }),
      }
      const answer = await createExport(deps, actor, request, (trx) => requireSelected(trx, actor, config))
      return reply.code(202).headers(createdHeaders(answer)).send(show(answer.stored, clock.now()))
    },
  )

  app.post(
    '/v1/monitor-exports/preview',
    {
      config: { access: { role: 'viewer', ...needs }, unaudited: 'It only reads.' },
      schema: {
        tags,
        operationId: 'previewMonitorExport',
        summary: 'Preview an export',
        description:
          'Returns the row count and the first rows without creating an export. `exceedsLimit` is true if the export would be too large.',
        querystring: NoQuery,
        body: MonitorExportPreviewRequest,
        response: answers({ 200: MonitorExportPreview }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, body }) => {
      const config = parseConfiguration(body.config, 'config')
      await requireSelected(db, actor, config)
      return preview(actor.org, await previewCalls(deps, actor.org, config))
    },
  )

  exportLife(app, deps, {
    kind: 'monitor',
    tags,
    needs,
    schema: MonitorExport,
    show,
    noun: { one: 'an export', many: 'exports' },
  })
}
