import type { Incoming, IngestOutcome } from '../conversations/ingest/incoming.ts'
import { ingestConversations } from '../conversations/ingest/ingest.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { Provider } from '../transcripts/provider-calls/read-call.ts'
import { attachWaiting } from './audio/waiting.ts'
import type { SettledDelivery } from './deliveries/status.ts'
import type { PayloadReading } from './read-payload.ts'
import type { IntegrationSettings } from './settings.ts'
import { isStreaming } from './verify-by-provider.ts'

export type Integration = { org: OrgId; id: string; provider: Provider; name: string; settings: IntegrationSettings }

/** Stores the outcome of a payload in the transaction that stores its content. */
export type Settle = (trx: Db, settled: SettledDelivery) => Promise<void>

const longestReason = 500

const settledAs = (status: SettledDelivery['status'], reason: string | null = null): SettledDelivery => ({
  status,
  reason: reason?.slice(0, longestReason).toWellFormed() ?? null,
  conversationId: null,
})

const settledOf = (outcome: IngestOutcome | undefined): SettledDelivery => {
  switch (outcome?.status) {
    case 'created':
    case 'updated':
      return { ...settledAs('applied'), conversationId: outcome.id }
    case 'unchanged':
      return { ...settledAs('unchanged'), conversationId: outcome.id }
    case 'rejected': {
      const { conversationId } = outcome.error.details ?? {}
      const told = typeof conversationId === 'string' ? { conversationId } : {}
      return { ...settledAs('rejected', outcome.error.message), ...told }
    }
    default:
      return settledAs('erased')
  }
}

/** Returns whether the same payload would fail again, because PostgreSQL can't store its content. */
const isLasting = (error: unknown): boolean => {
  if (error instanceof ApiError || !(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return /^(22|23|54)/.test(code) || error instanceof TypeError || error instanceof RangeError
}

const attachAudio = async (
  deps: Deps,
  trx: Db,
  { org, provider }: Integration,
  { externalId }: Incoming,
  outcome: IngestOutcome | undefined,
): Promise<void> => {
  if (!isStreaming(provider) || externalId === null || !outcome || !('id' in outcome)) return
  await attachWaiting(deps, trx, org, { externalId, conversationId: outcome.id })
}

/** Stores the content of a payload and the outcome of its delivery. */
export const applyPayload = async (
  deps: Deps,
  integration: Integration,
  reading: PayloadReading,
  settle: Settle,
): Promise<SettledDelivery> => {
  const finish = async (settled: SettledDelivery): Promise<SettledDelivery> => {
    await deps.db.transaction().execute((trx) => settle(trx, settled))
    return settled
  }
  // The payload is stored, so that a version that can read it can replay it. After an error response, the provider
  // might stop sending webhooks.
  const giveUp = (error: unknown) => {
    deps.log.error({ integrationId: integration.id, err: error }, 'applying a payload failed')
    return finish(
      settledAs('rejected', 'The service failed to process it. See its log, and replay the delivery later.'),
    )
  }
  if ('unreadable' in reading) return finish(settledAs('unreadable', reading.unreadable))
  if ('ignored' in reading) return finish(settledAs('ignored', reading.ignored))
  if ('rejected' in reading) return finish(settledAs('rejected', reading.rejected))
  if ('broken' in reading) return giveUp(reading.broken)
  try {
    let settled = settledAs('erased')
    await ingestConversations(deps, integration.org, [reading.incoming], async (trx, [outcome]) => {
      settled = settledOf(outcome)
      await attachAudio(deps, trx, integration, reading.incoming, outcome)
      await settle(trx, settled)
    })
    return settled
  } catch (error) {
    if (!isLasting(error)) throw error
    return giveUp(error)
  }
}
