import type { Secrets } from '../platform/secrets/secrets.ts'

/** Returns the context of a sealed secret. The secret can't be decrypted in any other context. */
export const secretContext = (org: string, id: string) => `${org}/export-schedule/${id}/secret`

export const sealSecret = (secrets: Secrets, org: string, id: string, secret: string): string =>
  secrets.seal(secret, secretContext(org, id))

export const openSecret = (secrets: Secrets, org: string, id: string, sealed: string): string =>
  secrets.open(sealed, secretContext(org, id))
