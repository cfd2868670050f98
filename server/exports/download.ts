import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { fileNameOf } from './file-name.ts'
import { auditedKind, manifestOf } from './manifest.ts'
import type { StoredExport } from './queries.ts'

const linkMs = 15 * 60_000

/** Returns the headers for a redirect to the file. The signed URL works for anyone who has it. */
export const linkToFile = async ({ db, blobs, clock }: Deps, actor: Actor, stored: StoredExport) => {
  const now = clock.now()
  const { status } = manifestOf(stored, now)
  if (status === 'expired') throw new ApiError('gone', 'The file of this export has expired. Create a new export.')
  if (status === 'failed') {
    throw new ApiError('conflict', `The export failed (${stored.errorCode}) and has no file. Create a new export.`)
  }
  const { blobKey, expiresAt, sha256 } = stored
  if (status !== 'completed' || !blobKey || !expiresAt || !sha256) {
    throw new ApiError('conflict', `The export is ${status}. Download the file once the status is completed.`)
  }
  const head = await blobs.head(blobKey)
  if (!head) throw new ApiError('unavailable', 'The file of this export is missing from the file storage.')
  const location = await blobs.signedUrl(blobKey, {
    expiresAt: new Date(Math.min(now.getTime() + linkMs, expiresAt.getTime())),
    fileName: fileNameOf({
      id: stored.id,
      kind: stored.kind,
      format: stored.config.format,
      from: (stored.kind === 'conversation' ? stored.createdAt : stored.since).toISOString(),
    }),
    contentType: head.contentType,
    disposition: 'attachment',
    sha256,
  })
  const kind = auditedKind(stored)
  await recordAudit(db, actor, `${kind}.download`, { type: kind, id: stored.id })
  return { location, 'x-file-digest': `sha-256=:${sha256}:` }
}
