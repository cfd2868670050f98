import type { Static } from 'typebox'
import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, NoQuery, withHeaders } from '../../platform/http/schemas.ts'
import { exportLife } from '../life-routes.ts'
import { createExport } from '../lifecycle.ts'
import { createdHeaders, manifestOf, scheduleOf } from '../manifest.ts'
import { openPreviews } from '../preview.ts'
import type { StoredExport } from '../queries.ts'
import { parseConversations, windowOf } from './configuration.ts'
import { previewConversations } from './make-order.ts'
import { requireListed } from './requirements.ts'
import {
  ConversationExport,
  type ConversationExportConfig,
  ConversationExportCreate,
  ConversationExportPreview,
  ConversationExportPreviewRequest,
} from './schema.ts'

const tags = ['Conversations']
const needs = { feature: 'monitorExports' } as const

// Only this file writes the configuration, in this format.
const show = (stored: StoredExport, now: Date): Static<typeof ConversationExport> => ({
  ...manifestOf(stored, now),
  ...scheduleOf(stored),
  config: stored.config as unknown as ConversationExportConfig,
})

export const conversationExports = (app: App, deps: Deps): void => {
  const { db, clock } = deps
  const preview = openPreviews(deps)

  app.post(
    '/v1/conversation-exports',
    {
      config: { access: { role: 'viewer', ...needs } },
      schema: {
        tags,
        operationId: 'createConversationExport',
        summary: 'Create a conversation export',
        description:
          'Exports the conversations that a filter selects, with the same columns as a saved view. The file is ' +
          'created in the background, as for an export of monitor results. A relative period ends at the time of ' +
          'the request. Monitor columns need the Monitors entitlement, and metric columns the Metrics entitlement. ' +
          'Limits: 100,000 conversations per export, and 20 unfinished exports of all kinds.',
        querystring: NoQuery,
        body: ConversationExportCreate,
        response: answers(
          { 202: withHeaders(ConversationExport, 'Location', 'Retry-After', 'Idempotent-Replayed') },
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
      const config = parseConversations(body.config, 'config')
      const { notificationEndpointId } = config
      const request = {
        kind: 'conversation' as const,
        experimentId: null,
        config,
        operationId: body.operationId.toLowerCase(),
        ...(await windowOf(db, config.filter)),
        ...(notificationEndpointId !== undefined && { notificationEndpointId }),
      }
      const answer = await createExport(deps, actor, request, (trx) =>
        requireListed(trx, actor, config, { given: body.config }),
      )
      return reply.code(202).headers(createdHeaders(answer)).send(show(answer.stored, clock.now()))
    },
  )

  app.post(
    '/v1/conversation-exports/preview',
    {
      config: { access: { role: 'viewer', ...needs }, unaudited: 'It only reads.' },
      schema: {
        tags,
        operationId: 'previewConversationExport',
        summary: 'Preview a conversation export',
        description:
          'Returns the row count and the first rows without creating an export. `exceedsLimit` is true if the export would be too large.',
        querystring: NoQuery,
        body: ConversationExportPreviewRequest,
        response: answers({ 200: ConversationExportPreview }, 400, 401, 403, 404, 503),
      },
    },
    async ({ actor, body }) => {
      const config = parseConversations(body.config, 'config')
      await requireListed(db, actor, config, { given: body.config })
      return preview(actor.org, await previewConversations(deps, actor.org, config))
    },
  )

  exportLife(app, deps, {
    kind: 'conversation',
    tags,
    needs,
    schema: ConversationExport,
    show,
    noun: { one: 'a conversation export', many: 'conversation exports' },
  })
}
