// The interface as the command line calls it.
import { setTimeout as sleep } from 'node:timers/promises'
import { OutboundError } from '../../platform/outbound/errors.ts'
import { openOperatorClient } from '../../platform/outbound/operator.ts'
import { readRetryAfter } from '../../platform/outbound/retry-after.ts'

const maxAnswerBytes = 32 * 1024 * 1024
const timeoutMs = 60_000
/** Of a request that got no answer, or one that asks to come again. */
const attempts = 6
const longestWaitMs = 60_000

/** What the service refused, with what it says to do about it. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: unknown }

const messageOf = ({ status, body }: Answer): string => {
  const message = (body as { message?: unknown } | undefined)?.message
  return typeof message === 'string' ? message : `The service answered ${status}.`
}

/** That does not pass by waiting. What stands before a service that is out of order says nothing of the kind. */
const isSwitchedOff = ({ status, headers, body }: Answer): boolean =>
  status === 503 && body !== undefined && headers['retry-after'] === undefined

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const strangeAnswer = (url: string) =>
  new Error(`${url} did not answer as this service does; is that its address, and does nothing stand before it?`)

export type Remote = ReturnType<typeof openRemote>

type RemoteOptions = {
  url: string
  key: string
  signal: AbortSignal
  /** Where the service does not say how long; it doubles with each further one. */
  firstWaitMs?: number
}

/** Every request may be sent again: those that make something carry an operation id. */
export const openRemote = ({ url, key, signal, firstWaitMs = 1_000 }: RemoteOptions) => {
  const client = openOperatorClient({ maxBytes: maxAnswerBytes })

  const send = async (method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
    const asked = { method, headers, timeoutMs, signal, ...(body && { body: JSON.stringify(body) }) }
    const { body: text, ...answer } = await client.request(new URL(url + path), asked)
    return { ...answer, body: text === '' ? undefined : parse(text) }
  }

  const call = async (method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> => {
    for (let attempt = 1; ; attempt++) {
      let waitMs = firstWaitMs * 2 ** (attempt - 1)
      try {
        const answer = await send(method, path, body)
        if (answer.status < 400) return answer
        const asksAgain = answer.status === 429 || answer.status >= 500
        if (!asksAgain || isSwitchedOff(answer) || attempt >= attempts) {
          throw new Refused(answer.status, messageOf(answer))
        }
        waitMs = readRetryAfter(answer.headers['retry-after'], new Date()) || waitMs
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error
        if (attempt >= attempts) throw new Error(`${url} cannot be reached: ${error.message}`)
      }
      await sleep(Math.min(waitMs, longestWaitMs), undefined, { signal })
    }
  }

  const callJson = async (method: 'GET' | 'POST', path: string, body?: object): Promise<object> => {
    const answer = await call(method, path, body)
    const { location } = answer.headers
    if (answer.status >= 300) throw new Error(`${url} redirects to ${JSON.stringify(location)}; give that address.`)
    if (typeof answer.body !== 'object' || answer.body === null) throw strangeAnswer(url)
    return answer.body
  }

  return {
    url,
    get: (path: string) => callJson('GET', path),
    post: (path: string, body: object) => callJson('POST', path, body),
    /** Where the file lies, and its digest; the key goes no further than this. */
    link: async (path: string) => {
      const { location, 'x-file-digest': digest } = (await call('GET', path)).headers
      if (typeof location !== 'string' || typeof digest !== 'string') throw strangeAnswer(url)
      return { location: new URL(location, url), digest }
    },
    download: (location: URL, from: number) =>
      client.download(location, { signal, headers: from > 0 ? { range: `bytes=${from}-` } : {} }),
    close: client.close,
  }
}
