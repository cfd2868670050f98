// Sends requests and records which ones the service acknowledged.
import { setTimeout as pause } from 'node:timers/promises'

export type TrafficAnswer = {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: the sender knows the type of the body.
  body: any
}

export type TrafficRequest = {
  key?: string
  body?: unknown
  raw?: { bytes: Buffer | Uint8Array<ArrayBuffer>; headers: Record<string, string> }
  /** Statuses that a fault can cause. The request is then sent again. */
  again?: number[]
  /** Statuses of a request that was already carried out. They are only valid after a lost response. */
  done?: number[]
}

const answerWithinMs = 4_000
const acknowledgedWithinMs = 60_000

const contentOf = ({ key, body, raw }: TrafficRequest) => ({
  headers: {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...raw?.headers,
  },
  ...(raw ? { body: new Uint8Array(raw.bytes) } : body !== undefined && { body: JSON.stringify(body) }),
})

/** Returns whether an error is a connection error, which a fault can cause. Any other is an error of this client. */
const isOfConnection = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError')

const inWords = (answer: TrafficAnswer | undefined): string =>
  answer ? `${answer.status} ${JSON.stringify(answer.body)}` : 'nothing'

/** Opens a client that sends each attempt to the next origin in turn. */
export const openClient = (origins: string[]) => {
  const counts = { acknowledged: 0, unanswered: 0 }
  let turn = 0

  /** Returns undefined if nothing shows whether the request was carried out: the response was lost, or is 503. */
  const attempt = async (
    method: string,
    path: string,
    sent: TrafficRequest = {},
  ): Promise<TrafficAnswer | undefined> => {
    const origin = origins[turn++ % origins.length] ?? ''
    const signal = AbortSignal.timeout(answerWithinMs)
    try {
      const response = await fetch(origin + path, { method, redirect: 'manual', signal, ...contentOf(sent) })
      const text = await response.text()
      if (response.status !== 503) {
        return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
      }
    } catch (error) {
      if (!isOfConnection(error)) throw error
    }
    counts.unanswered++
    return undefined
  }

  /** Repeats a request until it is acknowledged with one of these statuses. */
  const send = async (
    method: string,
    path: string,
    statuses: number[],
    sent: TrafficRequest = {},
  ): Promise<TrafficAnswer> => {
    const deadline = performance.now() + acknowledgedWithinMs
    for (let attempts = 1; ; attempts++) {
      const answer = await attempt(method, path, sent)
      const right = attempts > 1 ? [...statuses, ...(sent.done ?? [])] : statuses
      if (answer && right.includes(answer.status)) {
        counts.acknowledged++
        return answer
      }
      const isFinal = answer !== undefined && !sent.again?.includes(answer.status)
      if (isFinal || performance.now() > deadline) throw new Error(`${method} ${path} was answered ${inWords(answer)}`)
      await pause(100)
    }
  }

  /** Downloads a file from the link that the service redirects to. */
  const download = async (path: string, key: string): Promise<Buffer> => {
    const link = await send('GET', path, [302], { key })
    const response = await fetch(link.headers.get('location') ?? '')
    if (!response.ok) throw new Error(`The link of ${path} was answered ${response.status} ${await response.text()}`)
    return Buffer.from(await response.arrayBuffer())
  }

  return { attempt, send, download, counts }
}

export type Client = ReturnType<typeof openClient>
