// Parses EARSHOT_SMTP_URL.
import { isIP } from 'node:net'

export type Sender = { name: string; address: string }

export type Smtp = {
  host: string
  port: number
  /**
   * `implicit` encrypts from the first byte. `starttls` requires encryption before anything else is sent. `off` never
   * encrypts.
   */
  tls: 'implicit' | 'starttls' | 'off'
  auth: { user: string; pass: string } | undefined
  /** If undefined, the sender is derived from the service's host. */
  from: Sender | undefined
}

/**
 * Matches an address without spaces, control characters, and characters with a special meaning in headers, so that one
 * address can't become two.
 */
const address = /^[^\s\p{Cc}@<>()[\]\\,;:"]{1,64}@[^\s\p{Cc}@<>()[\]\\,;:"]{1,253}$/u
export const isAddress = (text: string): boolean => text.length <= 254 && address.test(text)

const readSender = (text: string): Sender | undefined => {
  const [, name = '', given = text] = /^([^<>\p{Cc}]{0,100})<([^<>]+)>$/u.exec(text) ?? []
  // Message-IDs contain the domain, which must be ASCII.
  const usable = isAddress(given) && /^[\x21-\x7e]+$/.test(given)
  return usable ? { name: name.trim().replace(/^"(.*)"$/, '$1'), address: given } : undefined
}

const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

export const smtpUrlForm =
  '`smtp://user:password@host:587` or `smtps://user:password@host:465`, with user, password, and port optional, ' +
  'optionally followed by `?from=Name <address>` and, for `smtp:`, `tls=required` or `tls=off`; special characters are ' +
  'percent-encoded'

/** Returns undefined if the text is invalid. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: this is a list of checks
export const readSmtpUrl = (text: string): Smtp | undefined => {
  const url = URL.parse(text)
  const isImplicit = url?.protocol === 'smtps:'
  if (!url?.hostname || !(isImplicit || url.protocol === 'smtp:') || url.hash || !/^\/?$/.test(url.pathname)) return
  const host = url.hostname.replace(/^\[(.+)\]$/, '$1').toLowerCase()
  if (!isIP(host) && !/^[\w.-]+$/.test(host)) return
  const user = decode(url.username)
  const pass = decode(url.password)
  if (user === undefined || pass === undefined || (user === '') !== (pass === '')) return

  const names = [...url.searchParams.keys()]
  if (new Set(names).size < names.length) return
  const { from: givenFrom, tls: givenTls, ...unknown } = Object.fromEntries(url.searchParams)
  if (Object.keys(unknown).length > 0) return
  const from = givenFrom === undefined ? undefined : readSender(givenFrom)
  if (givenFrom !== undefined && !from) return
  if (givenTls !== undefined && (isImplicit || !['required', 'off'].includes(givenTls))) return
  const plain = givenTls === undefined ? isLoopback(host) : givenTls === 'off'
  const tls = isImplicit ? 'implicit' : plain ? 'off' : 'starttls'

  const port = url.port === '' ? (isImplicit ? 465 : 587) : Number(url.port)
  return { host, port, tls, auth: user === '' ? undefined : { user, pass }, from }
}
