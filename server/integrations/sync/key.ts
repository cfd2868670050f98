import type { Secrets } from '../../platform/secrets/secrets.ts'

/** Returns the context of a sealed API key. The key can't be decrypted in any other context. */
export const keyContext = (org: string, integrationId: string) => `${org}/integration/${integrationId}/sync-key`

export const sealKey = (secrets: Secrets, org: string, integrationId: string, apiKey: string): string =>
  secrets.seal(apiKey, keyContext(org, integrationId))

export const openKey = (secrets: Secrets, org: string, integrationId: string, sealed: string): string =>
  secrets.open(sealed, keyContext(org, integrationId))

/**
 * Returns whether the stored key equals the given one. A stored key that can't be decrypted, because the service's own
 * key has changed, counts as missing.
 */
export const isStoredKey = (
  secrets: Secrets,
  org: string,
  integrationId: string,
  { apiKey, sealed }: { apiKey: string; sealed: string },
): boolean => {
  try {
    return openKey(secrets, org, integrationId, sealed) === apiKey
  } catch {
    return false
  }
}
