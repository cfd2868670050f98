import { randomBytes } from 'node:crypto'
import type { Secrets } from '../platform/secrets/secrets.ts'

/** Returns a new secret in the format of Standard Webhooks. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/**
 * Returns the context of a sealed secret. The secret can't be decrypted in any other context. It keeps its context when
 * it becomes the previous secret.
 */
export const secretContext = (org: string, id: string) => `${org}/webhook-endpoint/${id}/secret`

export const sealSecret = (secrets: Secrets, org: string, id: string, secret: string): string =>
  secrets.seal(secret, secretContext(org, id))

type Sealed = { id: string; secret: string; previousSecret: string | null; previousSecretUntil: Date | null }

/** Returns all secrets that sign: the current one and, during a rotation, the previous one. */
export const openSigningSecrets = (secrets: Secrets, org: string, sealed: Sealed, now: Date): string[] => {
  const { id, secret, previousSecret, previousSecretUntil } = sealed
  const isRotating = previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now
  return [secret, ...(isRotating ? [previousSecret] : [])].map((each) => secrets.open(each, secretContext(org, id)))
}
