/** Where to go once in, why an issuer’s word did not suffice, and whether the password is forgotten. */
export type SignInSearch = { to?: string; refused?: string; forgotten?: boolean }

export const readSignInSearch = ({ to, refused, forgotten }: Record<string, unknown>): SignInSearch => ({
  ...(typeof to === 'string' && { to }),
  ...(typeof refused === 'string' && { refused }),
  ...(forgotten === true && { forgotten }),
})
