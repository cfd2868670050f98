import type { Deps } from '../deps.ts'
import { recordAudit } from '../platform/audit/record.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Closed, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { type Configuration, isSameConfiguration, parseConfiguration } from './configuration.ts'
import { fileNameOf } from './file-name.ts'
import { endExport, startNext } from './jobs.ts'
import { shown } from './manifest.ts'
import { openPreviews } from './preview.ts'
import {
  countUnfinished,
  findExportByOperation,
  getExport,
  insertExport,
  listExports,
  lockExport,
  lockLine,
  type StoredExport,
} from './queries.ts'
import { requireSelected } from './requirements.ts'
import {
  ExportFilter,
  MonitorExport,
  MonitorExportCreate,
  MonitorExportPreview,
  MonitorExportPreviewRequest,
} from './schema.ts'

const tags = ['Monitors']
const needs = { entitlement: 'monitors', feature: 'monitorExports' } as const

const mostUnfinished = 20
const pollSeconds = 5
const linkMs = 15 * 60_000

const isFinal = ({ status }: StoredExport): boolean => status !== 'pending' && status !== 'processing'

export const monitorExports = (app: App, deps: Deps): void => {
  const { db, blobs, clock } = deps
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
        response: answers({ 202: MonitorExport }, 400, 401, 403, 404, 409, 429, 503),
      },
    },
    async ({ actor, body }, reply) => {
      const operationId = body.operationId.toLowerCase()
      const config = parseConfiguration(body.config, 'config')

      const answer = (stored: StoredExport, isReplay: boolean) => {
        if (isReplay && !isSameConfiguration(stored.config as Configuration, config)) {
          throw new ApiError(
            'conflict',
            'This operationId belongs to an export of another configuration; make a new one.',
          )
        }
        reply.code(202).header('location', `/v1/monitor-exports/${stored.id}`)
        if (isReplay) reply.header('idempotent-replayed', 'true')
        if (!isFinal(stored)) reply.header('retry-after', pollSeconds)
        return reply.send(shown(stored, clock.now()))
      }

      const earlier = await findExportByOperation(db, actor.org, operationId)
      if (earlier) return answer(earlier, true)
      await blobs.check()
      const { stored, isReplay } = await db.transaction().execute(async (trx) => {
        await lockLine(trx, actor.org)
        const raced = await findExportByOperation(trx, actor.org, operationId)
        if (raced) return { stored: raced, isReplay: true }
        await requireSelected(trx, actor, config)
        if ((await countUnfinished(trx, actor.org)).all >= mostUnfinished) {
          throw new ApiError('rateLimited', `${mostUnfinished} exports are unfinished; wait for one of them.`, {
            retryAfterSeconds: pollSeconds,
          })
        }
        const id = newId()
        const made = { id, operationId, config, createdByUserId: actor.userId, createdAt: clock.now() }
        const inserted = await insertExport(trx, actor.org, made)
        await startNext(deps, trx, actor.org)
        await recordAudit(trx, actor, 'monitor-export.create', { type: 'monitor-export', id })
        return { stored: inserted, isReplay: false }
      })
      return answer(stored, isReplay)
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
        querystring: Closed({ ...PageQuery.properties, ...ExportFilter }),
        response: answers({ 200: Page(MonitorExport) }, 400, 401, 403, 503),
      },
    },
    async ({ actor, query: { status, ...page } }) => {
      const now = clock.now()
      const { data, nextCursor } = await app.paging.page(
        page,
        ['monitor-exports', actor.org, status ?? ''],
        (wanted) => listExports(db, actor.org, { status, now }, wanted),
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
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: MonitorExport }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params }, reply) => {
      const stored = await getExport(db, actor.org, params.id)
      if (!isFinal(stored)) reply.header('retry-after', pollSeconds)
      return shown(stored, clock.now())
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
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 400, 401, 403, 404, 409, 503),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        await lockLine(trx, actor.org)
        const held = await lockExport(trx, actor.org, params.id)
        if (!held) throw notFound()
        const end =
          held.status === 'completed'
            ? ({ status: 'expired' } as const)
            : ({ status: 'failed', errorCode: 'cancelled' } as const)
        if (!(await endExport(deps, trx, actor.org, held, end))) {
          throw new ApiError('conflict', `The export is ${held.status}; there is nothing left to cancel or delete.`)
        }
        await recordAudit(trx, actor, 'monitor-export.delete', { type: 'monitor-export', id: held.id })
      })
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
        response: answers({ 302: Empty }, 400, 401, 403, 404, 409, 410, 503),
      },
    },
    async ({ actor, params }, reply) => {
      const stored = await getExport(db, actor.org, params.id)
      const now = clock.now()
      const { status } = shown(stored, now)
      if (status === 'expired') throw new ApiError('gone', 'The file of this export has expired; ask for a new export.')
      if (status === 'failed') {
        throw new ApiError('conflict', `The export failed (${stored.errorCode}) and has no file; ask for a new export.`)
      }
      const { blobKey, expiresAt, sha256 } = stored
      if (status !== 'completed' || !blobKey || !expiresAt || !sha256) {
        throw new ApiError('conflict', `The export is ${status}; there is a file once it is completed.`)
      }
      const head = await blobs.head(blobKey)
      if (!head) throw new ApiError('unavailable', 'The file of this export is missing in the storage.')
      const location = await blobs.signedUrl(blobKey, {
        expiresAt: new Date(Math.min(now.getTime() + linkMs, expiresAt.getTime())),
        fileName: fileNameOf(stored.id, stored.config as Configuration),
        contentType: head.contentType,
        disposition: 'attachment',
        sha256,
      })
      await recordAudit(db, actor, 'monitor-export.download', { type: 'monitor-export', id: stored.id })
      return reply
        .code(302)
        .headers({ location, 'x-file-digest': `sha-256=:${sha256}:` })
        .send(null)
    },
  )
}
