import { hash } from 'node:crypto'

/**
 * Returns the tombstone of an erased conversation. The ID can't be read from it, but anyone with the ID can check for
 * it.
 */
export const tombstoneHash = (org: string, externalId: string): string =>
  hash('sha256', `${org}\n${externalId}`, 'base64')
