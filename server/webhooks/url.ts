import { invalid } from '../platform/errors.ts'
import { isPublicHostByForm } from '../platform/outbound/public-host.ts'

/**
 * Rejects a URL only by its form: without a lookup; it is checked again at each connection. If the operator allows
 * private networks, the form of a host says nothing.
 */
export const checkEndpointUrl = (text: string, { allowedPrivateAddresses }: { allowedPrivateAddresses: string[] }) => {
  const url = URL.parse(text)
  const isSound = url?.protocol === 'https:' && url.username === '' && url.password === ''
  if (!isSound) throw invalid('url', 'must be an https URL without credentials')
  if (allowedPrivateAddresses.length === 0 && !isPublicHostByForm(url.hostname)) {
    throw invalid('url', 'must have a public host')
  }
  // The admin must see the URL that is called. Other spellings deceive: a backslash ends the host, letters look alike.
  url.hash = ''
  if (![text, `${text}/`].includes(url.href)) throw invalid('url', `must be written as ${url.href}`)
}
