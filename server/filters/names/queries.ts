import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Part, Selection } from '../queries.ts'

type IdList = 'agentIds' | 'agentVersionIds' | 'agentGroupIds' | 'companyIds' | 'findingIds' | 'topicIds'
type Names = IdList | 'monitors' | 'categories' | 'fields' | 'bucketId'
/** The names don't depend on meanings, so resolved filters have them, too. */
type Named = Pick<Selection<unknown>, Names | 'anyOf' | 'exclude'>

/** Returns a filter and all filters nested in it. */
const partsOf = (selection: Named): Pick<Part, Names>[] => [
  selection,
  ...(selection.anyOf ?? []),
  ...(selection.exclude ? [selection.exclude, ...(selection.exclude.anyOf ?? [])] : []),
]

/** Returns the names for the IDs in these filters. Omits unknown IDs. */
export const findNames = async (db: Db, org: OrgId, selections: Named[]): Promise<Map<string, string>> => {
  const parts = selections.flatMap(partsOf)
  const all = (field: IdList) => parts.flatMap((part) => part[field] ?? [])
  const agents = all('agentIds')
  const versions = all('agentVersionIds')
  const groups = all('agentGroupIds')
  const companies = all('companyIds')
  const findings = all('findingIds')
  const topics = all('topicIds')
  const monitors = parts.flatMap((part) => [
    ...(part.monitors?.map(({ id }) => id) ?? []),
    ...(part.categories ? [part.categories.monitorId] : []),
    ...(part.fields?.map(({ monitorId }) => monitorId) ?? []),
  ])
  const buckets = parts.flatMap((part) => part.bucketId ?? [])
  if ([agents, versions, groups, companies, findings, topics, monitors, buckets].every((ids) => ids.length === 0))
    return new Map()
  const { rows } = await sql<{ id: string; name: string }>`
    SELECT id, name FROM agents WHERE organization_id = ${org} AND id = ANY(${agents}::uuid[])
    UNION ALL
    SELECT id, name FROM agent_groups WHERE organization_id = ${org} AND id = ANY(${groups}::uuid[])
    UNION ALL
    SELECT id, name FROM companies WHERE organization_id = ${org} AND id = ANY(${companies}::uuid[])
    UNION ALL
    SELECT id, name FROM buckets WHERE organization_id = ${org} AND id = ANY(${buckets}::uuid[])
    UNION ALL
    SELECT id, title FROM findings WHERE organization_id = ${org} AND id = ANY(${findings}::uuid[])
    UNION ALL
    SELECT id, coalesce(label, nullif(array_to_string(terms, ', '), ''), 'without a name') FROM topics
    WHERE organization_id = ${org} AND id = ANY(${topics}::uuid[])
    UNION ALL
    SELECT id, name FROM monitors
    WHERE organization_id = ${org} AND id = ANY(${monitors}::uuid[]) AND deleted_at IS NULL
    UNION ALL
    SELECT v.id, coalesce(v.label, v.number::text) || ' of ' || a.name
    FROM agent_versions v JOIN agents a ON a.organization_id = v.organization_id AND a.id = v.agent_id
    WHERE v.organization_id = ${org} AND v.id = ANY(${versions}::uuid[])`.execute(db)
  return new Map(rows.map(({ id, name }) => [id, name]))
}
