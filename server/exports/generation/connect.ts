import type { ClientConfig } from 'pg'
import type { SessionSettings } from '../../platform/db/session.ts'
import { logPosition, openSnapshot, type Snapshot } from '../../platform/db/snapshot.ts'

export type Connections = { primary: ClientConfig; replica?: ClientConfig }

type Options = { note: (text: string) => void; timeoutMs?: number; settings?: SessionSettings }

const applicationName = 'earshot export'
const replicaTimeoutMs = 30_000

/**
 * Opens the snapshot that an export reads: on a replica if it catches up with all earlier commits within a time limit,
 * and otherwise on the primary.
 */
export const connect = async (
  { primary, replica }: Connections,
  { note, timeoutMs = replicaTimeoutMs, settings = {} }: Options,
): Promise<Snapshot> => {
  if (replica) {
    const position = await logPosition(primary, applicationName)
    try {
      const snapshot = await openSnapshot(replica, { applicationName, settings, wait: { position, timeoutMs } })
      note(snapshot ? 'the export reads the replica' : 'the replica is too far behind; the export reads the primary')
      if (snapshot) return snapshot
    } catch (error) {
      note(
        `the replica cannot be read (${error instanceof Error ? error.message : error}); the export reads the primary`,
      )
    }
  }
  const snapshot = await openSnapshot(primary, { applicationName, settings })
  if (!snapshot) throw new Error('Opening the primary returned no snapshot')
  return snapshot
}
