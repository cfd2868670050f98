import { sql } from 'kysely'
import type { Db } from './database.ts'

/**
 * Returns the identity of this database. Dumps and copies have the same identity. A `restore` with files in a bucket
 * creates a new one.
 */
export const readInstanceId = async (db: Db): Promise<string> =>
  (await db.selectFrom('instance').select('id').executeTakeFirstOrThrow()).id

export const renewInstanceId = async (db: Db): Promise<void> => {
  await db.updateTable('instance').set({ id: crypto.randomUUID(), claimed_storage: null }).execute()
}

/** A service is rarely stopped for this long. The time is shorter than any retention period. */
const longestGap = sql.lit('36 hours')
/** After a jump, the clock must run evenly for this long before any data is deleted by age. */
const probation = sql.lit('24 hours')

/**
 * Records a reading of the database's clock, and returns the clock's state. A clock that has jumped is not trusted
 * until it has run evenly for a day, which leaves enough time to fix it.
 */
export const noteDatabaseTime = async (db: Db): Promise<{ now: Date; trustedAfter: Date }> => {
  const { rows } = await sql<{ now: Date; trustedAfter: Date }>`
    UPDATE instance SET
      seen_at = read.at,
      trusted_from = CASE
        WHEN seen_at IS NULL THEN read.at - interval ${probation}
        WHEN read.at NOT BETWEEN seen_at - interval '1 minute' AND seen_at + interval ${longestGap} THEN read.at
        ELSE trusted_from
      END
    FROM (SELECT clock_timestamp()::timestamptz(3) AS at) AS read
    RETURNING seen_at AS now, trusted_from + interval ${probation} AS "trustedAfter"
  `.execute(db)
  const [row] = rows
  if (!row) throw new Error('The database has no instance ID.')
  return row
}

/** Returns the text that was encrypted when the secret key was first used. If there is none, stores the given text. */
export const keepKeyCheck = async (db: Db, sealed: string): Promise<string> => {
  await db.updateTable('instance').set({ key_check: sealed }).where('key_check', 'is', null).execute()
  return (await readKeyCheck(db)) ?? sealed
}

export const readKeyCheck = async (db: Db): Promise<string | null> =>
  (await db.selectFrom('instance').select('key_check').executeTakeFirstOrThrow()).key_check

export const replaceKeyCheck = async (db: Db, sealed: string): Promise<void> => {
  await db.updateTable('instance').set({ key_check: sealed }).execute()
}

/** Returns the address of the storage that this database last claimed for its files. */
export const readClaimedStorage = async (db: Db): Promise<string | null> =>
  (await db.selectFrom('instance').select('claimed_storage').executeTakeFirstOrThrow()).claimed_storage

export const writeClaimedStorage = async (db: Db, address: string | null): Promise<void> => {
  await db
    .updateTable('instance')
    .set({ claimed_storage: address })
    .where('claimed_storage', 'is distinct from', address)
    .execute()
}
