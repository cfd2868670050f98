import { type RawBuilder, sql } from 'kysely'
import { metricValue } from '../../filters/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { plannedEachTime } from '../../platform/db/naming-client.ts'
import { codes } from '../../platform/db/result-codes.ts'
import { stepOf } from '../../platform/db/rounded-values.ts'
import { signalNames, signalPaths } from '../../transcripts/signals/paths.ts'

type Note = { id: string; at: Date }

/** Notes the hours of conversations. They still have to exist. */
export const insertChanges = (trx: Db, org: OrgId, conversationIds: string[], { id, at }: Note) =>
  sql`
    INSERT INTO analytics_changes (organization_id, hour, id, at)
    SELECT ${org}::uuid, h.hour, ${id}::uuid, ${at}::timestamptz
    FROM (
      SELECT DISTINCT date_trunc('hour', c.started_at, 'UTC') AS hour FROM conversations c
      WHERE c.organization_id = ${org} AND c.id = ANY(${conversationIds}::uuid[])) h`.execute(trx)

/** Lists organizations with notes, and those whose hours are not all built. */
export const listDueOrganizationsAllOrgs = async (db: Db): Promise<{ id: OrgId }[]> => {
  const { rows } = await sql<{ id: OrgId }>`
    SELECT o.id FROM organizations o
    WHERE EXISTS (SELECT 1 FROM analytics_changes c WHERE c.organization_id = o.id)
      OR NOT EXISTS (SELECT 1 FROM analytics_states s WHERE s.organization_id = o.id AND s.built_since IS NULL)
    ORDER BY o.id`.execute(db)
  return rows
}

/** Lists organizations with built hours, which are checked. */
export const listBuiltOrganizationsAllOrgs = (db: Db) =>
  db.selectFrom('analytics_states').select('organization_id as id').orderBy('organization_id').execute() as Promise<
    { id: OrgId }[]
  >

export type State = { builtSince: Date | null; checkedUntil: Date | null }

/** Returns undefined before the first build. */
export const findState = (db: Db, org: OrgId): Promise<State | undefined> =>
  db
    .selectFrom('analytics_states')
    .select(['built_since as builtSince', 'checked_until as checkedUntil'])
    .where('organization_id', '=', org)
    .executeTakeFirst()

/** Lists the hours with notes. */
export const listChangedHours = async (db: Db, org: OrgId): Promise<Date[]> => {
  const { rows } = await sql<{ hour: Date }>`
    SELECT DISTINCT hour FROM analytics_changes WHERE organization_id = ${org}`.execute(db)
  return rows.map(({ hour }) => hour)
}

/** Returns whether an hour has more notes than this. */
export const hasManyChanges = async (db: Db, org: OrgId, most: number): Promise<boolean> => {
  const { rows } = await sql`
    SELECT 1 FROM analytics_changes WHERE organization_id = ${org} GROUP BY hour HAVING count(*) > ${most} LIMIT 1`.execute(
    db,
  )
  return rows.length > 0
}

/** Raises the limit for the transaction: a day of a large organization takes longer than a request may. */
export const allowLongStatements = (trx: Db) => sql`SET LOCAL statement_timeout = ${sql.lit(240_000)}`.execute(trx)

type Quiet = { quietSince: Date; waitingSince: Date; builtSince: Date | null; limit: number }

/**
 * Lists hours that have not changed lately, or have waited for long, newest first. Hours before `builtSince` have no sums
 * yet.
 */
export const listQuietHours = async (db: Db, org: OrgId, quiet: Quiet): Promise<Date[]> => {
  const { quietSince, waitingSince, builtSince, limit } = quiet
  const { rows } = await sql<{ hour: Date }>`
    SELECT hour FROM analytics_changes
    WHERE organization_id = ${org} AND hour >= coalesce(${builtSince}::timestamptz, '-infinity')
    GROUP BY hour
    HAVING max(at) <= ${quietSince}::timestamptz OR min(at) <= ${waitingSince}::timestamptz
    ORDER BY hour DESC LIMIT ${limit}`.execute(db)
  return rows.map(({ hour }) => hour)
}

/** Returns the hour of the latest conversation before then. */
export const findHourBefore = async (db: Db, org: OrgId, before: Date | null): Promise<Date | undefined> => {
  const { rows } = await sql<{ hour: Date }>`
    SELECT date_trunc('hour', c.started_at, 'UTC') AS hour FROM conversations c
    WHERE c.organization_id = ${org} AND c.started_at < coalesce(${before}::timestamptz, 'infinity')
    ORDER BY c.started_at DESC LIMIT 1`.execute(db)
  return rows[0]?.hour
}

export const insertState = (trx: Db, org: OrgId, builtSince: Date | null) =>
  trx.insertInto('analytics_states').values({ organization_id: org, built_since: builtSince, builds: 1 }).execute()

/** Counts a build, and fails if another one committed since this transaction started. Undefined leaves `built_since` as it is. */
export const countBuild = (trx: Db, org: OrgId, builtSince?: Date | null) =>
  sql`
    UPDATE analytics_states SET builds = builds + 1
      ${builtSince === undefined ? sql`` : sql`, built_since = ${builtSince}::timestamptz`}
    WHERE organization_id = ${org}`.execute(trx)

/** Deletes the notes that this transaction sees: later ones are of changes that it does not see either. */
export const deleteChanges = (trx: Db, org: OrgId, hours: Date[]) =>
  trx
    .deleteFrom('analytics_changes')
    .where('organization_id', '=', org)
    .where('hour', '=', sql<Date>`ANY(${hours}::timestamptz[])`)
    .execute()

/** Keeps one note of each hour with many. Only if no build is running, which might delete the one that is kept. */
export const thinChanges = (trx: Db, org: OrgId, most: number) =>
  sql`
    DELETE FROM analytics_changes c USING (
      SELECT hour, max(id::text)::uuid AS kept, min(at) AS since FROM analytics_changes
      WHERE organization_id = ${org} GROUP BY hour HAVING count(*) > ${most}) h
    WHERE c.organization_id = ${org} AND c.hour = h.hour AND c.id <> h.kept AND c.at <> h.since`.execute(trx)

export const deleteHours = (trx: Db, org: OrgId, hours: Date[]) =>
  trx
    .deleteFrom('analytics_hours')
    .where('organization_id', '=', org)
    .where('hour', '=', sql<Date>`ANY(${hours}::timestamptz[])`)
    .execute()

const dimensions = sql`agent_id, agent_version_id, company_id, channel, direction`

/** Selects what is measured of conversations themselves, or the results of some monitors. */
export type Subjects = 'conversations' | { monitorIds: string[] }

/** Selects the values of some subjects in the conversations of some hours. */
const valuesOf = (org: OrgId, hours: Date[], subjects: Subjects): RawBuilder<unknown> => {
  const within = (at: RawBuilder<unknown>) => sql`${at} >= g.hour AND ${at} < g.hour + interval '1 hour'`
  const ofConversations = [
    sql`('duration', duration_seconds::float8)`,
    sql`('delay', extract(epoch FROM created_at - started_at)::float8)`,
    ...signalNames.map((name) => sql`(${`signal:${name}`}::text, (signals #>> ${signalPaths[name]}::text[])::float8)`),
  ]
  const dims = sql`s.agent_id, s.agent_version_id, s.company_id, s.channel, s.direction`
  const started = sql`
    WITH hours AS (SELECT h.hour FROM unnest(${hours}::timestamptz[]) AS h(hour)),
    started AS MATERIALIZED (
      SELECT g.hour, c.* FROM hours g CROSS JOIN LATERAL (
        SELECT id, started_at, created_at, duration_seconds, signals, ${dimensions} FROM conversations
        WHERE organization_id = ${org} AND ${within(sql`started_at`)}) c
    )`
  if (subjects === 'conversations') {
    return sql`${started}
    SELECT s.hour, 'volume' AS subject, false AS hit, NULL::float8 AS value, ${dims} FROM started s
    UNION ALL
    SELECT s.hour, v.subject, false, v.value, ${dims}
    FROM started s CROSS JOIN LATERAL (VALUES ${sql.join(ofConversations)}) v(subject, value) WHERE v.value IS NOT NULL
    UNION ALL
    SELECT s.hour, 'metric:' || m.key, false, ${metricValue}, ${dims}
    FROM started s JOIN customer_metrics m ON m.organization_id = ${org} AND m.conversation_id = s.id
      AND jsonb_typeof(m.value) IN ('number', 'boolean')`
  }
  const monitors = sql`${subjects.monitorIds}::uuid[]`
  return sql`${started}, newest AS (
      SELECT n.* FROM hours g CROSS JOIN LATERAL (
        SELECT DISTINCT ON (r.monitor_id, r.call_started_at, r.conversation_id)
          r.monitor_id, r.call_started_at, r.conversation_id, r.result, r.score
        FROM monitor_results r
        WHERE r.organization_id = ${org} AND r.monitor_id = ANY(${monitors}) AND ${within(sql`r.call_started_at`)}
        ORDER BY r.monitor_id DESC, r.call_started_at DESC, r.conversation_id DESC, r.monitor_version DESC) n
    ), paid AS (
      SELECT p.* FROM hours g CROSS JOIN LATERAL (
        SELECT r.monitor_id, r.call_started_at, r.conversation_id, r.cost FROM monitor_results r
        WHERE r.organization_id = ${org} AND r.monitor_id = ANY(${monitors}) AND ${within(sql`r.call_started_at`)}
          AND r.cost IS NOT NULL) p
    )
    SELECT s.hour, 'rate:' || n.monitor_id AS subject, n.result = ${codes.affected} AS hit, NULL::float8 AS value, ${dims}
    FROM newest n JOIN started s ON s.started_at = n.call_started_at AND s.id = n.conversation_id
    WHERE n.result IS NOT NULL
    UNION ALL
    SELECT s.hour, 'score:' || n.monitor_id, false, n.score, ${dims}
    FROM newest n JOIN started s ON s.started_at = n.call_started_at AND s.id = n.conversation_id
    WHERE n.score IS NOT NULL
    UNION ALL
    SELECT s.hour, 'cost:' || p.monitor_id, false, p.cost, ${dims}
    FROM paid p JOIN started s ON s.started_at = p.call_started_at AND s.id = p.conversation_id`
}

/** The rows of `analytics_hours` of some hours, from their conversations. */
const countHours = (org: OrgId, hours: Date[], subjects: Subjects): RawBuilder<unknown> => sql`
  WITH given AS MATERIALIZED (
    SELECT v.*, CASE WHEN v.value IS NOT NULL THEN ${stepOf(sql`v.value`)} END AS step FROM (${valuesOf(org, hours, subjects)}) v
  ), stepped AS (
    SELECT hour, subject, (7 - grouping(agent_id, company_id, channel))::smallint AS grain, ${dimensions}, step,
      count(*) AS count, count(*) FILTER (WHERE hit) AS hits, coalesce(sum(value), 0) AS sum,
      coalesce(sum(value * value), 0) AS squares
    FROM given
    GROUP BY GROUPING SETS ((hour, subject, step), (hour, subject, step, agent_id, agent_version_id),
      (hour, subject, step, company_id), (hour, subject, step, channel, direction))
    UNION ALL
    SELECT hour, subject, 7::smallint, ${dimensions}, step, count(*), count(*) FILTER (WHERE hit), 0, 0
    FROM given WHERE value IS NULL GROUP BY hour, subject, ${dimensions}, step
  )
  SELECT subject, grain, hour,
    row_number() OVER (PARTITION BY subject, grain, hour ORDER BY ${dimensions}) AS number, ${dimensions},
    sum(count) AS count, sum(hits) AS hits, sum(sum) AS sum, sum(squares) AS squares,
    CASE WHEN min(step) IS NOT NULL THEN array_agg(step ORDER BY step) END AS steps,
    CASE WHEN min(step) IS NOT NULL THEN array_agg(count ORDER BY step) END AS counts
  FROM stepped GROUP BY subject, grain, hour, ${dimensions}`

const counted = sql`subject, grain, hour, number, ${dimensions}, count, hits, sum, squares, steps, counts`

export const insertHours = (trx: Db, org: OrgId, hours: Date[], subjects: Subjects) =>
  sql`
    INSERT INTO analytics_hours (organization_id, ${counted})
    SELECT ${org}::uuid, ${counted} FROM (${countHours(org, hours, subjects)}) h
    ORDER BY hour, subject, grain, number ${sql.raw(plannedEachTime)}`.execute(trx)

/**
 * Compares the stored sums of hours without notes with their conversations, and returns those that differ. The order in
 * which values are added changes the last digits of a sum.
 */
export const listDifferingHours = async (trx: Db, org: OrgId, hours: Date[], subjects: Subjects): Promise<Date[]> => {
  const isCompared =
    subjects === 'conversations'
      ? sql`split_part(subject, ':', 1) NOT IN ('rate', 'score', 'cost')`
      : sql`split_part(subject, ':', 1) IN ('rate', 'score', 'cost')
          AND split_part(subject, ':', 2)::uuid = ANY(${subjects.monitorIds}::uuid[])`
  const compared = sql`subject, grain, hour, number, ${dimensions}, count, hits, sum, steps, counts::integer[] AS counts`
  const { rows } = await sql<{ hour: Date }>`
    SELECT DISTINCT d.hour FROM (
      SELECT coalesce(a.hour, b.hour) AS hour
      FROM (SELECT ${compared} FROM analytics_hours WHERE organization_id = ${org} AND hour = ANY(${hours}::timestamptz[]) AND ${isCompared}) a
      FULL JOIN (SELECT ${compared} FROM (${countHours(org, hours, subjects)}) c) b
        ON a.subject = b.subject AND a.grain = b.grain AND a.hour = b.hour AND a.number = b.number
      WHERE (a.agent_id, a.agent_version_id, a.company_id, a.channel, a.direction, a.count, a.hits, a.steps, a.counts)
          IS DISTINCT FROM
          (b.agent_id, b.agent_version_id, b.company_id, b.channel, b.direction, b.count, b.hits, b.steps, b.counts)
        OR abs(coalesce(a.sum, 0) - coalesce(b.sum, 0)) > 1e-9 * (1 + abs(a.sum))) d
    ORDER BY d.hour ${sql.raw(plannedEachTime)}`.execute(trx)
  return rows.map(({ hour }) => hour)
}

type Checked = { until: Date | null; at: Date; hours: number; differing: number }

/** Stores the outcome of a check. It counts as a build, because it may rebuild hours. */
export const noteCheck = (trx: Db, org: OrgId, { until, at, hours, differing }: Checked) =>
  sql`
    UPDATE analytics_states SET builds = builds + 1, checked_until = ${until}::timestamptz, checked_at = ${at}::timestamptz,
      checked_hours = checked_hours + ${hours}, differing_hours = differing_hours + ${differing}
      ${differing > 0 ? sql`, differed_at = ${at}::timestamptz` : sql``}
    WHERE organization_id = ${org}`.execute(trx)

/** Returns what the nightly check found so far. */
export const findCheckedState = (db: Db, org: OrgId) =>
  db
    .selectFrom('analytics_states')
    .select([
      'built_since as builtSince',
      'checked_at as checkedAt',
      'checked_hours as checkedHours',
      'differing_hours as differingHours',
      'differed_at as differedAt',
    ])
    .where('organization_id', '=', org)
    .executeTakeFirst()

export const countChanges = async (db: Db, org: OrgId): Promise<{ hours: number; waitingSince: Date | null }> => {
  const { rows } = await sql<{ hours: number; waitingSince: Date | null }>`
    SELECT count(DISTINCT hour) AS hours, min(at) AS "waitingSince" FROM analytics_changes
    WHERE organization_id = ${org}`.execute(db)
  return rows[0] ?? { hours: 0, waitingSince: null }
}

/** Lists the monitors whose results are counted. */
export const listCountedMonitors = async (trx: Db, org: OrgId): Promise<string[]> => {
  const monitors = await trx
    .selectFrom('monitors')
    .select('id')
    .where('organization_id', '=', org)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
  return monitors.map(({ id }) => id)
}

/** Returns the hour of the conversation that has this many after it before then, if there are so many. */
export const findHourOfMany = async (trx: Db, org: OrgId, before: Date, many: number): Promise<Date | undefined> => {
  const { rows } = await sql<{ hour: Date }>`
    SELECT date_trunc('hour', c.started_at, 'UTC') AS hour FROM conversations c
    WHERE c.organization_id = ${org} AND c.started_at < ${before}::timestamptz
    ORDER BY c.started_at DESC LIMIT 1 OFFSET ${many}`.execute(trx)
  return rows[0]?.hour
}

/** Counts the conversations of each of these hours. */
export const countConversationsIn = async (trx: Db, org: OrgId, hours: Date[]): Promise<number[]> => {
  const { rows } = await sql<{ count: number }>`
    SELECT (SELECT count(*) FROM conversations c WHERE c.organization_id = ${org}
      AND c.started_at >= h.hour AND c.started_at < h.hour + interval '1 hour') AS count
    FROM unnest(${hours}::timestamptz[]) WITH ORDINALITY AS h(hour, at) ORDER BY h.at`.execute(trx)
  return rows.map(({ count }) => count)
}
