// Starts fake providers: small servers that list and return calls, each in the provider's own format.
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { serve } from '../../outside.ts'
import { sample } from '../../samples/ingest/sample.ts'

export const syncKey = 'the-api-key-of-a-provider'

export type PlatformCall = { id: string; beganAt: Date; seconds?: number; goesOn?: boolean }

// biome-ignore lint/suspicious/noExplicitAny: the fake provider knows the type of its sample.
type Json = any

const secondsOf = ({ seconds = 60 }: PlatformCall) => seconds
const endOf = (call: PlatformCall) => new Date(call.beganAt.getTime() + secondsOf(call) * 1_000)
const unix = (instant: Date) => Math.floor(instant.getTime() / 1_000)

/** The API of a provider: how it authenticates requests, and how it lists, returns, and sends calls. */
type Speaks = {
  key: (request: IncomingMessage) => unknown
  detail: (call: PlatformCall) => Json
  webhook: (call: PlatformCall) => Json
  idIn: (path: string) => string | undefined
  list: (calls: PlatformCall[], url: URL, body: Json) => Json
}

const elevenlabsDetail = (call: PlatformCall) => {
  const { data } = sample('elevenlabs_post_call_transcription.json')
  const times = { start_time_unix_secs: unix(call.beganAt), call_duration_secs: secondsOf(call) }
  const status = call.goesOn ? 'in-progress' : 'done'
  return { ...data, conversation_id: call.id, status, metadata: { ...data.metadata, ...times } }
}

const retellDetail = (call: PlatformCall) => {
  const { call: told } = sample('retell_call_ended.json')
  const over = { end_timestamp: endOf(call).getTime(), call_status: 'ended' }
  const goesOn = { end_timestamp: undefined, call_status: 'ongoing', duration_ms: undefined }
  return { ...told, call_id: call.id, start_timestamp: call.beganAt.getTime(), ...(call.goesOn ? goesOn : over) }
}

const vapiMessage = (call: PlatformCall) => {
  const { message } = sample('vapi_end_of_call_report.json')
  const [startedAt, endedAt] = [call.beganAt.toISOString(), endOf(call).toISOString()]
  return { ...message, startedAt, endedAt, call: { ...message.call, id: call.id, startedAt, endedAt } }
}

const vapiDetail = (call: PlatformCall) => {
  const { call: told, artifact, analysis, assistant, customer, endedReason, startedAt, endedAt } = vapiMessage(call)
  const common = { ...told, createdAt: startedAt, startedAt, artifact, analysis, assistant, customer }
  return call.goesOn
    ? { ...common, endedAt: undefined, status: 'in-progress' }
    : { ...common, endedAt, endedReason, status: 'ended' }
}

const pageSize = 2

const speaks: Record<string, Speaks> = {
  elevenlabs: {
    key: ({ headers }) => headers['xi-api-key'],
    detail: elevenlabsDetail,
    webhook: (call) => ({ ...sample('elevenlabs_post_call_transcription.json'), data: elevenlabsDetail(call) }),
    idIn: (path) => /^\/v1\/convai\/conversations\/(.+)$/.exec(path)?.[1],
    list: (calls, { pathname, searchParams }) => {
      if (pathname !== '/v1/convai/conversations') return undefined
      const within = calls
        .filter(({ beganAt }) => unix(beganAt) >= Number(searchParams.get('call_start_after_unix')))
        .filter(({ beganAt }) => unix(beganAt) <= Number(searchParams.get('call_start_before_unix')))
        .sort((a, b) => b.beganAt.getTime() - a.beganAt.getTime())
      const from = Number(searchParams.get('cursor') ?? 0)
      const conversations = within.slice(from, from + pageSize).map((call) => {
        const { conversation_id, agent_id, status, metadata } = elevenlabsDetail(call)
        return { conversation_id, agent_id, status, message_count: 2, ...metadata }
      })
      const has_more = from + pageSize < within.length
      return { conversations, has_more, next_cursor: has_more ? String(from + pageSize) : null }
    },
  },
  retell: {
    key: ({ headers }) => headers.authorization?.replace(/^Bearer /, ''),
    detail: retellDetail,
    webhook: (call) => ({ event: 'call_ended', call: retellDetail(call) }),
    idIn: (path) => /^\/v2\/get-call\/(.+)$/.exec(path)?.[1],
    list: (calls, { pathname }, body) => {
      if (pathname !== '/v3/list-calls') return undefined
      const { lower_threshold, upper_threshold } = body.filter_criteria.start_timestamp
      const within = calls
        .filter(({ beganAt }) => beganAt.getTime() >= lower_threshold && beganAt.getTime() <= upper_threshold)
        .sort((a, b) => a.beganAt.getTime() - b.beganAt.getTime())
      const from = within.findIndex(({ id }) => id === body.pagination_key) + 1
      const items = within.slice(from, from + pageSize).map((call) => {
        // Lists contain no transcripts.
        const {
          transcript_with_tool_calls: _tools,
          transcript_object: _turns,
          transcript: _text,
          ...item
        } = retellDetail(call)
        return item
      })
      const has_more = from + pageSize < within.length
      return { items, has_more, ...(has_more && { pagination_key: items.at(-1)?.call_id }) }
    },
  },
  vapi: {
    key: ({ headers }) => headers.authorization?.replace(/^Bearer /, ''),
    detail: vapiDetail,
    webhook: (call) => ({ message: vapiMessage(call) }),
    idIn: (path) => /^\/call\/(.+)$/.exec(path)?.[1],
    list: (calls, { pathname, searchParams }) => {
      if (pathname !== '/call') return undefined
      const [from, until] = ['createdAtGe', 'createdAtLe'].map((name) => Date.parse(searchParams.get(name) ?? ''))
      return calls
        .filter(({ beganAt }) => beganAt.getTime() >= (from ?? 0) && beganAt.getTime() <= (until ?? 0))
        .sort((a, b) => b.beganAt.getTime() - a.beganAt.getTime())
        .slice(0, Number(searchParams.get('limit')))
        .map(vapiDetail)
    },
  },
}

/** The status, headers, and body that a provider returns instead of its normal response. */
type Instead = { status: number; headers?: Record<string, string>; body?: string }

export const serveCalls = async (provider: string, calls: PlatformCall[]) => {
  const speech = speaks[provider]
  if (!speech) throw new Error(`Nobody speaks as ${provider}`)
  const asked: string[] = []
  /** A test's function that is called before each response, and can replace it. */
  const state: { instead?: (path: string) => Instead | undefined } = {}
  const detailOf = (id: string) => {
    const call = calls.find((each) => each.id === id)
    return call && speech.detail(call)
  }
  const served = await serve(async (request, response) => {
    const body = await text(request)
    const url = new URL(request.url ?? '/', 'http://provider')
    asked.push(url.pathname)
    const id = speech.idIn(url.pathname)
    const instead: Instead | undefined =
      speech.key(request) === syncKey ? state.instead?.(url.pathname) : { status: 401 }
    if (instead) return response.writeHead(instead.status, instead.headers).end(instead.body ?? '{}')
    const answer = id === undefined ? speech.list(calls, url, body && JSON.parse(body)) : detailOf(id)
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? {}))
  })
  const details = () => asked.filter((path) => speech.idIn(path) !== undefined)
  return { ...served, asked, details, state, calls, webhook: speech.webhook }
}
