// Describes a request, and its hops through redirects.
import { OutboundError } from './errors.ts'

export type OutboundRequest = {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: Record<string, string>
  body?: Buffer | string
  /** The maximum size of a response body. */
  maxBytes: number
  /** The maximum time from resolving the name to the last byte of the body, including redirects. */
  timeoutMs: number
  /** Aborts the request, which then fails with the signal's reason. */
  signal?: AbortSignal
  /**
   * The minimum rate in both directions while waiting for the server. Each byte adds time, up to the longest wait.
   * Anything slower fails, so that neither silence nor a trickle occupies a slot for long.
   */
  minimumRate?: { bytesPerSecond: number; longestWaitMs: number }
  /**
   * The maximum number of redirects to follow. One more is an error. With 0, the default, a redirect is returned
   * unchanged.
   */
  maxRedirects?: number
  /**
   * The networks in which http without TLS is allowed. By default, it is allowed anywhere, but it can be limited to
   * networks that the operator allows, or forbidden.
   */
  plainHttp?: PlainHttp
}

export type PlainHttp = 'anywhere' | 'allowed networks' | 'nowhere'

export type OutboundHeaders = Record<string, string | string[] | undefined>

type Hop = {
  url: URL
  method: OutboundRequest['method']
  headers: Record<string, string>
  body: Buffer | string | undefined
}

const redirects = [301, 302, 303, 307, 308]

/** The client itself sets these headers from the URL and the body. */
const ownHeaders = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'expect', 'upgrade'])

/**
 * The headers that another origin may receive. This is an allowlist, because credentials can be in any other header.
 */
const harmlessHeaders = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'range', 'user-agent'])

const keepHeaders = (headers: Record<string, string>, keep: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => keep(name)))

const readUrl = (text: string, base: URL | undefined, plainHttp: PlainHttp): URL => {
  const url = base ? URL.parse(text, base.href) : URL.parse(text)
  if (!url) throw new OutboundError('failed', 'The address is not a URL.')
  if (url.protocol !== 'https:' && (plainHttp === 'nowhere' || url.protocol !== 'http:')) {
    const protocols = plainHttp === 'nowhere' ? 'https' : 'http and https'
    throw new OutboundError('forbidden_address', `Only ${protocols} URLs are allowed.`)
  }
  if (url.username || url.password) {
    throw new OutboundError('forbidden_address', 'The URL must not contain a user name or password.')
  }
  return url
}

export const firstHop = (url: string | URL, request: OutboundRequest): Hop => {
  const given = Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
  const headers = { 'user-agent': 'Earshot', 'accept-encoding': 'identity', ...Object.fromEntries(given) }
  return {
    url: readUrl(String(url), undefined, request.plainHttp ?? 'anywhere'),
    method: request.method,
    headers: keepHeaders(headers, (name) => !ownHeaders.has(name)),
    body: request.body,
  }
}

/** Returns the next hop, or undefined if the response is not a redirect. The method and body change as in browsers. */
export const hopAfter = (
  hop: Hop,
  response: { statusCode: number; headers: OutboundHeaders },
  plainHttp: PlainHttp,
): Hop | undefined => {
  const { location } = response.headers
  if (!redirects.includes(response.statusCode) || typeof location !== 'string') return undefined
  const url = readUrl(location, hop.url, plainHttp)
  const toGet =
    (response.statusCode === 303 && hop.method !== 'HEAD') || (response.statusCode <= 302 && hop.method === 'POST')
  const headers = keepHeaders(
    hop.headers,
    (name) => (url.origin === hop.url.origin || harmlessHeaders.has(name)) && !(toGet && name.startsWith('content-')),
  )
  return { url, method: toGet ? 'GET' : hop.method, headers, body: toGet ? undefined : hop.body }
}
