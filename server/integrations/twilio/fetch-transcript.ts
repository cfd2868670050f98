import { ApiError } from '../../platform/errors.ts'
import { isObject } from '../../platform/is-object.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { at, type JsonObject, textOf } from '../../transcripts/json.ts'
import { isUnfinished } from '../../transcripts/provider-calls/twilio.ts'

/** Fetching has failed and will be retried. The organization can read the message. */
export class PullFailed extends Error {}

type Account = { accountSid: string; token: string; baseUrl: string }
type Bounds = { maxBytes: number }

const timeoutMs = 30_000
const mostPages = 100
const pageSize = 1_000

/** Fetches a Twilio Conversational Intelligence transcript, including all its pages. */
export const fetchTranscript = async (
  outbound: Outbound,
  { accountSid, token, baseUrl }: Account,
  transcriptSid: string,
  { maxBytes }: Bounds,
): Promise<JsonObject> => {
  const authorization = `Basic ${Buffer.from(`${accountSid}:${token}`).toString('base64')}`
  const { origin } = new URL(baseUrl)
  const home = `${baseUrl.replace(/\/+$/, '')}/v2/Transcripts/${encodeURIComponent(transcriptSid)}`
  // All responses together are stored as one payload.
  let room = maxBytes

  const get = async (url: string): Promise<JsonObject | undefined> => {
    const headers = { authorization, accept: 'application/json' }
    const { status, body } = await outbound.request(url, {
      method: 'GET',
      headers,
      maxBytes: room,
      timeoutMs,
      plainHttp: 'allowed networks',
    })
    if (status === 404) return undefined
    if (status === 401 || status === 403) {
      throw new ApiError(
        'forbidden',
        'Twilio rejected the account SID or auth token. Update them and replay the delivery.',
      )
    }
    if (status !== 200) throw new PullFailed(`Twilio returned status ${status}.`)
    room = Math.max(1, room - body.length)
    let answer: unknown
    try {
      answer = JSON.parse(body.toString('utf8'))
    } catch {
      throw new PullFailed('Twilio returned invalid JSON.')
    }
    if (!isObject(answer)) throw new PullFailed('Twilio returned something other than an object.')
    return answer
  }

  const getAll = async (path: string, name: string): Promise<unknown[]> => {
    const items: unknown[] = []
    let next: string | null = `${home}/${path}`
    for (let pages = 0; next !== null; pages++) {
      if (pages === mostPages) throw new PullFailed(`Twilio returned more than ${mostPages} pages of ${name}.`)
      // The token must not be sent to another host, even if a response refers to it.
      if (URL.parse(next)?.origin !== origin) throw new PullFailed('Twilio returned a next page on another host.')
      const page = await get(next)
      if (!page) throw new PullFailed(`Twilio has no ${name} for this transcript.`)
      const list = page[name]
      if (Array.isArray(list)) items.push(...list)
      next = textOf(at(page, 'meta', 'next_page_url'))
    }
    return items
  }

  const transcript = await get(home)
  if (!transcript) throw new PullFailed('The transcript does not exist at Twilio.')
  if (isUnfinished(transcript)) throw new PullFailed('The transcript is not finished yet.')
  return {
    transcript,
    sentences: await getAll(`Sentences?WordTimestamps=true&PageSize=${pageSize}`, 'sentences'),
    operator_results: await getAll(`OperatorResults?PageSize=${pageSize}`, 'operator_results'),
    media: (await get(`${home}/Media`)) ?? null,
  }
}
