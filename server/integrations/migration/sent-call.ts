import { type Issue, invalid, invalidAll } from '../../platform/errors.ts'
import { isObject } from '../../platform/is-object.ts'
import { at, instantOf, type JsonObject, numberOf, textOf } from '../../transcripts/json.ts'
import type { ProviderCall } from '../../transcripts/provider-calls/call.ts'

/** A call from another platform's client. Null means unknown. The agent can have any ID that the sender uses. */
export type SentCall = Omit<ProviderCall, 'externalId' | 'startedAt'> & {
  externalId: string | null
  startedAt: Date | null
  /** The format to try first when reading the transcript. */
  format: string
}

export const emptySentCall: SentCall = {
  externalId: null,
  agentExternalId: null,
  agentName: null,
  versionLabel: null,
  systemPrompt: null,
  channel: 'call',
  direction: null,
  status: 'completed',
  startedAt: null,
  endedAt: null,
  durationSeconds: null,
  endReason: null,
  customerId: null,
  metadata: {},
  transcript: null,
  recordingUrl: null,
  metrics: [],
  format: 'turns',
}

export const directionIn = (value: unknown): SentCall['direction'] => {
  const said = typeof value === 'string' ? value.toLowerCase() : ''
  return said === 'inbound' || said === 'outbound' ? said : null
}

/** Parses a time. A time without an offset is in UTC, as on these platforms. */
export const instantIn = (body: JsonObject, name: string): Date | null => {
  const text = textOf(body[name])
  if (text === null) return null
  const written = text.trim().replace(' ', 'T')
  const instant = instantOf(/(Z|[+-]\d\d:?\d\d)$/i.test(written) ? written : `${written}Z`)
  if (!instant) throw invalid(name, 'must be an ISO 8601 time such as 2026-11-20T09:00:00Z')
  return instant
}

/** Returns the list, or null if it is empty, so that data that arrives later replaces it. */
export const filledList = (value: unknown): unknown[] | null =>
  Array.isArray(value) && value.length > 0 ? value : null

export const objectsIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Detects the channel: only calls have a recording or times. */
export const channelOf = (entries: JsonObject[], recordingUrl: string | null): SentCall['channel'] => {
  const isTimed = ['start_time', 'end_time', 'firstWordStart'].some((name) =>
    entries.some((entry) => numberOf(at(entry, name)) !== null),
  )
  return isTimed || recordingUrl !== null || entries.length === 0 ? 'call' : 'chat'
}

/** Returns the first URL of a recording. Throws if any URL is invalid. */
export const recordingIn = (body: JsonObject, ...names: string[]): string | null => {
  const given = names.flatMap((name) => {
    const text = textOf(body[name])
    return text === null ? [] : [{ name, text }]
  })
  const issues: Issue[] = given
    .filter(({ text }) => !/^https?:\/\//i.test(text) || !URL.canParse(text) || text.length > 8_192)
    .map(({ name }) => ({ path: name, message: 'must be an http or https URL' }))
  if (issues.length > 0) throw invalidAll(issues)
  return given[0]?.text ?? null
}

/** Throws if the body only has data in an unsupported format, which would otherwise be lost silently. */
export const refuseOnly = (body: JsonObject, names: string[], hasAny: boolean, instead: string): void => {
  const given = names.filter((name) => body[name] !== undefined && body[name] !== null)
  if (hasAny || given.length === 0) return
  throw invalidAll(given.map((path) => ({ path, message: `is not supported: send ${instead}` })))
}
