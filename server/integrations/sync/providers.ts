import { isObject } from '../../platform/is-object.ts'
import {
  at,
  idOf,
  instantOf,
  instantOfMs,
  type JsonObject,
  numberOf,
  objectOf,
  secondsToMs,
  textOf,
} from '../../transcripts/json.ts'
import type { Provider } from '../../transcripts/provider-calls/read-call.ts'
import { mostOnAPage } from './limits.ts'

/**
 * Describes how each provider lists its calls and returns a single call: what to request, and how to read the response.
 * All functions are pure.
 */

export type ProviderRequest = { method: 'GET' | 'POST'; path: string; body?: object }
export type SyncWindow = { from: Date; until: Date }
export type Listed = { externalId: string; beganAt: Date | null; endedAt: Date | null; isOver: boolean }
/** `next` is the cursor of the next page, or null on the last page. */
export type ListedPage = { calls: Listed[]; next: string | null }

export type CallApi = {
  baseUrl: string
  headers: (apiKey: string) => Record<string, string>
  list: (window: SyncWindow, cursor: string | null) => ProviderRequest
  /** Returns undefined if the response is not a list of calls or does not contain the next position. */
  readPage: (answer: unknown, cursor: string | null) => ListedPage | undefined
  detail: (externalId: string) => ProviderRequest
  /** Returns the call in the format of the provider's webhook. */
  payloadOf: (detail: JsonObject) => JsonObject
}

const query = (values: Record<string, string | number | null>): string =>
  new URLSearchParams(
    Object.entries(values).flatMap(([name, value]): [string, string][] =>
      value === null ? [] : [[name, String(value)]],
    ),
  ).toString()

const seconds = (instant: Date, round: (value: number) => number): number => round(instant.getTime() / 1_000)

const listIn = (given: unknown): unknown[] | undefined =>
  Array.isArray(given) && given.length <= mostOnAPage ? given : undefined

/**
 * Returns the next cursor. Returns undefined if there are more calls but no cursor, because stopping here would lose
 * them.
 */
const nextIn = (answer: unknown, cursorName: string): string | null | undefined => {
  const hasMore = at(answer, 'has_more')
  if (hasMore === false) return null
  return textOf(at(answer, cursorName)) ?? (hasMore === true ? undefined : null)
}

const callsOf = (list: unknown[], read: (entry: JsonObject) => Omit<Listed, 'externalId'>, id: string): Listed[] =>
  list.filter(isObject).flatMap((entry) => {
    const externalId = idOf(entry[id])
    return externalId === null ? [] : [{ externalId, ...read(entry) }]
  })

const bearer = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` })

const elevenlabs: CallApi = {
  baseUrl: 'https://api.elevenlabs.io',
  headers: (apiKey) => ({ 'xi-api-key': apiKey }),
  list: ({ from, until }, cursor) => {
    const after = seconds(from, Math.floor)
    const before = seconds(until, Math.ceil)
    const parameters = { page_size: 100, call_start_after_unix: after, call_start_before_unix: before, cursor }
    return { method: 'GET', path: `/v1/convai/conversations?${query(parameters)}` }
  },
  readPage: (answer) => {
    const list = listIn(at(answer, 'conversations'))
    const next = nextIn(answer, 'next_cursor')
    if (!list || next === undefined) return undefined
    const read = ({ start_time_unix_secs, call_duration_secs, status }: JsonObject) => {
      const beganAt = instantOfMs(secondsToMs(start_time_unix_secs))
      const durationMs = secondsToMs(call_duration_secs)
      const endedAt = beganAt && durationMs !== null ? new Date(beganAt.getTime() + durationMs) : null
      return { beganAt, endedAt, isOver: status === 'done' || status === 'failed' }
    }
    return { calls: callsOf(list, read, 'conversation_id'), next }
  },
  detail: (externalId) => ({ method: 'GET', path: `/v1/convai/conversations/${encodeURIComponent(externalId)}` }),
  payloadOf: (data) => ({ type: 'post_call_transcription', data }),
}

const retell: CallApi = {
  baseUrl: 'https://api.retellai.com',
  headers: bearer,
  list: ({ from, until }, cursor) => ({
    method: 'POST',
    path: '/v3/list-calls',
    body: {
      limit: 100,
      sort_order: 'ascending',
      filter_criteria: {
        start_timestamp: { lower_threshold: from.getTime(), upper_threshold: until.getTime() },
      },
      ...(cursor !== null && { pagination_key: cursor }),
    },
  }),
  readPage: (answer) => {
    const list = listIn(at(answer, 'items'))
    const next = nextIn(answer, 'pagination_key')
    if (!list || next === undefined) return undefined
    const read = ({ start_timestamp, end_timestamp, call_status }: JsonObject) => ({
      beganAt: instantOfMs(numberOf(start_timestamp)),
      endedAt: instantOfMs(numberOf(end_timestamp)),
      isOver: call_status === 'ended' || call_status === 'error' || call_status === 'not_connected',
    })
    return { calls: callsOf(list, read, 'call_id'), next }
  },
  detail: (externalId) => ({ method: 'GET', path: `/v2/get-call/${encodeURIComponent(externalId)}` }),
  payloadOf: (call) => {
    const isOver = call.call_status !== 'registered' && call.call_status !== 'ongoing'
    return { event: isOver ? 'call_analyzed' : 'call_started', call }
  },
}

/** The page is small, because each item contains the whole call with its messages. */
const vapiPageSize = 50

/** Returns the time at which the next page starts, and the calls at that time that were already listed. */
const openCursor = (cursor: string | null) => {
  const [instant = null, ...listed] = cursor?.split(' ') ?? []
  return { instant, listed }
}

const vapi: CallApi = {
  baseUrl: 'https://api.vapi.ai',
  headers: bearer,
  // Vapi lists the newest calls first and has no cursor, so each page ends at the time at which the previous page
  // started.
  list: ({ from, until }, cursor) => {
    const latest = openCursor(cursor).instant ?? until.toISOString()
    const parameters = { limit: vapiPageSize, createdAtGe: from.toISOString(), createdAtLe: latest }
    return { method: 'GET', path: `/call?${query(parameters)}` }
  },
  readPage: (answer, cursor) => {
    const list = listIn(answer)
    if (!list) return undefined
    const read = ({ createdAt, startedAt, endedAt, status }: JsonObject) => ({
      beganAt: instantOf(createdAt) ?? instantOf(startedAt),
      endedAt: instantOf(endedAt),
      isOver: status === 'ended',
    })
    const all = callsOf(list, read, 'id')
    const { instant, listed } = openCursor(cursor)
    const calls = all.filter(({ externalId }) => !listed.includes(externalId))
    const began = all.flatMap(({ beganAt }) => beganAt?.getTime() ?? [])
    if (list.length < vapiPageSize) return { calls, next: null }
    if (began.length === 0) return undefined
    const oldest = Math.min(...began)
    // More calls have the same time than a page can contain, so the remaining ones can't be requested.
    if (calls.length === 0) return { calls, next: new Date(oldest - 1).toISOString() }
    const known = all.filter(({ beganAt }) => beganAt?.getTime() === oldest).map(({ externalId }) => externalId)
    const before = instant === new Date(oldest).toISOString() ? listed : []
    return { calls, next: [new Date(oldest).toISOString(), ...new Set([...before, ...known])].join(' ') }
  },
  detail: (externalId) => ({ method: 'GET', path: `/call/${encodeURIComponent(externalId)}` }),
  payloadOf: (call) => {
    const { artifact, messages, transcript, recordingUrl, stereoRecordingUrl } = call
    const older = { messages, transcript, recordingUrl, stereoRecordingUrl }
    const copiedFields = ['startedAt', 'endedAt', 'endedReason', 'analysis', 'cost', 'assistant', 'customer']
    return {
      message: {
        ...Object.fromEntries(copiedFields.flatMap((name) => (call[name] === undefined ? [] : [[name, call[name]]]))),
        type: call.status === undefined || call.status === 'ended' ? 'end-of-call-report' : 'status-update',
        artifact: { ...older, ...objectOf(artifact) },
        call,
      },
    }
  },
}

const sources: Partial<Record<Provider, CallApi>> = { elevenlabs, retell, vapi }

/** Returns undefined for a provider that can't list calls. */
export const callSourceOf = (provider: Provider): CallApi | undefined => sources[provider]
