import { hash } from 'node:crypto'
import Type from 'typebox'
import type { Incoming } from '../../conversations/ingest/incoming.ts'
import { ingestConversations } from '../../conversations/ingest/ingest.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { defineCleanup } from '../../platform/jobs/define-cleanup.ts'
import { defineJob, type Job, OrganizationId } from '../../platform/jobs/define-job.ts'
import { conversationOf, isWhole, ownSpans } from './conversation.ts'
import {
  clearUnread,
  deleteSpans,
  findLastArrival,
  findStoredFacts,
  listConversationKeys,
  listSpans,
  listTracesOf,
  markUnread,
  oldSpans,
} from './queries.ts'

/**
 * A conversation is complete after this time without new spans. The root of a trace ends last, so more spans are
 * expected while it is missing.
 */
const quietMs = { whole: 60_000, partial: 10 * 60_000 }
const mostSpans = 10_000

type Payload = { organizationId: string; traceId: string; group: string }

/**
 * Identifies a conversation's waiting job by a hash. Jobs are stored longer than their data, so they must not contain
 * the conversation's ID.
 */
const hashOf = (org: OrgId, group: string) => hash('sha256', `${org}\n${group}`, 'base64url')

/** Queues the creation of conversations from these traces, in the transaction that stores the spans. */
export const enqueueAssembly = async (
  { jobs }: Pick<Deps, 'jobs'>,
  trx: Db,
  org: OrgId,
  traceIds: string[],
): Promise<void> => {
  const named = await listConversationKeys(trx, org, traceIds)
  const groups = new Map(named.map(({ key, traceId }) => [key, traceId]))
  const namedTraces = new Set(named.map(({ traceId }) => traceId))
  for (const traceId of traceIds) if (!namedTraces.has(traceId)) groups.set(traceId, traceId)
  const afterSeconds = quietMs.whole / 1_000
  // The jobs are enqueued in a fixed order, so that two requests never deadlock.
  for (const [key, traceId] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const group = hashOf(org, key)
    await jobs.enqueue(
      trx,
      assembleJob(),
      { organizationId: org, traceId, group },
      { singletonKey: group, afterSeconds },
    )
  }
}

/** Keeps the values that were stored first. A late span may start earlier, or be the first one that names the agent. */
const asStored = (incoming: Incoming, stored: Awaited<ReturnType<typeof findStoredFacts>>): Incoming => {
  if (!stored) return incoming
  const { agentId, startedAt, endedAt } = stored
  const isLater = endedAt !== null && incoming.endedAt !== null && endedAt > incoming.endedAt
  const end = isLater ? endedAt : incoming.endedAt
  return { ...incoming, agent: { id: agentId }, startedAt, endedAt: end !== null && end >= startedAt ? end : null }
}

/** Creates a conversation from its spans, or returns the number of seconds until the next check. */
const assembleOne = async (deps: Deps, org: OrgId, key: string, traceIds: string[]): Promise<number | undefined> => {
  const { db, clock, config, log } = deps
  const arrivedAt = await findLastArrival(db, org, traceIds)
  if (arrivedAt === null) return undefined
  // The spans may have been stored by a process with a fast clock.
  const quietForMs = Math.max(0, clock.now().getTime() - arrivedAt.getTime())
  if (quietForMs < quietMs.whole) return (quietMs.whole - quietForMs) / 1_000
  const bounds = { count: mostSpans, bytes: config.limits.documentBytes }
  const spans = ownSpans(await listSpans(db, org, traceIds, bounds), key)
  if (quietForMs < quietMs.partial && !isWhole(spans)) return (quietMs.partial - quietForMs) / 1_000
  const assembled = conversationOf(key, spans)
  if (!assembled) return undefined
  const { conversation, unread } = assembled
  if (unread !== undefined) await markUnread(db, org, key, unread, spans)
  const stored = await findStoredFacts(db, org, key)
  // Without turns, there is nothing to store, unless another source has sent the conversation.
  if (unread !== undefined && !stored) return undefined
  await ingestConversations(deps, org, [asStored(conversation, stored)], async (trx, [outcome]) => {
    if (unread === undefined) await clearUnread(trx, org, key)
    if (outcome?.status === 'erased') await deleteSpans(trx, org, spans)
    if (outcome?.status === 'rejected') {
      log.warn({ organizationId: org, reason: outcome.error.message }, 'storing a conversation from traces failed')
    }
  })
  return undefined
}

/** Creates the conversation that the trace's spans refer to, or the conversation that consists of the trace itself. */
export const assembleConversations = defineJob({
  name: 'otel.assemble',
  payload: Type.Object({ organizationId: OrganizationId, traceId: Type.String(), group: Type.String() }),
  run: async (deps: Deps, payload, attempt) => {
    const org = payload.organizationId
    const named = await listConversationKeys(deps.db, org, [payload.traceId])
    const keys = named.length > 0 ? named.map(({ key }) => key) : [payload.traceId]
    const key = keys.find((one) => hashOf(org, one) === payload.group)
    // Later spans changed which conversation the trace belongs to. That conversation has its own job.
    if (key === undefined) return
    const traceIds = named.length > 0 ? await listTracesOf(deps.db, org, key) : [payload.traceId]
    const afterSeconds = await assembleOne(deps, org, key, traceIds)
    if (afterSeconds === undefined) return
    await attempt.finish(async (trx) => {
      await deps.jobs.enqueue(trx, assembleJob(), payload, { singletonKey: payload.group, afterSeconds })
    })
  },
})

/** Returns the job with an explicit type, which TypeScript can't infer because the job enqueues itself. */
const assembleJob = (): Job<Deps, Payload> => assembleConversations

/** Deletes the spans of completed conversations. */
export const sweepSpans = defineCleanup({
  name: 'otel.sweep-spans',
  schedule: '50 * * * *',
  rows: { spans: oldSpans },
})
