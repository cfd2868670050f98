import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

const columns = ['id', 'name', 'created_at as createdAt', 'updated_at as updatedAt'] as const

const selectGroups = (db: Db, org: OrgId) =>
  db.selectFrom('agent_groups').select(columns).where('organization_id', '=', org)

export const listAgentGroups = (db: Db, org: OrgId, page: Page) =>
  selectGroups(db, org).$call(newestFirst('id', page)).execute()

export const findAgentGroup = (db: Db, org: OrgId, id: string) =>
  selectGroups(db, org).where('id', '=', id).executeTakeFirst()

export const getAgentGroup = (db: Db, org: OrgId, id: string) =>
  selectGroups(db, org).where('id', '=', id).executeTakeFirstOrThrow(notFound)

const nameTaken = (error: unknown): never => {
  if (violatedConstraint(error) === 'agent_groups_name_key') {
    throw new ApiError('conflict', 'Another agent group has this name.')
  }
  throw error
}

export const insertAgentGroup = (db: Db, org: OrgId, { id, name }: { id: string; name: string }) =>
  db
    .insertInto('agent_groups')
    .values({ organization_id: org, id, name })
    .returning(columns)
    .executeTakeFirstOrThrow()
    .catch(nameTaken)

export const updateAgentGroup = (db: Db, org: OrgId, id: string, { name }: { name?: string }) =>
  db
    .updateTable('agent_groups')
    .set({ ...(name !== undefined && { name }), updated_at: sql`now()` })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)
    .catch(nameTaken)

/** Deletes a group. Its agents stay. */
export const deleteAgentGroup = (db: Db, org: OrgId, id: string) =>
  db
    .deleteFrom('agent_groups')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(notFound)
