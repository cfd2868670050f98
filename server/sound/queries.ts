import { sql } from 'kysely'
import { effectiveRedaction, isUnmeasured } from '../conversations/recordings/queries.ts'
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

/** Assigns the measures to another file of the same recording, such as the redacted one. */
export const moveSound = async (
  trx: Db,
  org: OrgId,
  conversationId: string,
  { from, to }: { from: string; to: string },
): Promise<void> => {
  await trx
    .updateTable('recording_sounds')
    .set({ blob_key: to })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .where('blob_key', '=', from)
    .execute()
  await trx
    .updateTable('recordings')
    .set({ measured_key: to })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .where('measured_key', '=', from)
    .execute()
}

/** Stores the measures in the columns that filters, rules, and charts read. The caller has locked the conversation. */
export const updateMeasures = (trx: Db, org: OrgId, conversationId: string, measures: object) =>
  trx
    .updateTable('conversations')
    .set({ sound: JSON.stringify(measures) })
    .where('organization_id', '=', org)
    .where('id', '=', conversationId)
    .execute()

/** Clears measures that depend on an earlier transcript. Returns the conversations that had such measures. */
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

/** Matches recordings that have not changed since a time. Newer ones have their own jobs. */
const isOlder = (before: Date) => sql<boolean>`updated_at < ${before}`

/** Lists the organizations that have recordings to measure or redact. */
export const listUnsettledOrganizationsAllOrgs = (db: Db, before: Date) =>
  db
    .selectFrom('recordings')
    .select(sql<OrgId>`organization_id`.as('id'))
    .distinct()
    .where(isOlder(before))
    .where(sql<boolean>`(status = 'processing' OR (
      ${isUnmeasured} AND organization_id NOT IN (SELECT o.id FROM organizations o WHERE NOT o.measure_sound)))`)
    .execute()

/**
 * Lists recordings to measure, and those to redact that have complete transcripts. If redaction was turned off, no
 * transcript is needed.
 */
export const listUnsettled = (db: Db, org: OrgId, before: Date, { limit, after }: Page) =>
  db
    .selectFrom('recordings')
    .select('conversation_id as id')
    .where('organization_id', '=', org)
    .where(isOlder(before))
    .where(sql<boolean>`(
      (${isUnmeasured} AND EXISTS (SELECT 1 FROM organizations o WHERE o.id = ${org} AND o.measure_sound))
      OR (status = 'processing' AND EXISTS (
        SELECT 1 FROM conversations c JOIN transcripts t
        ON t.organization_id = ${org} AND t.conversation_id = c.id
        WHERE c.organization_id = ${org} AND c.id = recordings.conversation_id AND c.status <> 'in_progress'))
      OR (status = 'processing' AND EXISTS (
        SELECT 1 FROM conversations c
        JOIN agents a ON a.organization_id = ${org} AND a.id = c.agent_id
        JOIN organizations o ON o.id = ${org}
        WHERE c.organization_id = ${org} AND c.id = recordings.conversation_id AND ${effectiveRedaction} = 'none')))`)
    .$if(after !== undefined, (query) => query.where('conversation_id', '>', after as string))
    .orderBy('conversation_id')
    .limit(limit)
    .execute()
