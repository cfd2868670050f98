import type { Db } from '../../platform/db/database.ts'
import { violatedConstraint } from '../../platform/db/errors.ts'

const maxAttempts = 8

/** Another transaction changed the same rows first. A retry sees its changes. */
export class Overtaken extends Error {
  /** PostgreSQL's code for a serialization failure, which is retried. */
  readonly code = '40001'
}

/**
 * Returns whether another transaction changed the same rows first, or deleted a referenced row, such as the company,
 * between the check and the write.
 */
const isOvertaken = (error: unknown): boolean =>
  (error instanceof Error && 'code' in error && /^(40001|40P01)$/.test(String(error.code))) ||
  /^conversations_\w+_fkey$/.test(violatedConstraint(error) ?? '')

/** Runs a transaction, and retries it if others changed the same rows first. */
export const tryTransaction = async <T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (!isOvertaken(error) || attempt === maxAttempts) throw error
    }
  }
}
