import type { Db, OrgId } from '../../platform/db/database.ts'
import { readState } from './merge.ts'
import { loadState } from './patch.ts'
import { getIngestSettings } from './queries.ts'
import { type IngestDeps, storeSlots } from './store.ts'
import { prepare } from './tasks.ts'

/** A transcript that a model created from the recording. */
export type MadeTranscript = { content: object; transcribedBy: string }

/**
 * Stores a transcript that was created from the recording, and everything that depends on it. Returns whether it was
 * stored. It never replaces a transcript that was sent.
 */
export const storeTranscription = async (
  deps: IngestDeps,
  trx: Db,
  org: OrgId,
  id: string,
  { content, transcribedBy }: MadeTranscript,
): Promise<boolean> => {
  const { redacts } = await getIngestSettings(trx, org)
  const before = await loadState(trx, org, id)
  if (!before || (before.transcript && before.transcript.transcribedBy === null)) return false
  const { startedAt } = before
  const given = { transcript: content, metadata: {}, metrics: [], startedAt, provider: 'turns' }
  const { transcript } = await prepare(deps.threads, org, given, redacts)
  if (!transcript) return false
  const state = { ...before, transcript: { ...readState(transcript), transcribedBy } }
  await storeSlots(deps, trx, org, [{ before, state, metrics: [], recordingUrl: null }])
  return true
}
