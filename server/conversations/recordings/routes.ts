import type { Readable } from 'node:stream'
import { recordAudit } from '../../platform/audit/record.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError, invalid, notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, RawBody } from '../../platform/http/schemas.ts'
import { newId } from '../../platform/ids.ts'
import { linkExpiry } from './address.ts'
import { extensionOf, recognize } from './audio.ts'
import { deleteRecording, recordingKind } from './jobs.ts'
import {
  conversationExists,
  getRecording,
  lockRecordedConversation,
  lockRecording,
  type StoredFile,
  storeUploaded,
} from './queries.ts'
import { Recording } from './schema.ts'

const tags = ['Conversations']

const linkMs = 5 * 60_000

/**
 * Reads the body as it arrives. The connection stays open if the body is rejected, so that it can carry the response.
 */
const readingOf = (body: Readable) => body.iterator({ destroyOnReturn: false })

export const recordings = (app: App, { db, jobs, blobs, clock, config, reactions }: Deps): void => {
  const { recordingBytes } = config.limits

  /**
   * Stores the body as a file. The first bytes show whether the request is valid, so the conversation is only looked up
   * after them.
   */
  const storeBody = async (org: OrgId, conversationId: string, body: Readable): Promise<StoredFile> => {
    const { type, isEmpty, content } = await recognize(readingOf(body))
    if (isEmpty) throw invalid('', 'The body is empty. Send the bytes of the recording.')
    if (!type) {
      throw new ApiError('unsupportedMediaType', 'Send audio: WAV, MP3, Ogg, FLAC, MP4, WebM, or AAC.')
    }
    if (!(await conversationExists(db, org, conversationId))) throw notFound()
    const blobKey = `${org}/${recordingKind}/${newId()}`
    const { contentType } = type
    const { bytes } = await blobs.put(blobKey, content, { contentType, maxBytes: recordingBytes })
    return { blobKey, contentType, bytes }
  }

  app.put(
    '/v1/conversations/:id/recording',
    {
      bodyLimit: recordingBytes,
      config: { access: { role: 'member' }, takes: 'audio' },
      schema: {
        tags,
        operationId: 'uploadRecording',
        summary: 'Upload a conversation’s recording',
        description: 'Accepts a WAV, MP3, Ogg, FLAC, MP4, WebM, or AAC file. Replaces an existing recording.',
        params: IdParams,
        querystring: NoQuery,
        body: RawBody,
        response: answers({ 200: Recording }, 400, 401, 403, 404),
      },
    },
    async (request, reply) => {
      const { actor, params, raw } = request
      // Routes that accept audio pass on the body as it arrives.
      const body = request.body as unknown as Readable
      if (Number(request.headers['content-length'] ?? 0) > recordingBytes) {
        reply.header('connection', 'close')
        throw new ApiError('tooLarge', `Send at most ${recordingBytes} bytes.`)
      }
      const file = await storeBody(actor.org, params.id, body).catch((error: unknown) => {
        // Otherwise, the server would have to read the rest of the body before the next request.
        reply.header('connection', 'close')
        if (raw.aborted) throw invalid('', 'The body is incomplete. Send it again.')
        throw error
      })
      const { conversationId, createdAt } = await db
        .transaction()
        .execute(async (trx) => {
          if (!(await lockRecordedConversation(trx, actor.org, params.id))) throw notFound()
          const replaced = await lockRecording(trx, actor.org, params.id)
          const recording = await storeUploaded(trx, actor.org, params.id, file)
          if (replaced?.blobKey) await jobs.enqueue(trx, deleteRecording, { key: replaced.blobKey }, { org: actor.org })
          await reactions.recordingStored(trx, actor.org, { conversationId: params.id })
          await recordAudit(trx, actor, 'conversation.recording', { type: 'conversation', id: params.id })
          return recording
        })
        .catch(async (error: unknown) => {
          // The conversation was erased in the meantime. After other errors, the recording may have been committed, so
          // its file must stay.
          if (error instanceof ApiError)
            await jobs.enqueue(db, deleteRecording, { key: file.blobKey }, { org: actor.org })
          throw error
        })
      return { conversationId, status: 'stored' as const, contentType: file.contentType, bytes: file.bytes, createdAt }
    },
  )

  app.get(
    '/v1/conversations/:id/recording',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getRecording',
        summary: 'Get a conversation’s recording',
        description:
          'Redirects to a signed link that supports byte ranges. The link works for five minutes in PHI mode ' +
          'and up to 24 hours otherwise. It stops working when the recording is erased or the organization is ' +
          'suspended. Returns 404 if there is no recording, and 409 while it is being downloaded or if the ' +
          'download failed.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 302: Empty }, 401, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const { status, failure, blobKey, contentType } = await getRecording(db, actor.org, params.id)
      if (status === 'pending')
        throw new ApiError('conflict', 'The recording is still being downloaded. Try again later.')
      if (status === 'failed' || blobKey === null || contentType === null) {
        throw new ApiError('conflict', `The recording could not be downloaded. ${failure ?? ''}`.trim())
      }
      const url = actor.features.phiMode
        ? await blobs.signedUrl(blobKey, {
            expiresAt: new Date(clock.now().getTime() + linkMs),
            fileName: `${params.id.toLowerCase()}.${extensionOf(contentType)}`,
            contentType,
            disposition: 'inline',
          })
        : blobs.passingUrl(blobKey, linkExpiry(clock.now()))
      return reply.code(302).header('location', url).header('cache-control', 'no-store').send(undefined)
    },
  )
}
