// What every export says of itself, whatever it is of.

import Type from 'typebox'
import { Choice, Id, Name, Nullable, Timestamp } from '../platform/http/schemas.ts'
import type { ExportKey, StoredExport } from './queries.ts'

export const exportStatuses = ['pending', 'processing', 'completed', 'failed', 'expired'] as const
export type ExportStatus = (typeof exportStatuses)[number]

const Whole = Type.Integer({ minimum: 0 })

/** To be checked with each of its kind's own configuration. */
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

/** Of exports that a schedule asked for, and left out of all others: theirs is the published manifest. */
export const scheduleFields = {
  scheduleId: Type.Optional({ ...Id, description: 'The schedule that created it, which may have been deleted.' }),
  scheduleName: Type.Optional({ ...Name, description: 'The schedule’s name at that time.' }),
}

export const scheduleOf = ({ scheduleId, scheduleName }: StoredExport) =>
  scheduleId === null || scheduleName === null ? {} : { scheduleId, scheduleName }

export const ExportFilter = {
  status: Type.Optional(Choice(exportStatuses, { description: 'Only exports with this status.' })),
}

const pathOf = ({ id, experimentId }: Pick<StoredExport, 'id' | 'experimentId'>): string =>
  experimentId === null ? `/v1/monitor-exports/${id}` : `/v1/experiments/${experimentId}/exports/${id}`

/** An export as the interface shows it. It is over when its time is, whenever the job that says so comes to it. */
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

export const auditedKind = ({ experimentId }: Pick<ExportKey, 'experimentId'>) =>
  experimentId === null ? 'monitor-export' : 'experiment-export'

/** How often to ask how far an unfinished export is. */
export const pollSeconds = 5

/** When to ask again, while it is not final. */
export const waitingHeaders = ({ status }: StoredExport): Record<string, string> =>
  status === 'pending' || status === 'processing' ? { 'retry-after': String(pollSeconds) } : {}

/** Of the answer to the request that created it. */
export const createdHeaders = ({ stored, isReplay }: { stored: StoredExport; isReplay: boolean }) => ({
  location: pathOf(stored),
  ...(isReplay && { 'idempotent-replayed': 'true' }),
  ...waitingHeaders(stored),
})
