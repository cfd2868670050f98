import { type Issue, invalid, invalidAll } from '../../platform/errors.ts'
import { isObject } from '../../platform/is-object.ts'
import { at, instantOf, type JsonObject, numberOf, textOf } from '../../transcripts/json.ts'
import type { ProviderCall } from '../../transcripts/provider-calls/call.ts'

/** A call as senders of other platforms tell it. What nobody told is null; the agent is named by any id of theirs. */
export type SentCall = Omit<ProviderCall, 'externalId' | 'startedAt'> & {
  externalId: string | null
  startedAt: Date | null
  /** The format to try first when the transcript is read. */
  format: string
}

export const nothingTold: SentCall = {
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

/** One without an offset is meant in UTC, as these platforms take it. */
export const instantIn = (body: JsonObject, name: string): Date | null => {
  const text = textOf(body[name])
  if (text === null) return null
  const written = text.trim().replace(' ', 'T')
  const instant = instantOf(/(Z|[+-]\d\d:?\d\d)$/i.test(written) ? written : `${written}Z`)
  if (!instant) throw invalid(name, 'must be an ISO 8601 time such as 2026-11-20T09:00:00Z')
  return instant
}

/** Null where there is nothing in it: then it is what comes later that counts. */
export const filledList = (value: unknown): unknown[] | null =>
  Array.isArray(value) && value.length > 0 ? value : null

export const objectsIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** What is written has neither sound nor times. */
export const channelOf = (entries: JsonObject[], recordingUrl: string | null): SentCall['channel'] => {
  const isTimed = ['start_time', 'end_time', 'firstWordStart'].some((name) =>
    entries.some((entry) => numberOf(at(entry, name)) !== null),
  )
  return isTimed || recordingUrl !== null || entries.length === 0 ? 'call' : 'chat'
}

/** The first address given; one that is none is a fault of the request. */
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

/** What is sent only in a way that is not taken here must not be lost in silence. */
export const refuseOnly = (body: JsonObject, names: string[], hasAny: boolean, instead: string): void => {
  const given = names.filter((name) => body[name] !== undefined && body[name] !== null)
  if (hasAny || given.length === 0) return
  throw invalidAll(given.map((path) => ({ path, message: `is not supported: send ${instead}` })))
}
