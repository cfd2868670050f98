// The properties that all kinds of exports share.

import Type from 'typebox'
import { Choice, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import type { Kind, StoredExport } from './queries.ts'

export const exportStatuses = ['pending', 'processing', 'completed', 'failed', 'expired'] as const
export type ExportStatus = (typeof exportStatuses)[number]

const Whole = Type.Integer({ minimum: 0 })

/** Each kind of export combines this with its own configuration schema. */
export const OperationId = {
  ...Id,
  description: 'A UUID you generate. Sending it again with the same configuration returns the same export.',
}

export const manifestFields = {
  createdAt: Timestamp,
  completedAt: Nullable(Timestamp),
  expiresAt: Nullable({ ...Timestamp, description: 'When the file is deleted, 30 days after completion.' }),
  rowCount: Nullable({ ...Whole, description: 'Rows written so far. Increases while the export is processing.' }),
  bytes: Nullable(Whole),
  errorCode: Nullable(
    Choice(['too_many_calls', 'generation_failed', 'storage_unavailable', 'timed_out', 'cancelled'], {
      description: 'Why the export failed.',
    }),
  ),
  downloadPath: Nullable(
    Type.String({ description: 'The download path on this server, while the export is completed.' }),
  ),
}

/** Only exports of a schedule have these fields, so that other exports keep the published format. */
export const scheduleFields = {
  scheduleId: Type.Optional({ ...Id, description: 'The schedule that created the export, even if it was deleted.' }),
  scheduleName: Type.Optional({ ...Name, description: 'The schedule’s name when it created the export.' }),
}

export const scheduleOf = ({ scheduleId, scheduleName }: StoredExport) =>
  scheduleId === null || scheduleName === null ? {} : { scheduleId, scheduleName }

export const ExportFilter = {
  status: Type.Optional(Choice(exportStatuses, { description: 'Only exports with this status.' })),
}

const pathOf = ({ id, kind, experimentId }: Pick<StoredExport, 'id' | 'kind' | 'experimentId'>): string =>
  kind === 'experiment' ? `/v1/experiments/${experimentId}/exports/${id}` : `/v1/${kind}-exports/${id}`

/**
 * Returns an export in the API's format. After its expiry time, the status is `expired`, even if no job has stored that
 * yet.
 */
export const manifestOf = (stored: StoredExport, now: Date) => {
  const { id, operationId, createdAt, completedAt, expiresAt, rowCount, bytes, errorCode } = stored
  const isOver = stored.status === 'completed' && expiresAt !== null && expiresAt <= now
  const status = isOver ? 'expired' : stored.status
  return {
    id,
    operationId,
    status,
    createdAt,
    completedAt,
    expiresAt,
    rowCount,
    bytes,
    errorCode,
    downloadPath: status === 'completed' ? `${pathOf(stored)}/download` : null,
  }
}

export const auditedKind = ({ kind }: { kind: Kind }) => `${kind}-export` as const

/** How often clients should poll an unfinished export. */
export const pollSeconds = 5

/** Returns the number of seconds until the next poll, unless the status is final. */
export const waitingHeaders = ({ status }: StoredExport): Record<string, string> =>
  status === 'pending' || status === 'processing' ? { 'retry-after': String(pollSeconds) } : {}

/** Returns the headers for the response to the request that created the export. */
export const createdHeaders = ({ stored, isReplay }: { stored: StoredExport; isReplay: boolean }) => ({
  location: pathOf(stored),
  ...(isReplay && { 'idempotent-replayed': 'true' }),
  ...waitingHeaders(stored),
})
