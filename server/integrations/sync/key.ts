import type { Secrets } from '../../platform/secrets/secrets.ts'

/** Where a sealed API key stands: it opens at no other place. */
export const keyPlace = (org: string, integrationId: string) => `${org}/integration/${integrationId}/sync-key`

export const sealKey = (secrets: Secrets, org: string, integrationId: string, apiKey: string): string =>
  secrets.seal(apiKey, keyPlace(org, integrationId))

export const openKey = (secrets: Secrets, org: string, integrationId: string, sealed: string): string =>
  secrets.open(sealed, keyPlace(org, integrationId))

/** One that cannot be opened any more, since the service has another key of its own, is no key. */
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
