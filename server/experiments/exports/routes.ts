// Exports an experiment's observations. They are a separate resource with the lifecycle of all exports.

import type { Static } from 'typebox'
import { linkToFile } from '../../exports/download.ts'
import { createExport, endByHand } from '../../exports/lifecycle.ts'
import { createdHeaders, manifestOf, waitingHeaders } from '../../exports/manifest.ts'
import { getExport, listExports, type StoredExport } from '../../exports/queries.ts'
import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, withHeaders } from '../../platform/http/schemas.ts'
import { getExperiment } from '../queries.ts'
import { type ExperimentExportConfiguration, parseConfiguration } from './configuration.ts'
import { ExperimentExport, ExperimentExportCreate, ExportParams, ExportQuery } from './schema.ts'

const tags = ['Experiments']
const path = '/v1/experiments/:id/exports'
const feature = 'monitorExports'

const shown = (stored: StoredExport, now: Date): Static<typeof ExperimentExport> => {
  const { experimentId, config } = stored
  if (experimentId === null) throw new Error('The export belongs to no experiment')
  // Only this file writes the configuration, in this format.
  return { ...manifestOf(stored, now), experimentId, config: config as ExperimentExportConfiguration }
}

const kindOf = (experimentId: string) => ({ kind: 'experiment', experimentId }) as const

/** Returns the key of an export. The IDs in a path can have uppercase letters. */
const keyOf = ({ id, exportId }: Static<typeof ExportParams>) => ({ id: exportId, ...kindOf(id.toLowerCase()) })

export const experimentExports = (app: App, deps: Deps): void => {
  const { db, clock } = deps

  app.post(
    path,
    {
      config: { access: { role: 'viewer', feature } },
      schema: {
        tags,
        operationId: 'createExperimentExport',
        summary: 'Create an experiment export',
        description:
          'The export has one row per conversation in either arm, with the value of each outcome. The file is created in ' +
          'the background; poll the export every five seconds. If the response gets lost, send the same ' +
          '`operationId` and configuration again to get the same export, with `Idempotent-Replayed: true`. ' +
          'Limits: 1,000,000 conversations per export and 20 unfinished exports, including monitor exports.',
        params: IdParams,
        querystring: NoQuery,
        body: ExperimentExportCreate,
        response: answers(
          { 202: withHeaders(ExperimentExport, 'Location', 'Retry-After', 'Idempotent-Replayed') },
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
    async ({ actor, params, body }, reply) => {
      const config = parseConfiguration(body.config)
      const { id: experimentId, startedAt: since } = await getExperiment(db, actor.org, params.id)
      const operationId = body.operationId.toLowerCase()
      // New conversations can join the export until the experiment ends, and some clocks are ahead, so there is no
      // upper limit.
      const exportRequest = { ...kindOf(experimentId), operationId, config, since, until: undefined }
      const answer = await createExport(deps, actor, exportRequest)
      return reply.code(202).headers(createdHeaders(answer)).send(shown(answer.stored, clock.now()))
    },
  )

  app.get(
    path,
    {
      config: { access: { role: 'viewer', feature } },
      schema: {
        tags,
        operationId: 'listExperimentExports',
        summary: 'List an experiment’s exports',
        description: 'Newest first, including expired ones. Use `status` to filter.',
        params: IdParams,
        querystring: ExportQuery,
        response: answers({ 200: Page(ExperimentExport) }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params, query: { status, ...page } }) => {
      const { id: experimentId } = await getExperiment(db, actor.org, params.id)
      const now = clock.now()
      const { data, nextCursor } = await app.paging.page(
        page,
        ['experiment-exports', actor.org, experimentId, status ?? ''],
        (wanted) => listExports(db, actor.org, { of: kindOf(experimentId), status, now }, wanted),
        ({ id }) => id,
      )
      return { data: data.map((stored) => shown(stored, now)), nextCursor }
    },
  )

  app.get(
    `${path}/:exportId`,
    {
      config: { access: { role: 'viewer', feature } },
      schema: {
        tags,
        operationId: 'getExperimentExport',
        summary: 'Get an experiment’s export',
        description: 'Poll it until it is completed, failed, or expired. `Retry-After` says how many seconds to wait.',
        params: ExportParams,
        querystring: NoQuery,
        response: answers({ 200: withHeaders(ExperimentExport, 'Retry-After') }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, params }, reply) => {
      const stored = await getExport(db, actor.org, keyOf(params))
      return reply.headers(waitingHeaders(stored)).send(shown(stored, clock.now()))
    },
  )

  app.delete(
    `${path}/:exportId`,
    {
      config: { access: { role: 'member', feature } },
      schema: {
        tags,
        operationId: 'deleteExperimentExport',
        summary: 'Cancel or expire an experiment’s export',
        description:
          'Cancels an unfinished export, or expires a completed one. It stays in the list, but its file is no longer available.',
        params: ExportParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 400, 401, 403, 404, 409, 503),
      },
    },
    async ({ actor, params }, reply) => {
      await endByHand(deps, actor, keyOf(params))
      return reply.code(204).send(null)
    },
  )

  app.get(
    `${path}/:exportId/download`,
    {
      config: { access: { role: 'viewer', feature }, audited: true },
      schema: {
        tags,
        operationId: 'downloadExperimentExport',
        summary: 'Download an experiment’s export',
        description:
          'Redirects to a signed link that works for 15 minutes without a key. Do not send the key to it. ' +
          '`X-File-Digest` is the file’s digest.',
        params: ExportParams,
        querystring: NoQuery,
        response: answers({ 302: withHeaders(Empty, 'Location', 'X-File-Digest') }, 400, 401, 403, 404, 409, 410, 503),
      },
    },
    async ({ actor, params }, reply) => {
      const stored = await getExport(db, actor.org, keyOf(params))
      return reply
        .code(302)
        .headers(await linkToFile(deps, actor, stored))
        .send(undefined)
    },
  )
}
