import { batchesOfSize } from '../../platform/batches.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { type MeasuredSignals, signalsOf } from '../../transcripts/signals/compute.ts'
import { noSignals } from '../../transcripts/signals/signals.ts'
import { tombstoneHash } from '../erasure/tombstone.ts'
import { upsertMetrics } from '../metrics/queries.ts'
import { fetchRecording } from '../recordings/jobs.ts'
import { insertPendingRecordings, updateRecordingStates } from '../recordings/queries.ts'
import { Overtaken } from './attempts.ts'
import type { Incoming } from './incoming.ts'
import { type ConversationState, isSame } from './merge.ts'
import {
  type ConversationRow,
  findTombstones,
  insertConversations,
  listTranscriptContents,
  type TranscriptRow,
  updateConversations,
  upsertTranscripts,
} from './queries.ts'
import { measureContent } from './tasks.ts'

export type IngestDeps = Pick<Deps, 'database' | 'db' | 'jobs' | 'clock' | 'config' | 'threads' | 'reactions'>

/** A locked conversation before and after the change. */
export type Slot = {
  before: ConversationState | null
  state: ConversationState
  metrics: Incoming['metrics']
  recordingUrl: string | null
}

const isTranscriptNew = ({ before, state }: Slot): boolean =>
  state.transcript !== null && state.transcript.hash !== before?.transcript?.hash

const needsSignals = (slot: Slot): boolean =>
  slot.before === null || isTranscriptNew(slot) || slot.before.durationSeconds !== slot.state.durationSeconds

/** Reads stored transcripts again to measure them. */
const measureStored = async ({ threads }: IngestDeps, trx: Db, org: OrgId, slots: Slot[]) => {
  const measured = new Map<string, MeasuredSignals | null>()
  const stored = slots.filter(({ state }) => state.transcript?.format && !state.transcript.fresh)
  if (stored.length === 0) return measured
  const startedAt = new Map(stored.map(({ state }) => [state.id, state.startedAt]))
  const rows = await listTranscriptContents(trx, org, [...startedAt.keys()])
  for (const { conversationId, content, format } of rows) {
    const began = startedAt.get(conversationId)
    const hints = { ...(format && { provider: format }), ...(began && { startedAt: began }) }
    measured.set(conversationId, await measureContent(threads, org, content, hints))
  }
  return measured
}

/**
 * Returns the rows to write. Signals are recomputed if the turns or the duration changed, because they depend on both.
 */
const rowsOf = async (deps: IngestDeps, trx: Db, org: OrgId, slots: Slot[]): Promise<ConversationRow[]> => {
  const stored = await measureStored(deps, trx, org, slots.filter(needsSignals))
  return slots.map((slot): ConversationRow => {
    const { transcript, signals, ...state } = slot.state
    const isPending = slot.before === null && slot.recordingUrl !== null
    const row = { ...state, recordingStatus: isPending ? ('pending' as const) : null }
    if (!needsSignals(slot)) return { ...row, signals: signals ?? noSignals }
    const measured = transcript?.fresh ? transcript.fresh.measured : stored.get(row.id)
    if (!measured) return { ...row, signals: noSignals }
    const durationMs = row.durationSeconds === null ? null : row.durationSeconds * 1_000
    return { ...row, signals: signalsOf(measured, durationMs) }
  })
}

const transcriptRow = ({ state }: Slot): TranscriptRow[] => {
  if (!state.transcript?.fresh) return []
  const { fresh, transcribedBy } = state.transcript
  const { measured: _, ...transcript } = fresh
  return [{ conversationId: state.id, ...transcript, transcribedBy }]
}

/** The maximum number of transcript characters in one statement. Indexing the words of longer text takes seconds. */
const statementLength = 2 * 1024 * 1024

const byExternalId = (a: ConversationRow, b: ConversationRow): number =>
  (a.externalId ?? '') < (b.externalId ?? '') ? -1 : 1

const storeConversations = async (deps: IngestDeps, trx: Db, org: OrgId, slots: Slot[]): Promise<void> => {
  const rows = await rowsOf(deps, trx, org, slots)
  const isNew = new Set(slots.filter(({ before }) => before === null).map(({ state }) => state.id))
  const inserts = rows.filter(({ id }) => isNew.has(id)).sort(byExternalId)
  const updates = rows.filter(({ id }) => !isNew.has(id))
  if (inserts.length > 0) {
    const inserted = await insertConversations(trx, org, inserts)
    if (inserted < inserts.length) throw new Overtaken('Another request stored one of these conversations first')
    const hashes = inserts.flatMap(({ externalId }) => (externalId === null ? [] : tombstoneHash(org, externalId)))
    // Without this check, a conversation that was stored and erased after the lookup would come back.
    if ((await findTombstones(trx, org, hashes)).length > 0)
      throw new Overtaken('One of these conversations was erased in the meantime')
  }
  if (updates.length > 0) await updateConversations(trx, org, updates)
  const transcripts = slots.filter(isTranscriptNew).flatMap(transcriptRow)
  for (const some of batchesOfSize(transcripts, statementLength, ({ length }) => length)) {
    await upsertTranscripts(trx, org, some)
  }
}

const storeMetrics = async (trx: Db, org: OrgId, slots: Slot[]): Promise<string[]> => {
  const rows = slots.flatMap(({ state, metrics }) =>
    metrics.map(({ comment, ...metric }) => ({ conversationId: state.id, ...metric, comment: comment ?? null })),
  )
  return rows.length === 0 ? [] : upsertMetrics(trx, org, rows)
}

const storeRecordings = async ({ jobs }: IngestDeps, trx: Db, org: OrgId, slots: Slot[]): Promise<string[]> => {
  const rows = slots.flatMap(({ state, recordingUrl }) =>
    recordingUrl === null ? [] : [{ conversationId: state.id, sourceUrl: recordingUrl }],
  )
  if (rows.length === 0) return []
  const toFetch = await insertPendingRecordings(trx, org, rows)
  const isNew = new Set(slots.flatMap(({ before, state }) => (before === null ? state.id : [])))
  const others = toFetch.filter((id) => !isNew.has(id))
  await updateRecordingStates(trx, org, others, { status: 'pending' })
  await jobs.enqueueMany(
    trx,
    fetchRecording,
    toFetch.map((conversationId) => ({ organizationId: org, conversationId })),
  )
  return toFetch
}

const isToEvaluate = (slot: Slot): boolean =>
  slot.state.status === 'completed' && (slot.before?.status !== 'completed' || isTranscriptNew(slot))

/**
 * Writes the changes and everything that depends on them. Returns the conversations with changed metrics, and those
 * with changed recordings.
 */
export const storeSlots = async (deps: IngestDeps, trx: Db, org: OrgId, slots: Slot[]): Promise<Set<string>> => {
  const changed = slots.filter(({ before, state }) => before === null || !isSame(before, state))
  if (changed.length > 0) await storeConversations(deps, trx, org, changed)
  const measured = await storeMetrics(trx, org, slots)
  const recorded = await storeRecordings(deps, trx, org, slots)
  const idsOf = (some: Slot[]) => some.map(({ state }) => state.id)
  const toEvaluate = idsOf(changed.filter(isToEvaluate))
  const others = changed.filter((slot) => slot.state.status === 'completed' && !isToEvaluate(slot))
  const isMeasured = new Set(measured)
  const affected = slots.filter((slot) => changed.includes(slot) || isMeasured.has(slot.state.id))
  await deps.reactions.conversationsStored(trx, org, {
    conversationIds: idsOf(changed),
    conversations: affected.map(({ state }) => state),
    createdIds: idsOf(changed.filter(({ before }) => before === null)),
    toEvaluate,
    measured: measured.filter((id) => !toEvaluate.includes(id)),
    changedOtherwise: idsOf(others),
  })
  return new Set([...measured, ...recorded])
}
