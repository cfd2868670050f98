import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Page } from '../platform/http/paging.ts'

export type StoredSound = {
  /** The recording that was measured. */
  blobKey: string
  measured: object | null
  /** The reason why the recording could not be measured. */
  reason: string | null
}

export const findSound = async (db: Db, org: OrgId, conversationId: string) => {
  const row = await db
    .selectFrom('recording_sounds')
    .select(['blob_key as blobKey', sql<object | null>`measured`.as('measured'), 'reason'])
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst()
  return row satisfies StoredSound | undefined
}

/** Replaces the measures of an earlier recording. The caller has locked the conversation and its recording. */
export const storeSound = async (trx: Db, org: OrgId, conversationId: string, sound: StoredSound): Promise<void> => {
  const values = {
    blob_key: sound.blobKey,
    measured: sound.measured && JSON.stringify(sound.measured),
    reason: sound.reason,
  }
  await trx
    .insertInto('recording_sounds')
    .values({ organization_id: org, conversation_id: conversationId, ...values })
    .onConflict((conflict) =>
      conflict.constraint('recording_sounds_pkey').doUpdateSet(({ ref }) => ({
        ...values,
        measured_at: ref('excluded.measured_at'),
      })),
    )
    .execute()
  await trx
    .updateTable('recordings')
    .set({ measured_key: sound.blobKey })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .execute()
}

/** Stores the measures where filters, rules, and charts read them. The caller has locked the conversation. */
export const updateMeasures = (trx: Db, org: OrgId, conversationId: string, measures: object) =>
  trx
    .updateTable('conversations')
    .set({ sound: JSON.stringify(measures) })
    .where('organization_id', '=', org)
    .where('id', '=', conversationId)
    .execute()

/** Forgets measures that depend on an earlier transcript. Returns the conversations that had some. */
export const clearMeasures = async (trx: Db, org: OrgId, conversationIds: string[]): Promise<string[]> => {
  const cleared = await trx
    .updateTable('conversations')
    .set({ sound: null })
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${conversationIds}::uuid[])`)
    .where('sound', 'is not', null)
    .returning('id')
    .execute()
  return cleared.map(({ id }) => id)
}

const isUnmeasured = sql<boolean>`status = 'stored' AND measured_key IS DISTINCT FROM blob_key`

/** Matches recordings that did not change after a time. Newer ones have their own job. */
const isOlder = (before: Date) => sql<boolean>`updated_at < ${before}`

export const listUnmeasuredOrganizationsAllOrgs = (db: Db, before: Date) =>
  db
    .selectFrom('recordings')
    .select(sql<OrgId>`organization_id`.as('id'))
    .distinct()
    .where(isUnmeasured)
    .where(isOlder(before))
    .where(sql<boolean>`organization_id NOT IN (SELECT o.id FROM organizations o WHERE NOT o.measure_sound)`)
    .execute()

export const listUnmeasured = (db: Db, org: OrgId, before: Date, { limit, after }: Page) =>
  db
    .selectFrom('recordings')
    .select('conversation_id as id')
    .where('organization_id', '=', org)
    .where(isUnmeasured)
    .where(isOlder(before))
    .$if(after !== undefined, (query) => query.where('conversation_id', '>', after as string))
    .orderBy('conversation_id')
    .limit(limit)
    .execute()
