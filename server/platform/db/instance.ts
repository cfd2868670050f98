import type { Db } from './database.ts'

/** Which database this is. A dump and a copy of it are the same one; what `restore` makes beside a bucket is another. */
export const readInstanceId = async (db: Db): Promise<string> =>
  (await db.selectFrom('instance').select('id').executeTakeFirstOrThrow()).id

export const renewInstanceId = async (db: Db): Promise<void> => {
  await db.updateTable('instance').set({ id: crypto.randomUUID() }).execute()
}
