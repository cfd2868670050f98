import { hash } from 'node:crypto'

/** The tombstone of an erased conversation: nobody can read its ID from it, but anyone with the ID can check for it. */
export const tombstoneHash = (org: string, externalId: string): string =>
  hash('sha256', `${org}\n${externalId}`, 'base64')
