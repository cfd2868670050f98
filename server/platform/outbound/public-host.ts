import { isIP } from 'node:net'
import { isPublicAddress } from './addresses.ts'

/**
 * Top-level labels that never belong to a public host. They are the special names of RFC 6761 and its registry
 * (example, invalid, localhost, test; local, onion, alt; arpa, which contains home.arpa), `internal`, which ICANN
 * reserved for private networks, and names that private networks use (RFC 6762, appendix G). The registry also contains
 * example.com, example.net, and example.org, but these are public names with public addresses, so they are allowed.
 */
const privateEndings = new Set(
  'alt arpa corp example home internal intranet invalid lan local localdomain localhost onion private test'.split(' '),
)

/**
 * Checks the host of a URL without DNS. The host may still resolve to a private address, which only the client checks.
 */
export const isPublicHostByForm = (hostname: string): boolean => {
  if (isIP(hostname) === 6) return isPublicAddress(hostname)
  // The text must be a host only, so that the parser below can't interpret part of it as a user, a port, or a path.
  if (!/^(\[[\da-f:.]+\]|[^\s:/?#@\\[\]]+)$/i.test(hostname)) return false
  // The URL parser normalizes decimal, octal, hexadecimal, and shortened addresses.
  const host = URL.parse(`http://${hostname}/`)?.hostname
  if (!host) return false
  if (host.startsWith('[')) return isPublicAddress(host.slice(1, -1))
  if (isIP(host)) return isPublicAddress(host)
  const labels = host.replace(/\.$/, '').split('.')
  const wellFormed = host.length <= 254 && labels.every((label) => label.length >= 1 && label.length <= 63)
  return wellFormed && labels.length >= 2 && !privateEndings.has(labels.at(-1) ?? '')
}
