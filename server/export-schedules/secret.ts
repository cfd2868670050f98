import type { Secrets } from '../platform/secrets/secrets.ts'

/** The context of a sealed secret, which cannot be decrypted elsewhere. */
export const secretPlace = (org: string, id: string) => `${org}/export-schedule/${id}/secret`

export const sealSecret = (secrets: Secrets, org: string, id: string, secret: string): string =>
  secrets.seal(secret, secretPlace(org, id))

export const openSecret = (secrets: Secrets, org: string, id: string, sealed: string): string =>
  secrets.open(sealed, secretPlace(org, id))
