import type { Static } from 'typebox'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Closed, Empty, IdParams, NoQuery, Page, PageQuery, withHeaders } from '../platform/http/schemas.ts'
import { parseConfiguration } from './configuration.ts'
import { linkToFile } from './download.ts'
import { createExport, endByHand } from './lifecycle.ts'
import { createdHeaders, ExportFilter, manifestOf, scheduleOf, waitingHeaders } from './manifest.ts'
import { openPreviews } from './preview.ts'
import { getExport, listExports, type StoredExport } from './queries.ts'
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

/** Exports of monitor results belong to no experiment. */
const experimentId = null

// Only this file writes the configuration, in this format.
const shown = (stored: StoredExport, now: Date): Static<typeof MonitorExport> => ({
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
          'The file is created in the background. Poll the export every five seconds, or name a webhook ' +
          'endpoint to be notified. If the response gets lost, send the same `operationId` and configuration ' +
          'again to get the same export, with `Idempotent-Replayed: true`. Limits: 100,000 calls per export and ' +
          '20 unfinished exports.',
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
      const asked = {
        experimentId,
        config,
        operationId: body.operationId.toLowerCase(),
        since: new Date(config.since),
        until: new Date(config.until),
        ...(notificationEndpointId !== undefined && { notificationEndpointId }),
      }
      const answer = await createExport(deps, actor, asked, (trx) => requireSelected(trx, actor, config))
      return reply.code(202).headers(createdHeaders(answer)).send(shown(answer.stored, clock.now()))
    },
  )

  app.get(
    '/v1/monitor-exports',
    {
      config: { access: { role: 'viewer', ...needs } },
      schema: {
        tags,
        operationId: 'listMonitorExports',
        summary: 'List exports',
        description: 'Newest first, including expired ones. Use `status` to filter.',
        querystring: Closed({ ...PageQuery.properties, ...ExportFilter }),
        response: answers({ 200: Page(MonitorExport) }, 400, 401, 403, 503),
      },
    },
    async ({ actor, query: { status, ...page } }) => {
      const now = clock.now()
      const { data, nextCursor } = await app.paging.page(
        page,
        ['monitor-exports', actor.org, status ?? ''],
        (wanted) => listExports(db, actor.org, { experimentId, status, now }, wanted),
        ({ id }) => id,
      )
      return { data: data.map((stored) => shown(stored, now)), nextCursor }
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
      return preview(actor.org, config)
    },
  )

  app.get(
    '/v1/monitor-exports/:id',
    {
      config: { access: { role: 'viewer', ...needs } },
      schema: {
        tags,
        operationId: 'getMonitorExport',
        summary: 'Get an export',
        description: 'Poll it until it is final. `Retry-After` says how many seconds to wait.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: withHeaders(MonitorExport, 'Retry-After') }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params }, reply) => {
      const stored = await getExport(db, actor.org, { ...params, experimentId })
      return reply.headers(waitingHeaders(stored)).send(shown(stored, clock.now()))
    },
  )

  app.delete(
    '/v1/monitor-exports/:id',
    {
      config: { access: { role: 'member', ...needs } },
      schema: {
        tags,
        operationId: 'deleteMonitorExport',
        summary: 'Cancel or expire an export',
        description:
          'Cancels an unfinished export, or expires a completed one. It stays in the list, but its file is no longer available.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 400, 401, 403, 404, 409, 503),
      },
    },
    async ({ actor, params }, reply) => {
      await endByHand(deps, actor, { ...params, experimentId })
      return reply.code(204).send(null)
    },
  )

  app.get(
    '/v1/monitor-exports/:id/download',
    {
      config: { access: { role: 'viewer', ...needs }, audited: true },
      schema: {
        tags,
        operationId: 'downloadMonitorExport',
        summary: 'Download an export',
        description:
          'Redirects to a signed link that works for 15 minutes without a key. Do not send the key to it. ' +
          '`X-File-Digest` is the file’s digest, which the file’s response repeats as `Repr-Digest` when it is ' +
          'served from here.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 302: withHeaders(Empty, 'Location', 'X-File-Digest') }, 400, 401, 403, 404, 409, 410, 503),
      },
    },
    async ({ actor, params }, reply) => {
      const stored = await getExport(db, actor.org, { ...params, experimentId })
      return reply
        .code(302)
        .headers(await linkToFile(deps, actor, stored))
        .send(undefined)
    },
  )
}
