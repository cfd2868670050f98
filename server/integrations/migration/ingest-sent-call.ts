import { hash } from 'node:crypto'
import { findAgents } from '../../agents/queries.ts'
import { erasedError, metricsRefusal } from '../../conversations/ingest/batch.ts'
import { ingestConversations } from '../../conversations/ingest/ingest.ts'
import { getConversation } from '../../conversations/queries.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import type { Actor } from '../../platform/identity/actor.ts'
import type { JsonObject } from '../../transcripts/json.ts'
import { listStoredCalls } from '../calls/queries.ts'
import { toIncoming } from '../incoming.ts'
import type { SentCall } from './sent-call.ts'

export type Platform = { id: string; name: string }

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Finds the agent. If the ID belongs to one of the organization's agents, it refers to that agent. All other IDs are
 * external IDs.
 */
const agentOf = async ({ db }: Deps, { org }: Actor, named: string | null) => {
  if (named === null || !uuid.test(named)) return { agentExternalId: named, settings: {} }
  const [agent] = await findAgents(db, org, { ids: [named], externalIds: [] })
  return agent ? { agentExternalId: null, settings: { agentId: agent.id } } : { agentExternalId: named, settings: {} }
}

/** Returns the call's ID. If there is none, derives it from the content, so that a retry gets the same ID. */
const externalIdOf = ({ id }: Platform, { externalId }: SentCall, body: JsonObject): string =>
  externalId ?? `${id}:${hash('sha256', JSON.stringify(body))}`

/** Stores a call from another platform's client, as `POST /v1/conversations` does. */
export const takeIn = async (deps: Deps, actor: Actor, platform: Platform, sent: SentCall, body: JsonObject) => {
  const { format, ...call } = sent
  const externalId = externalIdOf(platform, sent, body)
  const { agentExternalId, settings } = await agentOf(deps, actor, call.agentExternalId)
  const [stored] = call.startedAt ? [] : await listStoredCalls(deps.db, actor.org, [externalId])
  const now = deps.clock.now()
  const incoming = toIncoming(
    { ...call, externalId, agentExternalId, startedAt: call.startedAt ?? stored?.startedAt ?? now },
    { ...platform, provider: format, settings },
    { now, metadataBytes: deps.config.limits.metadataBytes },
  )
  if ('rejected' in incoming) throw new ApiError('invalid', `${incoming.rejected}.`)
  const refusal = metricsRefusal(actor, incoming)
  if (refusal) throw refusal
  // Errors are thrown inside the transaction, so that it is rolled back.
  let conversation: Awaited<ReturnType<typeof getConversation>> | undefined
  await ingestConversations(deps, actor.org, [incoming], async (trx, [told]) => {
    if (told?.status === 'rejected') throw told.error
    if (told === undefined || told.status === 'erased') throw erasedError()
    const verb = told.status === 'created' ? 'create' : 'complete'
    await recordAudit(trx, actor, `conversation.${verb}`, { type: 'conversation', id: told.id })
    conversation = await getConversation(trx, actor.org, told.id)
  })
  if (!conversation) throw erasedError()
  return conversation
}
