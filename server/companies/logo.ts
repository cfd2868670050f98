import { domainToUnicode } from 'node:url'
import { type ApiError, invalid } from '../platform/errors.ts'
import { isPublicHostByForm } from '../platform/outbound/public-host.ts'

/**
 * Returns whether all programs parse the URL in the same way. A browser accepts `https:host` and treats a backslash as
 * a slash, but other programs see no host or a user name.
 */
const isPlain = (address: string, { hostname, port }: URL): boolean => {
  const written = /^https:\/\/([^/\\@?#\s]+)(?:[/?#][^\\\s]*)?$/i.exec(address)?.[1]?.toLowerCase().replace(/:443$/, '')
  const read = port === '' ? '' : `:${port}`
  return written === hostname + read || written === domainToUnicode(hostname) + read
}

/** Returns an error if a viewer's browser must not load the URL. Only checks its format, without DNS. */
export const logoUrlFault = (logoUrl: string | null | undefined): ApiError | undefined => {
  if (logoUrl === null || logoUrl === undefined) return undefined
  const url = URL.parse(logoUrl)
  const sound = url?.protocol === 'https:' && url.username === '' && url.password === ''
  if (!url || !sound || !isPlain(logoUrl, url) || !isPublicHostByForm(url.hostname)) {
    return invalid('logoUrl', 'must be a public https URL, written as https://host/path and without credentials')
  }
  return undefined
}

const kinds = [
  { extension: 'png', contentType: 'image/png', begins: /^89504e470d0a1a0a/ },
  { extension: 'jpg', contentType: 'image/jpeg', begins: /^ffd8ff/ },
  { extension: 'gif', contentType: 'image/gif', begins: /^47494638(37|39)61/ },
  { extension: 'webp', contentType: 'image/webp', begins: /^52494646.{8}57454250/ },
] as const

/** Detects the type of an image from its first bytes, because names and headers can be wrong. */
export const imageKind = (image: Buffer) => {
  const start = image.subarray(0, 12).toString('hex')
  return kinds.find(({ begins }) => begins.test(start))
}
