import type { Readable } from 'node:stream'
import { recordAudit, recordReasonedAudit } from '../../platform/audit/record.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError, invalid, notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, RawBody } from '../../platform/http/schemas.ts'
import { newId } from '../../platform/ids.ts'
import { linkExpiry } from './address.ts'
import { extensionOf, recognize } from './audio.ts'
import { deleteFilesOf, deleteRecording, recordingKind } from './jobs.ts'
import {
  findRecordingSettings,
  getRecording,
  getRecordingSettings,
  lockRecordedConversation,
  lockRecording,
  type StoredFile,
  storeUploaded,
} from './queries.ts'
import { OriginalAccess, OriginalLink, Recording } from './schema.ts'

const tags = ['Conversations']

const linkMs = 5 * 60_000

type Unavailable = Pick<Awaited<ReturnType<typeof getRecording>>, 'status' | 'failure' | 'originalKey'>

/** Returns the reason why a recording is not served. */
const unavailable = ({ status, failure, originalKey }: Unavailable): string => {
  if (status === 'pending') return 'The recording is still being downloaded. Try again later.'
  if (status === 'processing') {
    return 'The recording has not been redacted yet, which requires the complete transcript. Try again later.'
  }
  if (status === 'deleted')
    return 'The recording was deleted, because its agent doesn’t keep recordings or only keeps them for a set time.'
  const what = originalKey === null ? 'The recording could not be downloaded.' : 'The recording is not available.'
  return `${what} ${failure ?? ''}`.trim()
}

/** Reads the body as it arrives. If the body is rejected, the connection stays open to carry the response. */
const readingOf = (body: Readable) => body.iterator({ destroyOnReturn: false })

/** Returns the file of a sealed original. Originals that are only kept until they are redacted are not sealed. */
const findSealed = async (db: Db, org: OrgId, id: string): Promise<string | undefined> => {
  const { status, originalKey } = await getRecording(db, org, id)
  if (originalKey === null || status === 'processing') return undefined
  const isSealed = status === 'stored' || (await getRecordingSettings(db, org, id)).sealsOriginals
  return isSealed ? originalKey : undefined
}

export const recordings = (app: App, { db, jobs, blobs, clock, config, reactions }: Deps): void => {
  const { recordingBytes } = config.limits

  /**
   * Stores the body as a file. The first bytes show whether the request is valid, so the conversation is only looked up
   * after they have arrived.
   */
  const storeBody = async (org: OrgId, conversationId: string, body: Readable): Promise<StoredFile> => {
    const { type, isEmpty, content } = await recognize(readingOf(body))
    if (isEmpty) throw invalid('', 'The body is empty. Send the bytes of the recording.')
    if (!type) {
      throw new ApiError('unsupportedMediaType', 'Send audio: WAV, MP3, Ogg, FLAC, MP4, WebM, or AAC.')
    }
    const settings = await findRecordingSettings(db, org, conversationId).executeTakeFirst()
    if (!settings) throw notFound()
    if (settings.keep === 'nothing') throw new ApiError('conflict', 'The conversation’s agent keeps no recordings.')
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
        description:
          'Accepts a WAV, MP3, Ogg, FLAC, MP4, WebM, or AAC file. Replaces an existing recording. If the organization ' +
          'redacts recordings, `status` is `processing`, and the recording is available once it has been redacted. ' +
          'Returns 409 if the agent keeps no recordings.',
        params: IdParams,
        querystring: NoQuery,
        body: RawBody,
        response: answers({ 200: Recording }, 400, 401, 403, 404, 409),
      },
    },
    async (request, reply) => {
      const { actor, params, raw } = request
      // Routes that accept audio pass the body on as it arrives.
      const body = request.body as unknown as Readable
      if (Number(request.headers['content-length'] ?? 0) > recordingBytes) {
        reply.header('connection', 'close')
        throw new ApiError('tooLarge', `Send at most ${recordingBytes} bytes.`)
      }
      const file = await storeBody(actor.org, params.id, body).catch((error: unknown) => {
        // If the connection stayed open, the server would have to read the rest of the body before the next request.
        reply.header('connection', 'close')
        if (raw.aborted) throw invalid('', 'The body is incomplete. Send it again.')
        throw error
      })
      const { conversationId, status, createdAt } = await db
        .transaction()
        .execute(async (trx) => {
          if (!(await lockRecordedConversation(trx, actor.org, params.id))) throw notFound()
          const replaced = await lockRecording(trx, actor.org, params.id)
          const recording = await storeUploaded(trx, actor.org, params.id, file)
          await deleteFilesOf({ jobs }, trx, actor.org, replaced)
          await reactions.recordingStored(trx, actor.org, { conversationId: params.id })
          await recordAudit(trx, actor, 'conversation.recording', { type: 'conversation', id: params.id })
          return recording
        })
        .catch(async (error: unknown) => {
          // The conversation was erased in the meantime. After any other error, the recording may have been committed,
          // so its file must stay.
          if (error instanceof ApiError)
            await jobs.enqueue(db, deleteRecording, { key: file.blobKey }, { org: actor.org })
          throw error
        })
      const { contentType, bytes } = file
      // A file that was just stored is either served now, or redacted first.
      return { conversationId, status: status as 'stored' | 'processing', contentType, bytes, createdAt }
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
          'suspended. Returns 404 if there is no recording, and 409 while it is being downloaded or redacted, if ' +
          'that failed, or if the agent’s policy has deleted it.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 302: Empty }, 401, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const recording = await getRecording(db, actor.org, params.id)
      const { status, blobKey, contentType } = recording
      if (status !== 'stored' || blobKey === null || contentType === null) {
        throw new ApiError('conflict', unavailable(recording))
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

  app.post(
    '/v1/conversations/:id/recording/original',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'openOriginalRecording',
        summary: 'Open the sealed original of a redacted recording',
        description:
          'For emergencies. Requires a reason, which the audit log shows with your name, and returns a link that works ' +
          'for five minutes. Returns 409 if the recording has no sealed original.',
        params: IdParams,
        querystring: NoQuery,
        body: OriginalAccess,
        response: answers({ 200: OriginalLink }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body }) => {
      const id = params.id.toLowerCase()
      const originalKey = await findSealed(db, actor.org, id)
      const head = originalKey === undefined ? undefined : await blobs.head(originalKey)
      if (originalKey === undefined || !head) throw new ApiError('conflict', 'The recording has no sealed original.')
      const { contentType } = head
      const expiresAt = new Date(clock.now().getTime() + linkMs)
      const fileName = `${id}-original.${extensionOf(contentType)}`
      const url = await blobs.signedUrl(originalKey, { expiresAt, fileName, contentType, disposition: 'inline' })
      // Links are only returned together with an audit event.
      await db.transaction().execute((trx) => {
        const target = { type: 'conversation', id }
        return recordReasonedAudit(trx, actor, 'conversation.openOriginal', { reason: body.reason, target })
      })
      return { url, expiresAt }
    },
  )
}
