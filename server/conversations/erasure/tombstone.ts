import { hash } from 'node:crypto'

/** What is left of an erased conversation: nobody can read its id from it, and whoever has the id can ask for it. */
export const tombstoneHash = (org: string, externalId: string): string =>
  hash('sha256', `${org}\n${externalId}`, 'base64')
