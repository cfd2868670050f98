import { getIngestSettings } from '../conversations/ingest/queries.ts'
import { redact } from '../conversations/redaction.ts'
import { isCall } from '../conversations/transcripts/provider-calls/call.ts'
import { type Provider, readCall } from '../conversations/transcripts/provider-calls/read-call.ts'
import type { Deps } from '../deps.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Parsed } from './payload.ts'

/** Whether a replay of the redacted payload would reach the same conversation. */
const isSameCall = (provider: Provider, value: unknown, redacted: unknown): boolean => {
  const [told, tells] = [readCall(provider, value), readCall(provider, redacted)]
  if (!isCall(told) || !isCall(tells)) return isCall(told) === isCall(tells)
  return told.externalId === tells.externalId && told.agentExternalId === tells.agentExternalId
}

/** The bytes to keep: as they came, or without what the organization has redacted; none where that cannot be told. */
export const keepable = async (
  deps: Deps,
  { org, provider }: { org: OrgId; provider: Provider },
  bytes: Buffer,
  parsed: Parsed,
) => {
  if (!(await getIngestSettings(deps.db, org)).redacts) return bytes
  if ('unreadable' in parsed) return null
  const redacted = redact(parsed.value)
  return isSameCall(provider, parsed.value, redacted) ? Buffer.from(JSON.stringify(redacted)) : null
}
