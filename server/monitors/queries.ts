import { sql } from 'kysely'
import type { Selection } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type MonitorKind = 'rule' | 'judge' | 'external'
type Definition = Record<string, unknown>

const columns = [
  'm.id',
  'm.name',
  'm.description',
  sql<MonitorKind>`m.kind`.as('kind'),
  'm.enabled',
  sql<Selection>`m.scope`.as('scope'),
  'm.sample_percent as samplePercent',
  'v.number',
  sql<Definition>`v.definition`.as('definition'),
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

/**
 * Returns the monitors that evaluate completed conversations. There are none if the organization is suspended or lacks
 * the entitlement.
 */
export const listActiveMonitors = (db: Db, org: OrgId) =>
  selectMonitors(db, org)
    .innerJoin('organizations as o', 'o.id', 'm.organization_id')
    .where('o.monitors', '=', true)
    .where('o.suspended_at', 'is', null)
    .where('m.enabled', '=', true)
    .where('m.kind', '<>', 'external')
    .orderBy('m.id')
    .execute()

/** Returns whether a rule reads metrics in any version, because an experiment may have pinned an older one. */
export const hasMetricRules = async (db: Db, org: OrgId): Promise<boolean> => {
  const { rows } = await sql`
    SELECT 1 FROM monitors m JOIN monitor_versions v ON v.organization_id = ${org} AND v.monitor_id = m.id
    WHERE m.organization_id = ${org} AND m.kind = 'rule' AND m.deleted_at IS NULL
      AND concat_ws(' ', v.definition ->> 'expression', v.definition ->> 'score') ~ '\\mmetrics\\M' LIMIT 1`.execute(db)
  return rows.length > 0
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
 * statement reads the monitor, because the one that waited for the lock still sees the old version.
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

export const countMonitors = async (db: Db, org: OrgId): Promise<number> => {
  const { count } = await db
    .selectFrom('monitors')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .where('deleted_at', 'is', null)
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
      ...(change.currentVersion !== undefined && { current_version: change.currentVersion }),
      updated_at: sql`now()`,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
    .catch(explain)

/**
 * Marks a monitor as deleted. The strong lock waits for transactions that write its results and blocks new ones, so
 * that no result is added after the commit.
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

export const insertMonitorVersion = (db: Db, org: OrgId, monitorId: string, number: number, definition: Definition) =>
  db
    .insertInto('monitor_versions')
    .values({ organization_id: org, monitor_id: monitorId, number, definition: JSON.stringify(definition) })
    .execute()

/** Lists the versions of a monitor, newest first. Numbers are assigned in order, so they sort by age. */
export const listMonitorVersions = (db: Db, org: OrgId, monitorId: string, { limit, after }: Page) =>
  db
    .selectFrom('monitor_versions')
    .select(['number', sql<Definition>`definition`.as('definition'), 'created_at as createdAt'])
    .where('organization_id', '=', org)
    .where('monitor_id', '=', monitorId)
    .$if(after !== undefined, (query) => query.where('number', '<', Number(after)))
    .orderBy('number', 'desc')
    .limit(limit + 1)
    .execute()
