import type { Resolved } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'

type Started = { conversationIds: string[]; runId: string }
type RunTranscriptions = { runId: string; pending: number; completed: number; failed: number; cost: number }

/**
 * Runs also transcribe recordings. Models and transcriptions are on a higher floor, so the functions are passed in:
 * `whyNothingIsTranscribed` returns undefined if there is a model, and `cancelTranscriptions` returns how many it cancelled.
 */
export type SoundDeps = Deps & {
  whyNothingIsTranscribed: (db: Db, org: OrgId) => Promise<string | undefined>
  startTranscriptions: (deps: Pick<Deps, 'jobs' | 'clock'>, trx: Db, org: OrgId, started: Started) => Promise<number>
  cancelTranscriptions: (trx: Db, org: OrgId, runId: string) => Promise<number>
  countOfRuns: (db: Db, org: OrgId, runIds: string[]) => Promise<RunTranscriptions[]>
  estimateTranscriptions: (
    db: Db,
    org: OrgId,
    filter: Resolved,
  ) => Promise<{ recordings: number; minutes: number; cost: number | null }>
}
