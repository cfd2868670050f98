// Sends requests, with timeouts and retries.

import { EarshotError, readError, strangeAnswer } from './errors.ts'
import { makePaged, type Page, type Paged } from './paged.ts'

export type RequestOptions = {
  signal?: AbortSignal | undefined
  /** The time limit of each attempt, until the response arrives. */
  timeoutMs?: number | undefined
  /** The maximum number of retries after a temporary error. */
  retries?: number | undefined
}

export type EarshotOptions = {
  /** The server's URL, such as `https://earshot.example.com`. */
  url: string
  /** An organization's API key, or a service key. */
  key: string
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
  /** The time limit of each attempt, until the response arrives. Defaults to 60,000. */
  timeoutMs?: number | undefined
  /** The maximum number of retries after a temporary error. Defaults to 4. */
  retries?: number | undefined
}

type Values = Record<string, unknown>

export type Sent = {
  body?: unknown
  query?: Values | undefined
  /** Whether a POST can be repeated safely: always, or if its body has an external ID. */
  repeat?: 'always' | 'externalId'
}

export type Send = {
  json: <T>(method: string, path: string, sent?: Sent, options?: RequestOptions) => Promise<T>
  list: <T>(method: string, path: string, sent?: Sent, options?: RequestOptions) => Paged<T>
  /** Returns the raw response, following the redirect to a file. */
  open: (method: string, path: string, sent?: Sent, options?: RequestOptions) => Promise<Response>
  /**
   * Returns the response without reading it or following redirects. Without the key, any URL and any response are
   * allowed.
   */
  raw: (method: string, address: string, init?: RawInit, options?: RequestOptions) => Promise<Response>
}

export type RawInit = Sent & { headers?: Record<string, string>; redirect?: 'manual' | 'follow'; withoutKey?: boolean }

const firstPauseMs = 500
const longestPauseMs = 30_000
/** If the server asks to wait longer than this, the request isn't retried. */
const longestRetryAfterSeconds = 120
/** The longest possible timer, which is 24 days. */
const longestTimeoutMs = 2 ** 31 - 1

/** Inserts IDs into a path. An empty ID would turn it into the list's path. */
export const path = (parts: TemplateStringsArray, ...ids: string[]): string =>
  parts.reduce((whole, part, at) => {
    const id = ids[at - 1]
    if (typeof id !== 'string' || /^\.{0,2}$/.test(id))
      throw new TypeError(`An ID must be a non-empty string, not ${JSON.stringify(id)}`)
    return whole + encodeURIComponent(id) + part
  })

/**
 * Returns the URL of a request. Only paths may follow `base`, or it could become another host, which would receive the
 * key.
 */
const addressOf = (base: string, address: string, query: Values = {}): string => {
  const url = new URL(address.startsWith('/') ? base + address : address)
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat())
      if (each !== undefined && each !== null) url.searchParams.append(name, String(each))
  }
  return url.href
}

/** Returns whether the conversation, or each one in a batch, has an external ID. */
const hasExternalId = (body: unknown): boolean => {
  const { externalId, conversations } = (body ?? {}) as { externalId?: unknown; conversations?: unknown }
  return Array.isArray(conversations) ? conversations.every(hasExternalId) : typeof externalId === 'string'
}

const mayRepeat = (method: string, { repeat, body }: Sent): boolean =>
  ['GET', 'HEAD', 'PUT', 'DELETE'].includes(method) ||
  repeat === 'always' ||
  (repeat === 'externalId' && hasExternalId(body))

/** Returns whether to retry. A 429 had no effect. Waiting doesn't help if a 503 says that a feature is disabled. */
const passes = ({ status, code, retryAfterSeconds }: EarshotError, repeatable: boolean): boolean => {
  if ((retryAfterSeconds ?? 0) > longestRetryAfterSeconds) return false
  if (status === 429) return true
  if (!repeatable) return false
  if (status === 503) return code === 'unexpected response' || retryAfterSeconds !== undefined
  return status === 0 || status === 502 || status === 504
}

/** Waits, unless the signal aborts. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })

/** Waits at least as long as the server asked, and longer each time, because the server may need more. */
const pauseMs = (attempt: number, retryAfterSeconds = 0): number => {
  const grown = Math.min(longestPauseMs, firstPauseMs * 2 ** attempt) * (0.5 + Math.random() / 2)
  return Math.max(grown, retryAfterSeconds * 1_000 + Math.random() * 250)
}

/** Converts a failed fetch to an error: aborted by the caller, timed out, or unreachable. */
const faultOf = (error: unknown, origin: string, timeoutMs: number, signal: AbortSignal | undefined): unknown => {
  if (signal?.aborted) return signal.reason
  if (error instanceof EarshotError) return error
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new EarshotError(`${origin} did not respond within ${timeoutMs} ms`, { code: 'timed out', cause: error })
  }
  const { cause, message } = error as Error
  const why = cause instanceof Error ? cause.message || String((cause as { code?: unknown }).code) : message
  return new EarshotError(`${origin} cannot be reached: ${why}`, { code: 'unreachable', cause: error })
}

/** Runs a function until it succeeds, fails permanently, or has no retries left. */
const again = async <T>(
  run: (attempt: number) => Promise<T>,
  repeatable: boolean,
  { retries, signal }: { retries: number; signal: AbortSignal | undefined },
): Promise<T> => {
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted()
    try {
      return await run(attempt)
    } catch (error) {
      if (!(error instanceof EarshotError) || attempt >= retries || !passes(error, repeatable)) throw error
      await pause(pauseMs(attempt, error.retryAfterSeconds), signal)
    }
  }
}

const readJson = async (response: Response, origin: string): Promise<unknown> => {
  const redirects = response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)
  if (redirects) throw strangeAnswer(response, origin)
  if (!response.ok) throw await readError(response, origin)
  const text = await response.text()
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw strangeAnswer(response, origin)
  }
}

const openSignals = (given: AbortSignal | undefined, timeoutMs: number) => {
  const timeout = new AbortController()
  const tooLate = () => timeout.abort(new DOMException('Timed out', 'TimeoutError'))
  const timer = setTimeout(tooLate, Math.min(timeoutMs, longestTimeoutMs))
  return {
    signal: given ? AbortSignal.any([given, timeout.signal]) : timeout.signal,
    done: () => clearTimeout(timer),
  }
}

type Read<T> = (response: Response, attempt: number) => T | Promise<T>

/** Validates the URL. Errors don't show it, because it may contain a password. */
const readBase = (url: string): string => {
  const { protocol, username, password, search, hash } = URL.canParse(url) ? new URL(url) : ({} as Partial<URL>)
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new TypeError('url must be a URL such as https://earshot.example.com')
  if (username || password || search || hash)
    throw new TypeError('url must not contain a user name, a password, ?, or #; pass the API key as key')
  return url.replace(/\/+$/, '')
}

export const openSend = ({ url, key, fetch = globalThis.fetch, ...defaults }: EarshotOptions): Send => {
  const base = readBase(url)
  const { origin } = new URL(base)
  if (!key) throw new TypeError('key is required')
  // This comes first, because the runtime's error would contain the key.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('key contains a space, a line break, or another character that API keys never have')
  const { timeoutMs: usualTimeoutMs = 60_000, retries: usualRetries = 4 } = defaults

  const call = async <T>(method: string, address: string, init: RawInit, options: RequestOptions, read: Read<T>) => {
    const { timeoutMs = usualTimeoutMs, signal: given } = options
    if (!init.withoutKey && !address.startsWith('/')) throw new TypeError('The path must start with /')
    const href = addressOf(base, address, init.query)
    const isJson = init.body !== undefined && !(init.body instanceof Blob)
    const body = isJson ? JSON.stringify(init.body) : (init.body as Blob | undefined)
    const attempt = async (count: number): Promise<T> => {
      // The timeout also covers reading the body, except for bodies that are read later.
      const { signal, done } = openSignals(given, timeoutMs)
      try {
        // Browsers require `fetch` to be called on the global object.
        const response = await fetch.call(globalThis, href, {
          method,
          signal,
          redirect: init.redirect ?? 'manual',
          headers: {
            ...(!init.withoutKey && { authorization: `Bearer ${key}` }),
            ...(isJson && { 'content-type': 'application/json' }),
            ...init.headers,
          },
          ...(body !== undefined && { body }),
        })
        return await read(response, count)
      } catch (error) {
        throw faultOf(error, new URL(href).origin, timeoutMs, given)
      } finally {
        done()
      }
    }
    return again(attempt, mayRepeat(method, init), { retries: options.retries ?? usualRetries, signal: given })
  }

  const json = <T>(method: string, address: string, sent: Sent = {}, options: RequestOptions = {}): Promise<T> => {
    const read: Read<unknown> = (response, attempt) => {
      // An earlier attempt may have deleted it, and its response may have been lost.
      if (method === 'DELETE' && attempt > 0 && response.status === 404) return undefined
      return readJson(response, origin)
    }
    // The server's responses match its OpenAPI document.
    return call(method, address, sent, options, read) as Promise<T>
  }

  return {
    json,
    list: <T>(method: string, address: string, sent: Sent = {}, options: RequestOptions = {}) =>
      makePaged<T>(async ({ limit, cursor }) => {
        const place = method === 'GET' ? 'query' : 'body'
        // The body of a list is always an object.
        const given = sent[place] as Values | undefined
        const asked = { ...(limit !== undefined && { limit }), ...given, ...(cursor !== undefined && { cursor }) }
        const page = await json<Page<T> | undefined>(method, address, { ...sent, [place]: asked }, options)
        if (!Array.isArray(page?.data) || (page.nextCursor !== null && typeof page.nextCursor !== 'string'))
          throw new EarshotError(`${base} did not respond like Earshot`, { code: 'unexpected response' })
        return page
      }),
    open: (method, address, sent = {}, options = {}) =>
      call(method, address, { ...sent, redirect: 'follow' }, options, async (response) => {
        if (!response.ok) throw await readError(response, origin)
        return response
      }),
    raw: (method, address, init = {}, options = {}) =>
      call(method, address, init, options, async (response) => {
        if (!init.withoutKey && response.status >= 400) throw await readError(response, origin)
        return response
      }),
  }
}
