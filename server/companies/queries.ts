import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { prepared } from '../platform/db/prepared.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

const columns = ['id', 'name', 'logo_url as logoUrl', 'created_at as createdAt', 'updated_at as updatedAt'] as const

export const listCompanies = (db: Db, org: OrgId, page: Page) =>
  db.selectFrom('companies').select(columns).where('organization_id', '=', org).$call(newestFirst('id', page)).execute()

const findCompany = prepared((db, org: OrgId, id: string) =>
  db.selectFrom('companies').select(columns).where('organization_id', '=', org).where('id', '=', id),
)

export const getCompany = async (db: Db, org: OrgId, id: string) => {
  const [company] = await findCompany(db, org, id)
  if (!company) throw notFound()
  return company
}

/** Returns which of these IDs are companies. */
export const findCompanyIds = async (db: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  const rows = await db
    .selectFrom('companies')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
  return rows.map(({ id }) => id)
}

export const findCompaniesByName = (db: Db, org: OrgId, names: string[]) =>
  db
    .selectFrom('companies')
    .select(['id', 'name'])
    .where('organization_id', '=', org)
    .where('name', 'in', names)
    .execute()

/** Locks the company and returns it, so that the caller knows which uploaded logo its change replaces. */
export const lockCompany = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('companies')
    .select(['id', 'logo_key as logoKey', 'logo_url as logoUrl'])
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(notFound)

type NewCompany = { id: string; name: string; logoUrl?: string | null }

export const insertCompany = (db: Db, org: OrgId, { id, name, logoUrl = null }: NewCompany) =>
  db
    .insertInto('companies')
    .values({ organization_id: org, id, name, logo_url: logoUrl })
    .returning(columns)
    .executeTakeFirstOrThrow()

type CompanyChange = { name?: string; logoUrl?: string | null; logoKey?: string | null }

export const updateCompany = (db: Db, org: OrgId, id: string, { name, logoUrl, logoKey }: CompanyChange) =>
  db
    .updateTable('companies')
    .set({
      ...(name !== undefined && { name }),
      ...(logoUrl !== undefined && { logo_url: logoUrl }),
      ...(logoKey !== undefined && { logo_key: logoKey }),
      updated_at: sql`now()`,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)

export const deleteCompany = (db: Db, org: OrgId, id: string) =>
  db
    .deleteFrom('companies')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
    .catch((error: unknown) => {
      if (!violatedConstraint(error)?.endsWith('_company_fkey')) throw error
      throw new ApiError(
        'conflict',
        'Agents or conversations belong to this company. Assign them to another company first.',
      )
    })

/** Returns which of these uploaded logos are in use. */
export const listNamedLogos = async (db: Db, org: OrgId, keys: string[]): Promise<string[]> => {
  const rows = await db
    .selectFrom('companies')
    .select('logo_key as key')
    .where('organization_id', '=', org)
    .where('logo_key', 'in', keys)
    .execute()
  return rows.flatMap(({ key }) => key ?? [])
}
