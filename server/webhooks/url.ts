import { invalid } from '../platform/errors.ts'
import { isPublicHostByForm } from '../platform/outbound/public-host.ts'

/**
 * Throws if a URL's format is not acceptable. Does not resolve the host, because each connection checks its address. If
 * the operator allows private networks, the format of a host proves nothing.
 */
export const checkEndpointUrl = (text: string, { allowedPrivateAddresses }: { allowedPrivateAddresses: string[] }) => {
  const url = URL.parse(text)
  const isSound = url?.protocol === 'https:' && url.username === '' && url.password === ''
  if (!isSound) throw invalid('url', 'must be an https URL without credentials')
  if (allowedPrivateAddresses.length === 0 && !isPublicHostByForm(url.hostname)) {
    throw invalid('url', 'must have a public host')
  }
  // The admin must see the URL that is actually called. Other spellings can be deceptive, because a backslash ends the
  // host and some letters look alike.
  url.hash = ''
  if (![text, `${text}/`].includes(url.href)) throw invalid('url', `must be written as ${url.href}`)
}
