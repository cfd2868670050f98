import type { Secrets } from '../platform/secrets/secrets.ts'

/** Where a sealed secret stands: it opens at no other place. */
export const secretPlace = (org: string, id: string) => `${org}/export-schedule/${id}/secret`

export const sealSecret = (secrets: Secrets, org: string, id: string, secret: string): string =>
  secrets.seal(secret, secretPlace(org, id))

export const openSecret = (secrets: Secrets, org: string, id: string, sealed: string): string =>
  secrets.open(sealed, secretPlace(org, id))
