import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { ApiError, invalid } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { mapWithPauses } from '../../platform/map-with-pauses.ts'
import { tombstoneHash } from '../erasure/tombstone.ts'
import { maxKeys } from '../metrics/metric.ts'
import { listMetricKeys } from '../metrics/queries.ts'
import { tryTransaction } from './attempts.ts'
import { metadataIssues } from './from-body.ts'
import type { Incoming, IngestOutcome } from './incoming.ts'
import {
  begin,
  type ConversationPart,
  type ConversationState,
  contradiction,
  contradictionOf,
  isSame,
  merge,
} from './merge.ts'
import { findTombstones, getIngestSettings, listTranscriptStates, lockConversationsByExternalId } from './queries.ts'
import { type References, resolveReferences } from './references.ts'
import { type IngestDeps, type Slot, storeSlots } from './store.ts'
import { type Prepared, prepare } from './tasks.ts'

/** A conversation with a parsed transcript, or the reason why it can't be stored. */
type PreparedItem = Omit<Incoming, 'transcript'> & Pick<Prepared, 'transcript'> & { fault?: ApiError }

/** The number of conversations that are prepared at once. Several copies of each are in memory. */
const lanes = 8

type PreparedBatch = { items: PreparedItem[]; redacts: boolean }

const prepareAll = async (
  { threads }: IngestDeps,
  org: OrgId,
  given: Incoming[],
  redacts: boolean,
): Promise<PreparedBatch> => {
  const items: PreparedItem[] = new Array(given.length)
  const prepareOne = async (item: Incoming): Promise<PreparedItem> => {
    try {
      return { ...item, ...(await prepare(threads, org, item, redacts)) }
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind === 'unavailable') throw error
      return { ...item, transcript: null, fault: error }
    }
  }
  let next = 0
  const work = async () => {
    let since = performance.now()
    while (next < given.length) {
      const index = next++
      items[index] = await prepareOne(given[index] as Incoming) // The loop ends after the last index.
      if (performance.now() - since < 10) continue
      await setImmediate()
      since = performance.now()
    }
  }
  await Promise.all(Array.from({ length: lanes }, work))
  return { items, redacts }
}

/** Locks the stored conversations in a batch, and finds the external IDs that were erased. */
const findPresent = async (trx: Db, org: OrgId, externalIds: string[]) => {
  if (externalIds.length === 0) return { slots: new Map<string, Slot>(), erased: new Set<string>() }
  const rows = await lockConversationsByExternalId(trx, org, externalIds)
  const ids = rows.map(({ id }) => id)
  const transcripts = new Map(
    ids.length === 0
      ? []
      : (await listTranscriptStates(trx, org, ids)).map(({ conversationId, ...state }) => [conversationId, state]),
  )
  const slots = new Map<string, Slot>()
  for (const row of rows) {
    const state: ConversationState = { ...row, transcript: transcripts.get(row.id) ?? null }
    if (row.externalId !== null) slots.set(row.externalId, { before: state, state, metrics: [], recordingUrl: null })
  }
  const hashes = new Map(externalIds.map((externalId) => [tombstoneHash(org, externalId), externalId]))
  const found = await findTombstones(trx, org, [...hashes.keys()])
  return { slots, erased: new Set(found.flatMap(({ hash }) => hashes.get(hash) ?? [])) }
}

const partOf = (item: PreparedItem, { keepsRecordings: _, ...references }: References): ConversationPart => {
  return {
    ...references,
    externalId: item.externalId,
    companyId: item.companyId?.toLowerCase() ?? null,
    channel: item.channel,
    direction: item.direction,
    status: item.status,
    startedAt: item.startedAt,
    endedAt: item.endedAt,
    durationSeconds: item.durationSeconds,
    endReason: item.endReason,
    customerId: item.customerId,
    metadata: item.metadata,
    transcript: item.transcript,
  }
}

/** Merges a part into its slot. Returns an error if the part is invalid. */
const applyPart = (slot: Slot | undefined, part: ConversationPart, metadataBytes: number): Slot | ApiError => {
  const contradicted = slot && contradiction(slot.state, part)
  if (contradicted) return contradicted
  const state = slot ? merge(slot.state, part) : begin(newId(), part)
  const [issue] = slot ? metadataIssues(state.metadata, metadataBytes) : []
  // Redaction can make stored values longer than requests allow, so unchanged values are not checked.
  if (issue && !isDeepStrictEqual(state.metadata, slot?.state.metadata)) {
    return invalid('metadata', `${issue.message} after merging with the stored conversation`)
  }
  return slot ? { ...slot, state } : { before: null, state, metrics: [], recordingUrl: null }
}

/** Returns an error if the parts of a conversation together would have too many metrics. */
const tooManyMetrics = (
  slot: Slot | undefined,
  { metrics }: Pick<Incoming, 'metrics'>,
  stored: MetricKeys,
): ApiError | undefined => {
  if (metrics.length === 0) return undefined
  const known = slot ? [...(stored.get(slot.state.id) ?? []), ...slot.metrics.map(({ key }) => key)] : []
  const keys = new Set([...known, ...metrics.map(({ key }) => key)])
  return keys.size > maxKeys
    ? invalid('metrics', `must have at most ${maxKeys} keys, including the stored ones`)
    : undefined
}

type MetricKeys = Map<string, string[]>

/** Finds the metric keys of stored conversations that receive additional metrics. */
const findMetricKeys = async (
  trx: Db,
  org: OrgId,
  items: PreparedItem[],
  slots: Map<string, Slot>,
): Promise<MetricKeys> => {
  const ids = items.flatMap(
    ({ metrics, externalId }) => (metrics.length > 0 && slots.get(externalId ?? '')?.state.id) || [],
  )
  if (ids.length === 0) return new Map()
  return new Map((await listMetricKeys(trx, org, ids)).map(({ conversationId, keys }) => [conversationId, keys]))
}

/**
 * Returns a clearer error for a missing agent that was not created because the conversation already belongs to another
 * one.
 */
const anotherAgent = ({ state }: Slot, { agent }: PreparedItem, error: ApiError): ApiError | undefined =>
  'make' in agent && error.details?.issues?.[0]?.path === 'agentExternalId'
    ? contradictionOf(state, ['agent'])
    : undefined

const statusOf = (slot: Slot | undefined, next: Slot) => {
  if (slot === undefined) return 'created'
  return isSame(slot.state, next.state) ? 'unchanged' : 'updated'
}

/**
 * Returns whether the item has metrics or a recording that no earlier item has. Only the database can tell which of
 * them are new.
 */
const bringsMore = (slot: Slot, { metrics, recordingUrl }: PreparedItem): boolean =>
  (recordingUrl !== null && recordingUrl !== slot.recordingUrl) ||
  metrics.some((metric) => !slot.metrics.some((known) => isDeepStrictEqual(known, metric)))

const maxRemembered = 10_000
/**
 * Whether each organization redacted its last batch. The transaction checks this value, and prepares the batch again if
 * the setting has changed.
 */
const lastRedacts = new Map<OrgId, boolean>()

const rememberRedacts = (org: OrgId, redacts: boolean): void => {
  if (lastRedacts.size >= maxRemembered) lastRedacts.clear()
  lastRedacts.set(org, redacts)
}

type AfterIngest = (trx: Db, outcomes: IngestOutcome[]) => Promise<void>

const ingestOnce = async (
  deps: IngestDeps,
  trx: Db,
  org: OrgId,
  given: Incoming[],
  prepared: PreparedBatch,
  also?: AfterIngest,
): Promise<IngestOutcome[]> => {
  const settings = await getIngestSettings(trx, org)
  rememberRedacts(org, settings.redacts)
  const isCurrent = settings.redacts === prepared.redacts
  const { items } = isCurrent ? prepared : await prepareAll(deps, org, given, settings.redacts)
  const externalIds = [...new Set(items.flatMap(({ externalId }) => externalId ?? []))]
  const { slots, erased } = await findPresent(trx, org, externalIds)

  const isErased = ({ externalId }: PreparedItem) => externalId !== null && erased.has(externalId)
  const valid = items.filter((item) => !item.fault && !isErased(item))
  // If the conversation is already stored, its agent can't change, so a missing agent is not created.
  const toResolve = valid.map((item) => {
    if ('id' in item.agent || item.externalId === null || !slots.has(item.externalId)) return item
    return { ...item, agent: { externalId: item.agent.externalId } }
  })
  const resolved = await resolveReferences(trx, org, toResolve)
  const references = new Map(valid.map((item, index) => [item, resolved[index]]))

  const metricKeys = await findMetricKeys(trx, org, valid, slots)
  const touched = new Set<Slot>()
  const mayBeNews = new Set<IngestOutcome>()
  const changeSlot = (slot: Slot | undefined, next: Slot, item: PreparedItem): IngestOutcome => {
    const status = statusOf(slot, next)
    const target = slot ?? next
    const more = bringsMore(target, item)
    target.state = next.state
    if (settings.metrics) target.metrics = [...target.metrics, ...item.metrics]
    target.recordingUrl = item.recordingUrl ?? target.recordingUrl
    if (item.externalId !== null) slots.set(item.externalId, target)
    touched.add(target)
    const outcome: IngestOutcome = { status, id: target.state.id }
    if (more && status === 'unchanged') mayBeNews.add(outcome)
    return outcome
  }
  const take = (item: PreparedItem): IngestOutcome => {
    if (item.fault) return { status: 'rejected', error: item.fault }
    const found = references.get(item)
    if (found === undefined) return { status: 'erased' }
    const slot = item.externalId === null ? undefined : slots.get(item.externalId)
    if (found instanceof ApiError)
      return { status: 'rejected', error: (slot && anotherAgent(slot, item, found)) ?? found }
    const next =
      tooManyMetrics(slot, item, metricKeys) ?? applyPart(slot, partOf(item, found), deps.config.limits.metadataBytes)
    if (next instanceof ApiError) return { status: 'rejected', error: next }
    return changeSlot(slot, next, found.keepsRecordings ? item : { ...item, recordingUrl: null })
  }
  const outcomes = await mapWithPauses(items, take)

  const withNews = await storeSlots(deps, trx, org, [...touched])
  for (const outcome of mayBeNews) {
    if (outcome.status === 'unchanged' && withNews.has(outcome.id)) outcome.status = 'updated'
  }
  await also?.(trx, outcomes)
  return outcomes
}

/**
 * Stores conversations. No other code writes to their tables. The whole batch is one transaction, together with
 * everything that it triggers: evaluations, downloads of recordings, and the caller's writes.
 */
export const ingestConversations = async (
  deps: IngestDeps,
  org: OrgId,
  given: Incoming[],
  also?: AfterIngest,
): Promise<IngestOutcome[]> => {
  const near = deps.database.dbOf(org)
  // This runs before the transaction, so that no connection is occupied while waiting for a thread.
  const redacts = lastRedacts.get(org) ?? (await getIngestSettings(near, org)).redacts
  const prepared = await prepareAll(deps, org, given, redacts)
  return tryTransaction(near, (trx) => ingestOnce(deps, trx, org, given, prepared, also))
}
