/** Schemes that a link may have, as they are written: what a browser would make of another spelling is not asked. */
const start = /^(?:https?:\/\/[^/?#\\]|mailto:.)/i

// Browsers drop tabs and line breaks from an address, and people cannot see the rest.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

const longest = 2_048

/** What is wrong with the target of a link. */
export const linkFault = (href: unknown): string | undefined => {
  if (typeof href !== 'string' || !start.test(href)) return 'must start with https://, http://, or mailto:'
  if (href.length > longest) return `must have at most ${longest} characters`
  if (unseen.test(href)) return 'must not contain control or invisible characters'
  if (!URL.canParse(href)) return 'must be a URL'
}
