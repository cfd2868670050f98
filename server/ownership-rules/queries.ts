import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { oldestFirst } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

const columns = [
  'id',
  'name',
  'position',
  'agent_ids as agentIds',
  'company_ids as companyIds',
  'tags',
  'owner_user_id as ownerUserId',
  'destination_ids as destinationIds',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

const select = (db: Db, org: OrgId) =>
  db.selectFrom('ownership_rules').select(columns).where('organization_id', '=', org)

export const listOwnershipRules = (db: Db, org: OrgId, page: Page) =>
  select(db, org).$call(oldestFirst('position', page)).execute()

/** Lists all rules in order. */
export const listRoutes = (db: Db, org: OrgId) => select(db, org).orderBy('position').execute()

export const getOwnershipRule = (db: Db, org: OrgId, id: string) =>
  select(db, org).where('id', '=', id).executeTakeFirstOrThrow(notFound)

export type StoredOwnershipRule = Awaited<ReturnType<typeof getOwnershipRule>>

/** Counts the rules. Until the transaction ends, no other transaction can change their order. */
export const lockOwnershipRules = async (trx: Db, org: OrgId): Promise<number> => {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('ownership rules of ' || ${org}::text, 0))`.execute(trx)
  const { count } = await trx
    .selectFrom('ownership_rules')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .executeTakeFirstOrThrow()
  return count
}

/** Moves the rules between two positions by one position. The caller has locked the order. */
export const shiftPositions = (trx: Db, org: OrgId, { from, to, by }: { from: number; to: number; by: 1 | -1 }) =>
  trx
    .updateTable('ownership_rules')
    .set({ position: sql`position + ${by}::integer` })
    .where('organization_id', '=', org)
    .where('position', '>=', from)
    .where('position', '<=', to)
    .execute()

export type OwnershipFields = {
  name: string
  position: number
  agentIds: string[]
  companyIds: string[]
  tags: string[]
  ownerUserId: string | null
  destinationIds: string[]
}

const valuesOf = (fields: OwnershipFields, now: Date) => ({
  name: fields.name,
  position: fields.position,
  agent_ids: fields.agentIds,
  company_ids: fields.companyIds,
  tags: fields.tags,
  owner_user_id: fields.ownerUserId,
  destination_ids: fields.destinationIds,
  updated_at: now,
})

export const insertOwnershipRule = (
  trx: Db,
  org: OrgId,
  { id, now, ...fields }: OwnershipFields & { id: string; now: Date },
) =>
  trx
    .insertInto('ownership_rules')
    .values({ organization_id: org, id, ...valuesOf(fields, now), created_at: now })
    .returning(columns)
    .executeTakeFirstOrThrow()

export const updateOwnershipRule = (trx: Db, org: OrgId, id: string, fields: OwnershipFields, now: Date) =>
  trx
    .updateTable('ownership_rules')
    .set(valuesOf(fields, now))
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)

export const deleteOwnershipRule = (trx: Db, org: OrgId, id: string) =>
  trx.deleteFrom('ownership_rules').where('organization_id', '=', org).where('id', '=', id).execute()

/** Removes a person who left the organization as the owner in rules. */
export const clearOwner = (trx: Db, org: OrgId, userId: string) =>
  trx
    .updateTable('ownership_rules')
    .set({ owner_user_id: null })
    .where('organization_id', '=', org)
    .where('owner_user_id', '=', userId)
    .execute()

export const removeRoutedDestination = (trx: Db, org: OrgId, destinationId: string) =>
  trx
    .updateTable('ownership_rules')
    .set({ destination_ids: sql<string[]>`array_remove(destination_ids, ${destinationId}::uuid)` })
    .where('organization_id', '=', org)
    .where(sql<boolean>`${destinationId}::uuid = ANY(destination_ids)`)
    .execute()

type Involved = { agentIds: string[]; companyIds: string[] }

/** Returns the agents and companies that have at least half of a finding's conversations. */
export const findInvolved = async (db: Db, org: OrgId, findingId: string): Promise<Involved> => {
  const { rows } = await sql<Involved>`
    WITH attached AS (
      SELECT c.agent_id, c.company_id
      FROM finding_conversations f JOIN conversations c ON c.organization_id = ${org} AND c.id = f.conversation_id
      WHERE f.organization_id = ${org} AND f.finding_id = ${findingId}::uuid)
    SELECT
      ARRAY(SELECT agent_id FROM attached WHERE agent_id IS NOT NULL
        GROUP BY agent_id HAVING 2 * count(*) >= (SELECT count(*) FROM attached)) AS "agentIds",
      ARRAY(SELECT company_id FROM attached WHERE company_id IS NOT NULL
        GROUP BY company_id HAVING 2 * count(*) >= (SELECT count(*) FROM attached)) AS "companyIds"`.execute(db)
  return rows[0] ?? { agentIds: [], companyIds: [] }
}
