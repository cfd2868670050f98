import type { Readable } from 'node:stream'
import type { Static } from 'typebox'
import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoQuery } from '../platform/http/schemas.ts'
import { readTranscript } from '../transcripts/read-transcript.ts'
import { erasedError, ingestList, ingestStream, metricsRefusal } from './ingest/batch.ts'
import { readBody } from './ingest/from-body.ts'
import { ingestConversations } from './ingest/ingest.ts'
import { changeConversation } from './ingest/patch.ts'
import { turnsOfLongContent } from './ingest/tasks.ts'
import { getConversation, getTranscript } from './queries.ts'
import { recordingUrlOf } from './recordings/address.ts'
import { findRecording } from './recordings/queries.ts'
import { BatchAnswer, BatchCreate, Conversation, ConversationCreate, ConversationUpdate, Transcript } from './schema.ts'

const tags = ['Conversations']

type StoredTranscript = Awaited<ReturnType<typeof getTranscript>>

/** Returns how the recording was transcribed, or null if it wasn't transcribed or the transcript was sent. */
const transcriptionOf = (transcript: StoredTranscript) => {
  const { content, transcribedBy, transcriptionStatus: status, transcriptionModel: model } = transcript
  const { transcriptionCreatedAt: createdAt } = transcript
  const wasSent = content !== null && transcribedBy === null
  if (wasSent || status === null || model === null || createdAt === null) return null
  return {
    status,
    model,
    failure: transcript.transcriptionFailure,
    audioSeconds: transcript.transcriptionSeconds ?? 0,
    cost: transcript.transcriptionCost,
    createdAt,
    endedAt: transcript.transcriptionEndedAt,
  }
}

/** Returns the transcript's fields, except its content and turns. */
const aboutTranscript = (transcript: StoredTranscript, recordingUrl: string | undefined) => {
  const { conversationId, createdAt, conversationCreatedAt, durationSeconds, systemPrompt, unreadable } = transcript
  const { transcribedBy } = transcript
  return {
    conversationId,
    createdAt: createdAt ?? conversationCreatedAt,
    ...(recordingUrl !== undefined && { recordingUrl }),
    ...(durationSeconds !== null && { durationSeconds }),
    ...(systemPrompt !== null && { systemPrompt }),
    unreadable,
    transcribedBy,
    transcription: transcriptionOf(transcript),
  }
}

const turnsOf = (content: unknown, hints: Parameters<typeof readTranscript>[1]) => {
  const reading = readTranscript(content, hints)
  return 'turns' in reading ? reading.turns : []
}

export const conversations = (app: App, deps: Deps): void => {
  const { database, clock, config } = deps
  const { limits } = config

  app.post(
    '/v1/conversations',
    {
      config: { access: { role: 'member' }, apart: 'transcript' },
      schema: {
        tags,
        operationId: 'createConversation',
        summary: 'Create or update a conversation',
        description:
          'Returns 201 for a new conversation, or 200 after updating the one with the same `externalId`. Sending it again is safe.',
        querystring: NoQuery,
        body: ConversationCreate,
        response: answers({ 200: Conversation, 201: Conversation }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const incoming = readBody(body, { now: clock.now(), metadataBytes: limits.metadataBytes })
      if (incoming instanceof Error) throw incoming
      const refusal = metricsRefusal(actor, incoming)
      if (refusal) throw refusal
      // Errors are thrown inside the transaction, so that it is rolled back.
      let conversation: Awaited<ReturnType<typeof getConversation>> | undefined
      const [outcome] = await ingestConversations(deps, actor.org, [incoming], async (trx, [told]) => {
        if (told?.status === 'rejected') throw told.error
        if (told === undefined || told.status === 'erased') throw erasedError()
        const verb = told.status === 'created' ? 'create' : 'complete'
        await recordAudit(trx, actor, `conversation.${verb}`, { type: 'conversation', id: told.id })
        // The conversation is still locked here. After the transaction, it could be erased at any time.
        conversation = await getConversation(trx, actor.org, told.id)
      })
      if (!outcome || !('id' in outcome) || !conversation) throw erasedError()
      const made = outcome.status === 'created'
      if (made) reply.header('location', `/v1/conversations/${outcome.id}`)
      return reply.code(made ? 201 : 200).send(conversation)
    },
  )

  app.post(
    '/v1/conversations/batch',
    {
      config: { access: { role: 'member' }, takes: 'batch', list: 'conversations', apart: 'transcript' },
      bodyLimit: limits.batchBytes,
      schema: {
        tags,
        operationId: 'createConversations',
        summary: 'Create or update conversations in bulk',
        description:
          'Send 1 to 1,000 conversations as JSON, or any number as `application/x-ndjson`, one per line. Lines ' +
          'are stored as they arrive, 500 at a time, and the response is sent after the last one. If the response ' +
          'gets lost, send the batch again: conversations with an `externalId` are stored once.',
        querystring: NoQuery,
        body: {
          content: { 'application/json': { schema: BatchCreate }, 'application/x-ndjson': { schema: {} } },
        },
        response: answers({ 200: BatchAnswer }, 400, 401, 403),
      },
    },
    async (request, reply) => {
      // Fastify chose by content type whether the body is a stream or validated JSON.
      const body = request.body as Readable | Static<typeof BatchCreate>
      if (!('conversations' in body)) {
        const answer = await ingestStream(deps, request.actor, body)
        // Fastify sends a stream without serializing it, so the stream contains the response's JSON.
        return reply.type('application/json; charset=utf-8').send(answer as unknown as Static<typeof BatchAnswer>)
      }
      return reply.send(await ingestList(deps, request.actor, body.conversations))
    },
  )

  app.get(
    '/v1/conversations/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getConversation',
        summary: 'Get a conversation',
        description: 'The transcript and the recording have their own endpoints.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Conversation }, 401, 404),
      },
    },
    ({ actor, params }) => getConversation(database.dbOf(actor.org), actor.org, params.id),
  )

  app.patch(
    '/v1/conversations/:id',
    {
      config: { access: { role: 'member' }, apart: 'transcript' },
      schema: {
        tags,
        operationId: 'updateConversation',
        summary: 'Update a conversation',
        description: 'Sent fields replace the stored ones, and null clears them. A new transcript is processed again.',
        params: IdParams,
        querystring: NoQuery,
        body: ConversationUpdate,
        response: answers({ 200: Conversation }, 400, 401, 403, 404),
      },
    },
    ({ actor, params, body }) =>
      changeConversation(deps, actor.org, params.id, body, async (trx) => {
        await recordAudit(trx, actor, 'conversation.update', { type: 'conversation', id: params.id })
        return getConversation(trx, actor.org, params.id)
      }),
  )

  app.get(
    '/v1/conversations/:id/transcript',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getTranscript',
        summary: 'Get a conversation’s transcript',
        description: '`content` is the transcript as you sent it. `turns` are the turns Earshot read from it.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Transcript }, 401, 404),
      },
    },
    async ({ actor, params }, reply) => {
      const near = database.dbOf(actor.org)
      const transcript = await getTranscript(near, actor.org, params.id)
      const { conversationId, content, format, startedAt, recordingStatus } = transcript
      const recording = recordingStatus === 'stored' ? await findRecording(near, actor.org, conversationId) : undefined
      const recordingUrl = recordingUrlOf(deps, actor.features, conversationId, recording)
      const about = aboutTranscript(transcript, recordingUrl)
      if (content === null) return { ...about, content, turns: [] }
      const hints = { ...(format !== null && { provider: format }), startedAt }
      const long = await turnsOfLongContent(deps.threads, actor.org, content, hints)
      if (long === undefined) {
        const given: unknown = JSON.parse(content)
        return { ...about, content: given, turns: format === null ? [] : turnsOf(given, hints) }
      }
      const turns = format === null ? '[]' : long
      const text = `${JSON.stringify(about).slice(0, -1)},"content":${content},"turns":${turns}}`
      // Fastify sends a string without serializing it, so the string contains the response's JSON.
      return reply.type('application/json; charset=utf-8').send(text as unknown as Static<typeof Transcript>)
    },
  )
}
