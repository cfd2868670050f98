import type { Static } from 'typebox'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { type ApiError, invalidAll, notFound } from '../../platform/errors.ts'
import { getConversation } from '../queries.ts'
import type { ConversationUpdate } from '../schema.ts'
import { tryTransaction } from './attempts.ts'
import { metadataIssues, recordingUrlIssue, timeIssues } from './from-body.ts'
import { type ConversationState, readState, secondsBetween } from './merge.ts'
import { getIngestSettings, listTranscriptStates, lockConversation } from './queries.ts'
import { resolveReferences } from './references.ts'
import { type IngestDeps, type Slot, storeSlots } from './store.ts'
import { type Prepared, prepare } from './tasks.ts'
import type { GivenTranscript } from './transcript.ts'

type Change = Static<typeof ConversationUpdate>

/** Locks a conversation. Returns undefined if there is none. */
export const loadState = async (trx: Db, org: OrgId, id: string): Promise<ConversationState | undefined> => {
  const row = await lockConversation(trx, org, id)
  if (!row) return undefined
  const [transcript] = await listTranscriptStates(trx, org, [row.id])
  return { ...row, transcript: transcript ?? null }
}

const instantOr = (told: string | null | undefined, present: Date | null): Date | null =>
  told === undefined ? present : told === null ? null : new Date(told)

const metadataOf = (
  present: ConversationState['metadata'],
  told: ConversationState['metadata'] = {},
): ConversationState['metadata'] =>
  Object.fromEntries(Object.entries({ ...present, ...told }).filter(([, value]) => value !== null))

const durationOf = (state: ConversationState, change: Change, endedAt: Date | null): number | null => {
  if (change.durationSeconds !== undefined) return change.durationSeconds
  return change.endedAt === undefined ? state.durationSeconds : secondsBetween(state.startedAt, endedAt)
}

const changed = (state: ConversationState, change: Change, transcript: GivenTranscript | null): ConversationState => {
  const { agentVersionId, companyId, channel, direction, status, endReason, customerId } = change
  const endedAt = instantOr(change.endedAt, state.endedAt)
  return {
    ...state,
    ...(agentVersionId !== undefined && { agentVersionId }),
    ...(companyId !== undefined && { companyId }),
    ...(channel !== undefined && { channel }),
    ...(direction !== undefined && { direction }),
    ...(status !== undefined && { status }),
    ...(endReason !== undefined && { endReason }),
    ...(customerId !== undefined && { customerId }),
    endedAt,
    durationSeconds: durationOf(state, change, endedAt),
    metadata: metadataOf(state.metadata, change.metadata),
    // The given transcript replaces the stored one even if it has fewer turns.
    ...(transcript && transcript.hash !== state.transcript?.hash && { transcript: readState(transcript) }),
  }
}

type PreparedChange = Pick<Prepared, 'transcript' | 'metadata'> & { startedAt: Date; redacts: boolean }

const prepareChange = async (
  { threads }: IngestDeps,
  org: OrgId,
  { transcript, metadata }: Change,
  { startedAt, redacts }: Pick<PreparedChange, 'startedAt' | 'redacts'>,
): Promise<PreparedChange> => {
  const given = { transcript: transcript ?? null, metadata: metadata ?? {}, metrics: [], startedAt }
  return { ...(await prepare(threads, org, given, redacts)), startedAt, redacts }
}

const changeOnce = async (
  deps: IngestDeps,
  trx: Db,
  org: OrgId,
  { id, given, prepared }: { id: string; given: Change; prepared: PreparedChange },
): Promise<void> => {
  const { redacts } = await getIngestSettings(trx, org)
  const before = await loadState(trx, org, id)
  if (!before) throw notFound()
  const { startedAt } = before
  const isCurrent = redacts === prepared.redacts && Number(startedAt) === Number(prepared.startedAt)
  const current = isCurrent ? prepared : await prepareChange(deps, org, given, { startedAt, redacts })
  const { transcript: _, metadata, ...rest } = given
  const change: Change = { ...rest, ...(metadata && { metadata: current.metadata }) }
  const state = changed(before, change, current.transcript)
  const { agentVersionId, companyId, recordingUrl } = change
  const issues = [
    ...timeIssues(state.startedAt, state.endedAt),
    ...(change.metadata ? metadataIssues(state.metadata, deps.config.limits.metadataBytes) : []),
    ...recordingUrlIssue(recordingUrl),
  ]
  if (issues.length > 0) throw invalidAll(issues)
  const [references] = await resolveReferences(trx, org, [
    {
      agent: { id: before.agentId },
      version: agentVersionId ? { id: agentVersionId } : null,
      companyId: companyId ?? null,
    },
  ])
  if (references instanceof Error) throw references satisfies ApiError
  const keptUrl = references?.keepsRecordings ? recordingUrl : undefined
  const slot: Slot = { before, state, metrics: [], recordingUrl: keptUrl ?? null }
  await storeSlots(deps, trx, org, [slot])
}

/** Changes a conversation and triggers everything that depends on it, in one transaction with the caller's writes. */
export const changeConversation = async <T>(
  deps: IngestDeps,
  org: OrgId,
  id: string,
  given: Change,
  also: (trx: Db) => Promise<T>,
): Promise<T> => {
  // This runs before the transaction, so that neither a connection nor a lock is held while waiting for a thread.
  const { redacts } = await getIngestSettings(deps.db, org)
  const { startedAt } = await getConversation(deps.db, org, id)
  const prepared = await prepareChange(deps, org, given, { startedAt, redacts })
  return tryTransaction(deps.db, async (trx) => {
    await changeOnce(deps, trx, org, { id, given, prepared })
    return also(trx)
  })
}
