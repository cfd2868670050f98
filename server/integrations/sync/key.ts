import type { Secrets } from '../../platform/secrets/secrets.ts'

/** The context of a sealed API key, which cannot be decrypted elsewhere. */
export const keyPlace = (org: string, integrationId: string) => `${org}/integration/${integrationId}/sync-key`

export const sealKey = (secrets: Secrets, org: string, integrationId: string, apiKey: string): string =>
  secrets.seal(apiKey, keyPlace(org, integrationId))

export const openKey = (secrets: Secrets, org: string, integrationId: string, sealed: string): string =>
  secrets.open(sealed, keyPlace(org, integrationId))

/** A key that cannot be decrypted, because the service has another key now, counts as missing. */
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
