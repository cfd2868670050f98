import type { Static } from 'typebox'
import type { StoredExport } from './queries.ts'
import type { MonitorExport, MonitorExportConfig } from './schema.ts'

/** An export as the interface shows it. It is over when its time is, whenever the job that says so comes to it. */
export const shown = (stored: StoredExport, now: Date): Static<typeof MonitorExport> => {
  const { id, operationId, config, createdAt, completedAt, expiresAt, rowCount, bytes, errorCode } = stored
  const isOver = stored.status === 'completed' && expiresAt !== null && expiresAt <= now
  const status = isOver ? 'expired' : stored.status
  return {
    ...{ id, operationId, status, createdAt, completedAt, expiresAt, rowCount, bytes, errorCode },
    // Written here alone, in this very form.
    config: config as MonitorExportConfig,
    downloadPath: status === 'completed' ? `/v1/monitor-exports/${id}/download` : null,
  }
}
