import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

/** The current state of a notification's subject. */
export type Subject = {
  id: string
  title: string
  /**
   * The experiment that an export belongs to, or null for other subjects. All exports have a format and possibly an
   * error.
   */
  experimentId: string | null
  format: string | null
  errorCode: string | null
}

/** Returns the subjects that still exist, with their titles or names. */
export const listSubjects = async (db: Db, org: OrgId, ids: string[]): Promise<Subject[]> => {
  if (ids.length === 0) return []
  const { rows } = await sql<Subject>`
    WITH subjects AS (
      SELECT id, title, NULL::uuid AS experiment_id, NULL AS format, NULL AS error_code FROM findings
      WHERE organization_id = ${org} AND id = ANY(${ids}::uuid[])
      UNION ALL
      SELECT id, rule_name || coalesce(': ' || group_label, ''), NULL, NULL, NULL FROM alert_incidents
      WHERE organization_id = ${org} AND id = ANY(${ids}::uuid[])
      UNION ALL
      SELECT id, coalesce(schedule_name, upper(config ->> 'format') || ' export'), experiment_id,
        upper(config ->> 'format'), error_code
      FROM monitor_exports WHERE organization_id = ${org} AND id = ANY(${ids}::uuid[])
      UNION ALL
      SELECT id, name, NULL, NULL, NULL FROM buckets WHERE organization_id = ${org} AND id = ANY(${ids}::uuid[])
      UNION ALL
      SELECT id, changed || CASE changed WHEN 1 THEN ' conversation' ELSE ' conversations' END, NULL, NULL, NULL
      FROM bulk_actions WHERE organization_id = ${org} AND id = ANY(${ids}::uuid[])
      UNION ALL
      SELECT id, name, NULL, NULL, NULL FROM members WHERE organization_id = ${org} AND id = ANY(${ids}::uuid[]))
    SELECT id, title, experiment_id AS "experimentId", format, error_code AS "errorCode" FROM subjects`.execute(db)
  return rows
}

/** Returns the names of these users if they are members. */
export const listNames = (db: Db, org: OrgId, userIds: string[]) =>
  db
    .selectFrom('members')
    .select(['user_id as userId', 'name'])
    .where('organization_id', '=', org)
    .where(sql<boolean>`user_id = ANY(${userIds}::uuid[])`)
    .execute()
