import { hash } from 'node:crypto'
import Type from 'typebox'
import type { Incoming } from '../../conversations/ingest/incoming.ts'
import { ingestConversations } from '../../conversations/ingest/ingest.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { defineCleanup } from '../../platform/jobs/define-cleanup.ts'
import { defineJob, type Job } from '../../platform/jobs/define-job.ts'
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

/** Nothing came for so long: it is over. Where a trace lacks its beginning, which ends last, more is to be expected. */
const quietMs = { whole: 60_000, partial: 10 * 60_000 }
const mostSpans = 10_000

type Payload = { organizationId: string; traceId: string; group: string }

/** One waiting job a conversation; jobs outlive what they are about, so its own id stands in them as a hash. */
const hashOf = (org: OrgId, group: string) => hash('sha256', `${org}\n${group}`, 'base64url')

/** Has the conversations of these traces made once they are quiet, in the transaction that stores their spans. */
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
  // In one order, so that two requests never wait for each other in a circle.
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

/** What came first stays: a late span may begin earlier, or be the first to name the agent. */
const asStored = (incoming: Incoming, stored: Awaited<ReturnType<typeof findStoredFacts>>): Incoming => {
  if (!stored) return incoming
  const { agentId, startedAt, endedAt } = stored
  const isLater = endedAt !== null && incoming.endedAt !== null && endedAt > incoming.endedAt
  const end = isLater ? endedAt : incoming.endedAt
  return { ...incoming, agent: { id: agentId }, startedAt, endedAt: end !== null && end >= startedAt ? end : null }
}

/** Makes a conversation of what is there, or answers in how many seconds to look again. */
const assembleOne = async (deps: Deps, org: OrgId, key: string, traceIds: string[]): Promise<number | undefined> => {
  const { db, clock, config, log } = deps
  const arrivedAt = await findLastArrival(db, org, traceIds)
  if (arrivedAt === null) return undefined
  // The clock of another process, which stored it, may be ahead of this one's.
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
  // Without turns there is nothing to store, except beside what another source stored.
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

/** A conversation that spans of the trace name, or that the trace itself is. */
export const assembleConversations = defineJob({
  name: 'otel.assemble',
  payload: Type.Object({ organizationId: Type.String(), traceId: Type.String(), group: Type.String() }),
  run: async (deps: Deps, payload, attempt) => {
    // The one who enqueued it wrote the id of an organization.
    const org = payload.organizationId as OrgId
    const named = await listConversationKeys(deps.db, org, [payload.traceId])
    const keys = named.length > 0 ? named.map(({ key }) => key) : [payload.traceId]
    const key = keys.find((one) => hashOf(org, one) === payload.group)
    // Spans that came since name another one, which has a job of its own.
    if (key === undefined) return
    const traceIds = named.length > 0 ? await listTracesOf(deps.db, org, key) : [payload.traceId]
    const afterSeconds = await assembleOne(deps, org, key, traceIds)
    if (afterSeconds === undefined) return
    await attempt.finish(async (trx) => {
      await deps.jobs.enqueue(trx, assembleJob(), payload, { singletonKey: payload.group, afterSeconds })
    })
  },
})

/** The job enqueues itself, which TypeScript cannot infer the type of otherwise. */
const assembleJob = (): Job<Deps, Payload> => assembleConversations

/** Spans of which nothing more is to be expected. */
export const sweepSpans = defineCleanup({
  name: 'otel.sweep-spans',
  schedule: '50 * * * *',
  rows: { spans: oldSpans },
})
