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

/** Exports of what monitors found belong to no experiment. */
const experimentId = null

// The cast: written here alone, in this very form.
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
        summary: 'Ask for an export of stored monitor results',
        description:
          'The file is made later; poll the export every five seconds, or name an endpoint that is told. After a lost ' +
          'response, send the same `operationId` and configuration again: the answer is the same export, marked with ' +
          '`Idempotent-Replayed: true`. At most 100,000 calls, and 20 unfinished exports at a time.',
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
        ...{ experimentId, config, operationId: body.operationId.toLowerCase() },
        ...{ since: new Date(config.since), until: new Date(config.until) },
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
        summary: 'List exports, newest first',
        description: 'Includes expired exports, whose files are gone. Set `status` to list only some.',
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
        summary: 'Count the rows that an export would have, and show the first of them',
        description:
          'Reads only and creates no export. `exceedsLimit` tells you that the export itself would be too large.',
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
        summary: 'Get an export: its manifest as it is now',
        description: 'Poll it until it is final; until then, `Retry-After` says how many seconds to wait.',
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
        summary: 'Cancel an unfinished export, or expire a completed one now',
        description: 'The export stays listed, but its file can no longer be downloaded.',
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
        summary: 'Get a link to the file of a completed export',
        description:
          'Redirects to a signed address that opens for anyone for 15 minutes, and never beyond the file’s expiry. ' +
          'Follow it without the key. `X-File-Digest` is the digest of the file, which `Repr-Digest` tells again with ' +
          'the file where this service serves it.',
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
