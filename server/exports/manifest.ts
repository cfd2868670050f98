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
  description: 'Chosen by the client. The same one with the same configuration answers the same export again.',
}

export const manifestFields = {
  createdAt: Timestamp,
  completedAt: Nullable(Timestamp),
  expiresAt: Nullable({ ...Timestamp, description: 'The file is deleted then, 30 days after it was completed.' }),
  rowCount: Nullable({ ...Whole, description: 'Rows written so far; it grows while the export is processing.' }),
  bytes: Nullable(Whole),
  errorCode: Nullable(
    Choice(['too_many_calls', 'generation_failed', 'storage_unavailable', 'timed_out', 'cancelled'], {
      description: 'Why it failed.',
    }),
  ),
  downloadPath: Nullable(
    Type.String({ description: 'While the export is completed: the path of the download, on this origin.' }),
  ),
}

/** Of exports that a schedule asked for, and left out of all others: theirs is the published manifest. */
export const scheduleFields = {
  scheduleId: Type.Optional({ ...Id, description: 'The schedule that asked for it; it may be deleted since.' }),
  scheduleName: Type.Optional({ ...Name, description: 'What that schedule was called then.' }),
}

export const scheduleOf = ({ scheduleId, scheduleName }: StoredExport) =>
  scheduleId === null || scheduleName === null ? {} : { scheduleId, scheduleName }

export const ExportFilter = {
  status: Type.Optional(Choice(exportStatuses, { description: 'Exports in this state alone.' })),
}

const pathOf = ({ id, experimentId }: Pick<StoredExport, 'id' | 'experimentId'>): string =>
  experimentId === null ? `/v1/monitor-exports/${id}` : `/v1/experiments/${experimentId}/exports/${id}`

/** An export as the interface shows it. It is over when its time is, whenever the job that says so comes to it. */
export const manifestOf = (stored: StoredExport, now: Date) => {
  const { id, operationId, createdAt, completedAt, expiresAt, rowCount, bytes, errorCode } = stored
  const isOver = stored.status === 'completed' && expiresAt !== null && expiresAt <= now
  const status = isOver ? 'expired' : stored.status
  return {
    ...{ id, operationId, status, createdAt, completedAt, expiresAt, rowCount, bytes, errorCode },
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
