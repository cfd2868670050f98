/** The allowed schemes for links. Other spellings are rejected, even if browsers accept them. */
const start = /^(?:https?:\/\/[^/?#\\]|mailto:.)/i

// Browsers remove tabs and line breaks from a URL, and people can't see the other characters.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

const longest = 2_048

/** Returns the error in a link's target, or undefined if the target is valid. */
export const linkFault = (href: unknown): string | undefined => {
  if (typeof href !== 'string' || !start.test(href)) return 'must start with https://, http://, or mailto:'
  if (href.length > longest) return `must have at most ${longest} characters`
  if (unseen.test(href)) return 'must not contain control or invisible characters'
  if (!URL.canParse(href)) return 'must be a URL'
}
