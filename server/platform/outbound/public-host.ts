import { isIP } from 'node:net'
import { isPublicAddress } from './addresses.ts'

/**
 * Last labels that never belong to a public host: the special names of RFC 6761 and its registry (example, invalid,
 * localhost, test; local, onion, alt; arpa, where home.arpa lives), `internal`, which ICANN set aside for private
 * networks, and what private networks were found to use (RFC 6762, appendix G). example.com, example.net and
 * example.org are in that registry too, but they are public names with public addresses, and pass.
 */
const privateEndings = new Set(
  'alt arpa corp example home internal intranet invalid lan local localdomain localhost onion private test'.split(' '),
)

/** Judges a host of a URL without asking DNS, so it may still resolve to a private address: reaching it needs the client. */
export const isPublicHostByForm = (hostname: string): boolean => {
  if (isIP(hostname) === 6) return isPublicAddress(hostname)
  // Only a host, so that the parser below cannot take a part of it for a user, a port or a path.
  if (!/^(\[[\da-f:.]+\]|[^\s:/?#@\\[\]]+)$/i.test(hostname)) return false
  // The parser of URLs writes decimal, octal, hexadecimal and shortened addresses in their usual form.
  const host = URL.parse(`http://${hostname}/`)?.hostname
  if (!host) return false
  if (host.startsWith('[')) return isPublicAddress(host.slice(1, -1))
  if (isIP(host)) return isPublicAddress(host)
  const labels = host.replace(/\.$/, '').split('.')
  const wellFormed = host.length <= 254 && labels.every((label) => label.length >= 1 && label.length <= 63)
  return wellFormed && labels.length >= 2 && !privateEndings.has(labels.at(-1) ?? '')
}
