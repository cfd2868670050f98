/** Where to go once in, why an issuer’s word did not suffice, and whether the password is forgotten. */
export type SignInSearch = { to?: string; refused?: string; forgotten?: boolean }

export const readSignInSearch = ({ to, refused, forgotten }: Record<string, unknown>): SignInSearch => ({
  ...(typeof to === 'string' && { to }),
  ...(typeof refused === 'string' && { refused }),
  ...(forgotten === true && { forgotten }),
})

/** Where to go after the question about invitations. */
export const readInvitationsSearch = ({ to }: Record<string, unknown>): { to?: string } =>
  typeof to === 'string' ? { to } : {}

/** Where to go once in: a page of this console alone, however the address is written. */
export const pageOf = (to: string | undefined): string => {
  if (to === undefined || !URL.canParse(to, location.origin)) return '/'
  const { origin, pathname, search, hash } = new URL(to, location.origin)
  return origin === location.origin ? pathname + search + hash : '/'
}
