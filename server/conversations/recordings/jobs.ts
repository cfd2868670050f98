import Type from 'typebox'
import { defineFileSweep } from '../../platform/blobs/sweep.ts'
import { publishChanges } from '../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { OutboundError } from '../../platform/outbound/errors.ts'
import { recognize } from './audio.ts'
import {
  failRecording,
  findRecording,
  listNamedFiles,
  lockRecordedConversation,
  type StoredFile,
  storeFetched,
} from './queries.ts'

export const recordingKind = 'recordings'

/** Deletes a file that recordings no longer use. */
export const deleteRecording = defineJob({
  name: 'recording.delete',
  payload: Type.Object({ key: Type.String() }),
  retryLimit: 20,
  run: ({ blobs }: Deps, { key }) => blobs.delete(key),
})

type Files = { blobKey: string | null; originalKey: string | null }

/**
 * Returns whether the file of a recording has arrived. The file may still have to be processed before it is served, or
 * may already be deleted.
 */
export const hasFile = (recording: (Files & { status: string }) | undefined): boolean =>
  recording !== undefined &&
  (recording.blobKey !== null || recording.originalKey !== null || recording.status === 'deleted')

/** Enqueues the deletion of all files of a recording, which no longer refers to them. */
export const deleteFilesOf = async (
  { jobs }: Pick<Deps, 'jobs'>,
  trx: Db,
  org: OrgId,
  files: Files | undefined,
): Promise<void> => {
  for (const key of [files?.blobKey, files?.originalKey]) {
    if (key) await jobs.enqueue(trx, deleteRecording, { key }, { org })
  }
}

/**
 * The sender of the URL sees the message. It never contains the URL, because the URL may give anyone access to the
 * recording.
 */
class FetchFailure extends Error {}

const reasons: Record<OutboundError['reason'], string> = {
  forbidden_address: 'The URL, or one that it redirects to, is not a public http or https address.',
  too_large: 'The recording exceeds the size limit.',
  timed_out: 'The download timed out.',
  too_many_redirects: 'The URL redirects too many times.',
  failed: 'The server could not be reached, or the connection was lost.',
}

/** After one of these failures, a retry would fail again. */
const final = new Set<OutboundError['reason']>(['forbidden_address', 'too_large', 'too_many_redirects'])

const readableFault = (error: unknown): unknown => {
  if (!(error instanceof OutboundError)) return error
  const message = reasons[error.reason]
  return final.has(error.reason) ? new ApiError('invalid', message) : new FetchFailure(message)
}

/**
 * Returns the message to store. An ApiError from the file storage means that the storage is unavailable, so the URL is
 * not the cause.
 */
export const failureOf = (error: unknown): string =>
  error instanceof FetchFailure || (error instanceof ApiError && error.kind === 'invalid')
    ? error.message
    : 'The recording could not be downloaded and stored.'

const fetchTimeoutMs = 10 * 60_000
/**
 * Downloads that are slower than this are aborted, because they would delay the organization's other downloads for
 * minutes.
 */
const minimumRate = { bytesPerSecond: 8 * 1024, longestWaitMs: 30_000 }
const maxRedirects = 5

export const publishConversation = (trx: Db, org: OrgId, id: string) =>
  publishChanges(trx, org, { resource: 'conversations', kind: 'updated', ids: [id] })

type FetchDeps = Pick<Deps, 'outbound' | 'blobs' | 'config'>

type Source = { url: string; headers?: Record<string, string> }

const fetchFile = async ({ outbound, blobs, config }: FetchDeps, org: OrgId, source: Source, signal: AbortSignal) => {
  const { url, headers } = source
  const { status, body } = await outbound.stream(url, {
    method: 'GET',
    headers: headers ?? {},
    // Credentials are sent unencrypted only to allowed private networks.
    plainHttp: headers ? 'allowed networks' : 'anywhere',
    maxBytes: config.limits.recordingBytes,
    timeoutMs: fetchTimeoutMs,
    minimumRate,
    maxRedirects,
  })
  const stop = () => body.destroy()
  signal.addEventListener('abort', stop)
  try {
    if (status !== 200) throw new FetchFailure(`The server returned status ${status}.`)
    const { type, isEmpty, content } = await recognize(body)
    if (isEmpty) throw new FetchFailure('The server returned an empty response.')
    if (!type) throw new ApiError('invalid', 'The server returned something other than audio.')
    const blobKey = `${org}/${recordingKind}/${newId()}`
    const { bytes } = await blobs.put(blobKey, content, { contentType: type.contentType })
    return { blobKey, contentType: type.contentType, bytes } satisfies StoredFile
  } finally {
    signal.removeEventListener('abort', stop)
    body.destroy()
  }
}

/** Downloads the audio from a URL and stores it. The sender of the URL can read the errors. */
export const storeFetchedFile = (deps: FetchDeps, org: OrgId, source: Source, signal: AbortSignal) =>
  fetchFile(deps, org, source, signal).catch((error: unknown) => {
    throw readableFault(error)
  })

/**
 * Downloads the recording of a new conversation. If the URL changes in the meantime, two downloads can run at once, and
 * the first to finish wins.
 */
export const fetchRecording = defineJob({
  name: 'recording.fetch',
  payload: Type.Object({ organizationId: OrganizationId, conversationId: Type.String() }),
  retryLimit: 6,
  retryDelaySeconds: 30,
  timeoutSeconds: 15 * 60,
  run: async (deps: Deps, { organizationId, conversationId }, attempt) => {
    const recording = await findRecording(deps.db, organizationId, conversationId)
    const url = recording?.sourceUrl
    if (!url || hasFile(recording)) return
    const file = await storeFetchedFile(deps, organizationId, { url }, attempt.signal)
    await attempt.finish(async (trx) => {
      // If an erasure has already listed the files, it would miss this file.
      const isThere = await lockRecordedConversation(trx, organizationId, conversationId)
      const stored = isThere && (await storeFetched(trx, organizationId, conversationId, url, file))
      if (stored) {
        await publishConversation(trx, organizationId, conversationId)
        await deps.reactions.recordingStored(trx, organizationId, { conversationId })
      } else await deps.jobs.enqueue(trx, deleteRecording, { key: file.blobKey }, { org: organizationId })
    })
  },
  onFailed: async ({ reactions }, { organizationId, conversationId }, trx, error) => {
    if (!(await lockRecordedConversation(trx, organizationId, conversationId))) return
    await failRecording(trx, organizationId, conversationId, failureOf(error))
    await reactions.soundSettled(trx, organizationId, { conversationIds: [conversationId] })
  },
})

/**
 * Deletes files without a recording. They remain if a process dies between storing the file and committing its
 * recording.
 */
export const sweepRecordings = defineFileSweep({
  name: 'recording.sweep',
  schedule: '50 3 * * *',
  kind: recordingKind,
  listNamed: listNamedFiles,
})
