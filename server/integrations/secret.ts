import type { Secrets } from '../platform/secrets/secrets.ts'

/** Returns the context of a sealed secret. The secret can't be decrypted in any other context. */
export const secretContext = (org: string, id: string) => `${org}/integration/${id}/secret`
const previousPlace = (org: string, id: string) => `${org}/integration/${id}/previous-secret`

type Row = {
  org: string
  id: string
  secret: string
  previousSecret: string | null
  previousSecretUntil: Date | null
}

export const sealSecret = (secrets: Secrets, org: string, id: string, secret: string): string =>
  secrets.seal(secret, secretContext(org, id))

export const sealPreviousSecret = (secrets: Secrets, org: string, id: string, secret: string): string =>
  secrets.seal(secret, previousPlace(org, id))

export const openSecret = (secrets: Secrets, { org, id, secret }: Pick<Row, 'org' | 'id' | 'secret'>): string =>
  secrets.open(secret, secretContext(org, id))

/** Returns all valid secrets: during a rotation, both the new and the old one. */
export const openValidSecrets = (secrets: Secrets, row: Row, now: Date): string[] => {
  const { org, id, previousSecret, previousSecretUntil } = row
  const previous =
    previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now
      ? [secrets.open(previousSecret, previousPlace(org, id))]
      : []
  return [openSecret(secrets, row), ...previous]
}
