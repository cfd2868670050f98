import { sql } from 'kysely'
import type { Selection } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type MonitorKind = 'rule' | 'judge' | 'external' | 'scorecard'
type Definition = Record<string, unknown>

const columns = [
  'm.id',
  'm.name',
  'm.description',
  sql<MonitorKind>`m.kind`.as('kind'),
  'm.enabled',
  sql<Selection>`m.scope`.as('scope'),
  'm.sample_percent as samplePercent',
  'm.require_gain as requireGain',
  'v.number',
  sql<Definition>`v.definition`.as('definition'),
  'v.note',
  'v.created_at as versionCreatedAt',
  'm.created_at as createdAt',
  'm.updated_at as updatedAt',
] as const

/** Selects monitors that are not deleted, each with its current version. */
const selectMonitors = (db: Db, org: OrgId) =>
  db
    .selectFrom('monitors as m')
    .innerJoin('monitor_versions as v', (join) =>
      join
        .onRef('v.organization_id', '=', 'm.organization_id')
        .onRef('v.monitor_id', '=', 'm.id')
        .onRef('v.number', '=', 'm.current_version'),
    )
    .select(columns)
    .where('m.organization_id', '=', org)
    .where('m.deleted_at', 'is', null)

type MonitorFilter = { kind?: MonitorKind; enabled?: boolean }

export const listMonitors = (db: Db, org: OrgId, { kind, enabled }: MonitorFilter, page: Page) =>
  selectMonitors(db, org)
    .$if(kind !== undefined, (query) => query.where('m.kind', '=', kind as string))
    .$if(enabled !== undefined, (query) => query.where('m.enabled', '=', enabled as boolean))
    .$call(newestFirst('m.id', page))
    .execute()

export const getMonitor = (db: Db, org: OrgId, id: string) =>
  selectMonitors(db, org).where('m.id', '=', id).executeTakeFirstOrThrow(notFound)

export const findMonitors = (db: Db, org: OrgId, ids: string[]) =>
  selectMonitors(db, org).where('m.id', '=', sql<string>`ANY(${ids}::uuid[])`).execute()

/** Locks monitors against changes and deletion until the transaction ends. */
export const lockMonitorsShared = (trx: Db, org: OrgId, ids: string[]) =>
  trx
    .selectFrom('monitors')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .orderBy('id')
    .forShare()
    .execute()

/** Selects enabled monitors, unless the organization is suspended or lacks the entitlement. */
const selectActive = (db: Db, org: OrgId) =>
  selectMonitors(db, org)
    .innerJoin('organizations as o', 'o.id', 'm.organization_id')
    .where('o.monitors', '=', true)
    .where('o.suspended_at', 'is', null)
    .where('m.enabled', '=', true)
    .orderBy('m.id')

/**
 * Returns the monitors that evaluate completed conversations. There are none if the organization is suspended or lacks
 * the entitlement.
 */
export const listActiveMonitors = (db: Db, org: OrgId) =>
  selectActive(db, org).where('m.kind', 'in', ['rule', 'judge']).execute()

/** Returns the scorecards that are computed for completed conversations, like `listActiveMonitors`. */
export const listActiveScorecards = (db: Db, org: OrgId) =>
  selectActive(db, org).where('m.kind', '=', 'scorecard').execute()

/** Returns whether the organization has scorecards. */
export const hasScorecards = async (db: Db, org: OrgId): Promise<boolean> => {
  const found = await db
    .selectFrom('monitors')
    .select('id')
    .where('organization_id', '=', org)
    .where('kind', '=', sql.lit('scorecard'))
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/**
 * Returns whether any of the monitors is an item of a scorecard, either in its current version or in a version that an
 * experiment measures. Only these definitions are read, because this runs whenever results are stored.
 */
export const hasScorecardsOf = async (db: Db, org: OrgId, monitorIds: string[]): Promise<boolean> => {
  const { rows } = await sql`
    SELECT 1 FROM (
      SELECT m.id, m.current_version AS number FROM monitors m
      WHERE m.organization_id = ${org} AND m.kind = 'scorecard' AND m.deleted_at IS NULL
      UNION
      SELECT o.monitor_id, o.monitor_version FROM experiment_outcomes o
      WHERE o.organization_id = ${org} AND o.monitor_kind = 'scorecard'
    ) s
    JOIN monitor_versions v ON v.organization_id = ${org} AND v.monitor_id = s.id AND v.number = s.number
    WHERE jsonb_path_query_array(v.definition, '$.sections[*].items[*].monitorId') ?| ${monitorIds}::text[]
    LIMIT 1`.execute(db)
  return rows.length > 0
}

/** Lists the scorecards that have the monitor as an item of their current version. */
export const listScorecardsOf = async (
  db: Db,
  org: OrgId,
  monitorId: string,
): Promise<{ id: string; name: string }[]> => {
  const { rows } = await sql<{ id: string; name: string }>`
    SELECT m.id, m.name FROM monitors m
    JOIN monitor_versions v ON v.organization_id = ${org} AND v.monitor_id = m.id AND v.number = m.current_version
    WHERE m.organization_id = ${org} AND m.kind = 'scorecard' AND m.deleted_at IS NULL
      AND jsonb_path_query_array(v.definition, '$.sections[*].items[*].monitorId') ? ${monitorId}
    ORDER BY m.name, m.id`.execute(db)
  return rows
}

/** Locks monitors against deletion until the transaction ends. Results and versions can still be written. */
export const lockItems = (trx: Db, org: OrgId, ids: string[]) =>
  trx
    .selectFrom('monitors')
    .select(['id', sql<MonitorKind>`kind`.as('kind'), 'current_version as currentVersion'])
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .forKeyShare()
    .execute()

/**
 * Returns whether a rule reads a variable, or a judge listens to the sound, in any version, because an experiment may
 * have pinned an older version.
 */
export const hasRulesReading = async (db: Db, org: OrgId, variable: 'metrics' | 'sound'): Promise<boolean> => {
  const { rows } = await sql`
    SELECT 1 FROM monitors m JOIN monitor_versions v ON v.organization_id = ${org} AND v.monitor_id = m.id
    WHERE m.organization_id = ${org} AND m.deleted_at IS NULL
      AND ((m.kind = 'rule'
          AND concat_ws(' ', v.definition ->> 'expression', v.definition ->> 'score', v.definition ->> 'categories',
            v.definition ->> 'fields') ~ ${`\\m${variable}\\M`})
        OR (m.kind = 'judge' AND v.definition ->> 'input' = ${variable})) LIMIT 1`.execute(db)
  return rows.length > 0
}

type UsedProvider = {
  providerId: string
  /** Whether judges without a model use this provider. */
  isDefault: boolean
  /**
   * Whether this provider is the default and is therefore also used by judges with a model that doesn't name a
   * provider.
   */
  isForAnyModel: boolean
}

/**
 * A judge that uses a model provider, either in its current version or only in a version that a scorecard has pinned.
 */
type UsingMonitor = { id: string; name: string; isCurrent: boolean; version: number }

/** Whether the current version of a scorecard has pinned a monitor version. */
const isPinnedByScorecard = (org: OrgId) => sql<boolean>`EXISTS (
  SELECT 1 FROM monitors s
  JOIN monitor_versions sv ON sv.organization_id = ${org} AND sv.monitor_id = s.id AND sv.number = s.current_version
  WHERE s.organization_id = ${org} AND s.kind = 'scorecard' AND s.deleted_at IS NULL
    AND jsonb_path_exists(sv.definition, '$.sections[*].items[*] ? (@.monitorId == $id && @.version == $number)',
      jsonb_build_object('id', m.id, 'number', v.number)))`

/** Lists the judges that use a model provider. */
export const listMonitorsOfProvider = async (
  db: Db,
  org: OrgId,
  { providerId, isDefault, isForAnyModel }: UsedProvider,
): Promise<UsingMonitor[]> => {
  const { rows } = await sql<UsingMonitor>`
    SELECT m.id, m.name, bool_or(v.number = m.current_version) AS "isCurrent", max(v.number) AS version FROM monitors m
    JOIN monitor_versions v ON v.organization_id = ${org} AND v.monitor_id = m.id
    WHERE m.organization_id = ${org} AND m.kind = 'judge' AND m.deleted_at IS NULL
      AND (v.number = m.current_version OR ${isPinnedByScorecard(org)})
      AND (lower(v.definition ->> 'model') LIKE ${`${providerId}/%`}
        OR (${isDefault} AND (v.definition ->> 'model' IS NULL
          OR (${isForAnyModel} AND v.definition ->> 'model' !~* '^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|instance)/'))))
    GROUP BY m.id, m.name ORDER BY m.name, m.id`.execute(db)
  return rows
}

type Version = { id: string; number: number }

/**
 * Returns these versions of monitors, even if they are not current or the monitor is disabled. Returns none if the
 * organization lacks the entitlement.
 */
export const findMonitorsAtVersions = (db: Db, org: OrgId, versions: Version[]) =>
  db
    .selectFrom('monitors as m')
    .innerJoin('organizations as o', 'o.id', 'm.organization_id')
    .innerJoin('monitor_versions as v', (join) =>
      join.onRef('v.organization_id', '=', 'm.organization_id').onRef('v.monitor_id', '=', 'm.id'),
    )
    .select(columns)
    .where('m.organization_id', '=', org)
    .where(sql<boolean>`(m.id, v.number) IN (SELECT * FROM unnest(${versions.map(({ id }) => id)}::uuid[],
      ${versions.map(({ number }) => number)}::integer[]))`)
    .where('m.deleted_at', 'is', null)
    .where('o.monitors', '=', true)
    .where('o.suspended_at', 'is', null)
    .orderBy('m.id')
    .orderBy('v.number')
    .execute()

export type StoredMonitor = Awaited<ReturnType<typeof getMonitor>>

/**
 * Locks a monitor, so that its versions are numbered one after the other. Results can still be written. A second
 * statement reads the monitor, because a statement that has waited for the lock still sees the old version.
 */
export const lockMonitor = async (db: Db, org: OrgId, id: string) => {
  await db
    .selectFrom('monitors')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(notFound)
  return getMonitor(db, org, id)
}

const explain = (error: unknown): never => {
  if (violatedConstraint(error) !== 'monitors_name_key') throw error
  throw new ApiError('conflict', 'Another monitor has this name.')
}

/** Counts all monitors, or those of one kind. */
export const countMonitors = async (db: Db, org: OrgId, kind?: MonitorKind): Promise<number> => {
  const { count } = await db
    .selectFrom('monitors')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .where('deleted_at', 'is', null)
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind as string))
    .executeTakeFirstOrThrow()
  return count
}

type NewMonitor = {
  id: string
  name: string
  description: string | null
  kind: MonitorKind
  enabled: boolean
  scope: Selection
  samplePercent: number
}

/** Inserts a monitor. The caller also inserts its first version. */
export const insertMonitor = (db: Db, org: OrgId, monitor: NewMonitor) =>
  db
    .insertInto('monitors')
    .values({
      organization_id: org,
      id: monitor.id,
      name: monitor.name,
      description: monitor.description,
      kind: monitor.kind,
      enabled: monitor.enabled,
      scope: JSON.stringify(monitor.scope),
      sample_percent: monitor.samplePercent,
      current_version: 1,
    })
    .execute()
    .catch(explain)

type MonitorChange = {
  name?: string
  description?: string | null
  enabled?: boolean
  scope?: Selection
  samplePercent?: number
  requireGain?: boolean
  currentVersion?: number
}

export const updateMonitor = (db: Db, org: OrgId, id: string, change: MonitorChange) =>
  db
    .updateTable('monitors')
    .set({
      ...(change.name !== undefined && { name: change.name }),
      ...(change.description !== undefined && { description: change.description }),
      ...(change.enabled !== undefined && { enabled: change.enabled }),
      ...(change.scope !== undefined && { scope: JSON.stringify(change.scope) }),
      ...(change.samplePercent !== undefined && { sample_percent: change.samplePercent }),
      ...(change.requireGain !== undefined && { require_gain: change.requireGain }),
      ...(change.currentVersion !== undefined && { current_version: change.currentVersion }),
      updated_at: sql`now()`,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
    .catch(explain)

/**
 * Marks a monitor as deleted. The strong lock waits for transactions that are writing its results and blocks new ones,
 * so that no result is added after the commit.
 */
export const markMonitorDeleted = async (trx: Db, org: OrgId, id: string): Promise<void> => {
  await trx
    .selectFrom('monitors')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirstOrThrow(notFound)
  await trx
    .updateTable('monitors')
    .set({ deleted_at: sql`now()` })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
}

type NewVersion = { number: number; definition: Definition; note: string | null }

export const insertMonitorVersion = (
  db: Db,
  org: OrgId,
  monitorId: string,
  number: number,
  definition: Definition,
  note: string | null = null,
) =>
  db
    .insertInto('monitor_versions')
    .values({ organization_id: org, monitor_id: monitorId, number, definition: JSON.stringify(definition), note })
    .execute()

/** Lists the versions of a monitor that have examples or guidelines, newest first. */
export const listVersionsWithLearned = async (db: Db, org: OrgId, monitorId: string) => {
  const { rows } = await sql<{ number: number; definition: Definition }>`
    SELECT number, definition FROM monitor_versions
    WHERE organization_id = ${org} AND monitor_id = ${monitorId}::uuid
      AND (definition -> 'examples' IS NOT NULL OR definition -> 'guidelines' IS NOT NULL)
    ORDER BY number DESC`.execute(db)
  return rows
}

/** Replaces the definition of a version from which content has to be removed. Otherwise, versions never change. */
export const replaceDefinition = (trx: Db, org: OrgId, monitorId: string, { number, definition, note }: NewVersion) =>
  trx
    .updateTable('monitor_versions')
    .set({ definition: JSON.stringify(definition), note })
    .where('organization_id', '=', org)
    .where('monitor_id', '=', monitorId)
    .where('number', '=', number)
    .execute()

/** Locks a monitor, even if it was deleted, so that its versions don't change. Returns its current version. */
export const lockVersions = async (trx: Db, org: OrgId, id: string): Promise<number | undefined> => {
  const row = await trx
    .selectFrom('monitors')
    .select('current_version as number')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row?.number
}

type Window = { since: Date | undefined; until: Date | undefined }

/** Returns which of these monitors had a definition change in a period. The period may be open at either end. */
export const listRedefinedMonitors = async (db: Db, org: OrgId, ids: string[], { since, until }: Window) => {
  const rows = await db
    .selectFrom('monitor_versions')
    .select('monitor_id as id')
    .distinct()
    .where('organization_id', '=', org)
    .where('monitor_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .where('number', '>', 1)
    .$if(since !== undefined, (query) => query.where('created_at', '>=', since as Date))
    .$if(until !== undefined, (query) => query.where('created_at', '<', until as Date))
    .execute()
  return rows.map(({ id }) => id)
}

/** Lists the versions of a monitor, newest first. Numbers are assigned in order, so they sort by age. */
export const listMonitorVersions = (db: Db, org: OrgId, monitorId: string, { limit, after }: Page) =>
  db
    .selectFrom('monitor_versions')
    .select(['number', sql<Definition>`definition`.as('definition'), 'note', 'created_at as createdAt'])
    .where('organization_id', '=', org)
    .where('monitor_id', '=', monitorId)
    .$if(after !== undefined, (query) => query.where('number', '<', Number(after)))
    .orderBy('number', 'desc')
    .limit(limit + 1)
    .execute()
