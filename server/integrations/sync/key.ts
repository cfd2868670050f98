import type { Secrets } from '../../platform/secrets/secrets.ts'

/** The context of a sealed API key, which cannot be decrypted elsewhere. */
export const keyContext = (org: string, integrationId: string) => `${org}/integration/${integrationId}/sync-key`

export const sealKey = (secrets: Secrets, org: string, integrationId: string, apiKey: string): string =>
  secrets.seal(apiKey, keyContext(org, integrationId))

export const openKey = (secrets: Secrets, org: string, integrationId: string, sealed: string): string =>
  secrets.open(sealed, keyContext(org, integrationId))

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
