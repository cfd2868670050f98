import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'

/**
 * The number of free attempts. After these, each attempt doubles the pause before the next one, starting with one
 * second.
 */
const freeAttempts = 10
/** The maximum pause, which limits how long anyone can lock another person out. */
const longestPauseSeconds = 60
/** The count is reset after this time without an attempt. */
const memory = sql`interval '1 day'`

/**
 * Counts an attempt before its password is checked, so that concurrent attempts also count. If there were too many
 * attempts, does not count this one, and returns the number of seconds to wait. Uses the database's clock.
 */
export const takeAttempt = async (db: Db, keyHash: string): Promise<number> => {
  await sql`
    INSERT INTO sign_in_attempts (key_hash, attempts, blocked_until, last_at)
    VALUES (${keyHash}, 0, to_timestamp(0), now()) ON CONFLICT DO NOTHING`.execute(db)
  const attempts = sql`(CASE WHEN last_at < now() - ${memory} THEN 0 ELSE attempts END + 1)`
  const pause = sql`least(${longestPauseSeconds}::int, power(2, least(${attempts} - ${freeAttempts}::int, 20)))`
  const taken = await sql`
    UPDATE sign_in_attempts SET
      attempts = ${attempts},
      last_at = now(),
      blocked_until = CASE WHEN ${attempts} < ${freeAttempts}::int THEN blocked_until
        ELSE now() + ${pause} * interval '1 second' END
    WHERE key_hash = ${keyHash} AND blocked_until <= now()
    RETURNING key_hash`.execute(db)
  if (taken.rows.length > 0) return 0
  const { rows } = await sql<{ seconds: number }>`
    SELECT ceil(extract(epoch FROM blocked_until - now()))::int AS seconds
    FROM sign_in_attempts WHERE key_hash = ${keyHash}`.execute(db)
  return Math.max(1, rows[0]?.seconds ?? 1)
}

export const forgetAttempts = (db: Db, keyHashes: string[]) =>
  db.deleteFrom('sign_in_attempts').where('key_hash', 'in', keyHashes).execute()

/**
 * Deletes old attempts. Works in batches, so that it does not lock many rows at once. Returns the number of deleted
 * attempts.
 */
export const deleteOldAttempts = async (db: Db, limit: number): Promise<number> => {
  const { numDeletedRows } = await db
    .deleteFrom('sign_in_attempts')
    .where('key_hash', 'in', (select) =>
      select
        .selectFrom('sign_in_attempts')
        .select('key_hash')
        .where('last_at', '<', sql<Date>`now() - ${memory}`)
        .orderBy('last_at')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export const findUserIdByEmail = async (db: Db, email: string): Promise<string | undefined> =>
  (await db.selectFrom('users').select('id').where('email', '=', email.toLowerCase()).executeTakeFirst())?.id
