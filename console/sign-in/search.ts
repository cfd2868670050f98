/** The page after sign-in, the reason why single sign-on failed, and whether to show the password reset. */
export type SignInSearch = { to?: string; refused?: string; forgotten?: boolean }

export const readSignInSearch = ({ to, refused, forgotten }: Record<string, unknown>): SignInSearch => ({
  ...(typeof to === 'string' && { to }),
  ...(typeof refused === 'string' && { refused }),
  ...(forgotten === true && { forgotten }),
})

/** Determines the page that follows the invitations. */
export const readInvitationsSearch = ({ to }: Record<string, unknown>): { to?: string } =>
  typeof to === 'string' ? { to } : {}

/** Returns the destination after sign-in. Only pages of this console are allowed, no matter how the URL is written. */
export const pageOf = (to: string | undefined): string => {
  if (to === undefined || !URL.canParse(to, location.origin)) return '/'
  const { origin, pathname, search, hash } = new URL(to, location.origin)
  // A path such as `//example.com` would lead to a different host.
  return origin === location.origin ? pathname.replace(/^\/+/, '/') + search + hash : '/'
}
