import { type RawBuilder, sql } from 'kysely'
import { metricValue } from '../../filters/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { plannedEachTime, takesLong } from '../../platform/db/naming-client.ts'
import { codes } from '../../platform/db/result-codes.ts'
import { type SoundName, soundPaths } from '../../sound-measures/names.ts'
import { signalPaths } from '../../transcripts/signals/paths.ts'

/** A row of `analytics_days`. */
export type PackedRow = {
  subject: string
  grain: number
  day: Date
  hours: Buffer
  hourSteps: Buffer | null
  daySteps: Buffer | null
}

type Note = { id: string; at: Date; onlyResults: boolean }

/**
 * Notes hours. On a cluster, a statement that contains only values costs half as much as one that reads them from a
 * table.
 */
export const insertChanges = (trx: Db, org: OrgId, hours: Date[], { id, at, onlyResults }: Note) =>
  trx
    .insertInto('analytics_changes')
    .values(hours.map((hour) => ({ organization_id: org, hour, id, at, only_results: onlyResults })))
    .execute()

/** Lists the hours of conversations that still exist. */
export const listHoursOf = async (trx: Db, org: OrgId, conversationIds: string[]): Promise<Date[]> => {
  const { rows } = await sql<{ hour: Date }>`
    SELECT DISTINCT date_trunc('hour', c.started_at, 'UTC') AS hour FROM conversations c
    WHERE c.organization_id = ${org} AND c.id = ANY(${conversationIds}::uuid[])`.execute(trx)
  return rows.map(({ hour }) => hour)
}

/**
 * Lists organizations with notes, and those with days that are not built yet. Uses three statements, because a cluster
 * can't join all organizations with the data on its nodes.
 */
export const listDueOrganizationsAllOrgs = async (db: Db): Promise<{ id: OrgId }[]> => {
  const changed = await db.selectFrom('analytics_changes').select('organization_id as id').distinct().execute()
  const states = await db.selectFrom('analytics_progress').select(['organization_id as id', 'built_since']).execute()
  const organizations = await db.selectFrom('organizations').select('id').execute()
  const isBuilt = new Set(states.flatMap(({ id, built_since }) => (built_since === null ? [id] : [])))
  const isChanged = new Set(changed.map(({ id }) => id))
  return organizations.filter(({ id }) => isChanged.has(id) || !isBuilt.has(id)) as { id: OrgId }[]
}

/** Lists organizations that have built days to check. */
export const listBuiltOrganizationsAllOrgs = (db: Db) =>
  db.selectFrom('analytics_progress').select('organization_id as id').orderBy('organization_id').execute() as Promise<
    { id: OrgId }[]
  >

export type State = { builtSince: Date | null; checkedUntil: Date | null }

/** Returns the build state, or undefined before the first build. */
export const findState = (db: Db, org: OrgId): Promise<State | undefined> =>
  db
    .selectFrom('analytics_progress')
    .select(['built_since as builtSince', 'checked_until as checkedUntil'])
    .where('organization_id', '=', org)
    .executeTakeFirst()

/** Lists the hours with notes: all of them, or only those in which conversations changed, not just their results. */
export const listChangedHours = async (db: Db, org: OrgId, of: 'results' | 'conversations'): Promise<Date[]> => {
  const { rows } = await sql<{ hour: Date }>`
    SELECT DISTINCT hour FROM analytics_changes
    WHERE organization_id = ${org} ${of === 'results' ? sql`` : sql`AND NOT only_results`}`.execute(db)
  return rows.map(({ hour }) => hour)
}

/** Returns whether an hour has more notes than this. */
export const hasManyChanges = async (db: Db, org: OrgId, most: number): Promise<boolean> => {
  const { rows } = await sql`
    SELECT 1 FROM analytics_changes WHERE organization_id = ${org} GROUP BY hour, only_results HAVING count(*) > ${most} LIMIT 1`.execute(
    db,
  )
  return rows.length > 0
}

const longStatement = sql.raw(`${plannedEachTime} ${takesLong}`)

/** Extends the transaction's time limit, because a day of a large organization takes longer than a request may. */
export const allowLongStatements = (trx: Db) => sql`SET LOCAL statement_timeout = ${sql.lit(240_000)}`.execute(trx)

type Quiet = { quietSince: Date; waitingSince: Date; builtSince: Date | null; limit: number }

/**
 * Lists days that have not changed recently, or that have waited for a long time, newest first. Days before
 * `builtSince` have no sums yet.
 */
export const listQuietDays = async (db: Db, org: OrgId, quiet: Quiet): Promise<Date[]> => {
  const { quietSince, waitingSince, builtSince, limit } = quiet
  const { rows } = await sql<{ day: Date }>`
    SELECT date_trunc('day', hour, 'UTC') AS day FROM analytics_changes
    WHERE organization_id = ${org} AND hour >= coalesce(${builtSince}::timestamptz, '-infinity')
    GROUP BY 1
    HAVING max(at) <= ${quietSince}::timestamptz OR min(at) <= ${waitingSince}::timestamptz
    ORDER BY 1 DESC LIMIT ${limit}`.execute(db)
  return rows.map(({ day }) => day)
}

/** Returns the day of the latest conversation before `before`, after skipping the `conversations` latest ones. */
export const findDayBefore = async (
  db: Db,
  org: OrgId,
  before: Date | null,
  conversations = 0,
): Promise<Date | undefined> => {
  const { rows } = await sql<{ day: Date }>`
    SELECT date_trunc('day', c.started_at, 'UTC') AS day FROM conversations c
    WHERE c.organization_id = ${org} AND c.started_at < coalesce(${before}::timestamptz, 'infinity')
    ORDER BY c.started_at DESC LIMIT 1 OFFSET ${conversations}`.execute(db)
  return rows[0]?.day
}

export const insertState = (trx: Db, org: OrgId, builtSince: Date | null) =>
  trx.insertInto('analytics_progress').values({ organization_id: org, built_since: builtSince, builds: 1 }).execute()

/**
 * Counts a build. Fails if another build was committed since this transaction started. Undefined leaves `built_since`
 * unchanged.
 */
export const countBuild = (trx: Db, org: OrgId, builtSince?: Date | null) =>
  sql`
    UPDATE analytics_progress SET builds = builds + 1
      ${builtSince === undefined ? sql`` : sql`, built_since = ${builtSince}::timestamptz`}
    WHERE organization_id = ${org}`.execute(trx)

/** Deletes the notes that this transaction sees. Later notes are about changes that it does not see either. */
export const deleteChanges = (trx: Db, org: OrgId, days: Date[]) =>
  sql`
    DELETE FROM analytics_changes WHERE organization_id = ${org}
      AND date_trunc('day', hour, 'UTC') = ANY(${days}::timestamptz[])`.execute(trx)

/**
 * Keeps one note of each kind for hours with many notes. Must not run during a build, which might delete the note that
 * is kept.
 */
export const thinChanges = (trx: Db, org: OrgId, most: number) =>
  sql`
    DELETE FROM analytics_changes c USING (
      SELECT hour, only_results, max(id::text)::uuid AS kept, min(at) AS since FROM analytics_changes
      WHERE organization_id = ${org} GROUP BY hour, only_results HAVING count(*) > ${most}) h
    WHERE c.organization_id = ${org} AND c.hour = h.hour AND c.only_results = h.only_results AND c.id <> h.kept
      AND c.at <> h.since`.execute(trx)

export const deleteDays = (trx: Db, org: OrgId, days: Date[]) =>
  trx
    .deleteFrom('analytics_days')
    .where('organization_id', '=', org)
    .where('day', '=', sql<Date>`ANY(${days}::timestamptz[])`)
    .execute()

const dimensions = ['agent_id', 'agent_version_id', 'company_id', 'channel', 'direction'] as const

/** The columns that distinguish the groups at each grain. The columns of conversations without a value are null. */
const columnsOfGrain = new Map<number, readonly (typeof dimensions)[number][]>([
  [4, ['agent_id', 'agent_version_id']],
  [2, ['company_id']],
  [1, ['channel', 'direction']],
  [7, dimensions],
])

const withinDay = (at: RawBuilder<unknown>) => sql`${at} >= g.day AND ${at} < g.day + interval '24 hours'`

const daysOf = (days: Date[]) =>
  sql`SELECT d.day, d.at FROM unnest(${days}::timestamptz[]) WITH ORDINALITY AS d(day, at)`

/** Assigns numbers to the groups of these days that don't have one yet. */
export const insertGroups = async (trx: Db, org: OrgId, days: Date[]): Promise<void> => {
  for (const [grain, columns] of columnsOfGrain) {
    const named = sql.join(columns.map((name) => sql.ref(name)))
    const ofConversations = sql.join(columns.map((name) => sql.ref(`c.${name}`)))
    const known = columns.map((name) => sql`n.${sql.ref(name)} IS NOT DISTINCT FROM s.${sql.ref(name)}`)
    await sql`
      INSERT INTO analytics_groups (organization_id, grain, number, ${named})
      SELECT ${org}::uuid, ${sql.lit(grain)}, (
          SELECT coalesce(max(m.number), 0) FROM analytics_groups m
          WHERE m.organization_id = ${org} AND m.grain = ${sql.lit(grain)}
        ) + row_number() OVER (ORDER BY ${named}), ${named}
      FROM (
        SELECT DISTINCT ${ofConversations} FROM (${daysOf(days)}) g JOIN conversations c
          ON c.organization_id = ${org} AND ${withinDay(sql`c.started_at`)}) s
      WHERE NOT EXISTS (
        SELECT 1 FROM analytics_groups n
        WHERE n.organization_id = ${org} AND n.grain = ${sql.lit(grain)} AND ${sql.join(known, sql` AND `)})
      ${longStatement}`.execute(trx)
  }
}

/**
 * Joins the groups at one grain. Every conversation has a group, but only with a left join does the planner expect one
 * for each. Comparing text lets the planner use a hash table even though columns can be null.
 */
const joinGroups = (org: OrgId, grain: number, alias: string) => {
  const columns = columnsOfGrain.get(grain) ?? []
  const same = columns.map(
    (name) => sql`coalesce(${sql.ref(`${alias}.${name}`)}::text, '') = coalesce(s.${sql.ref(name)}::text, '')`,
  )
  return sql`LEFT JOIN analytics_groups ${sql.ref(alias)} ON ${sql.ref(`${alias}.organization_id`)} = ${org}
    AND ${sql.ref(`${alias}.grain`)} = ${sql.lit(grain)} AND ${sql.join(same, sql` AND `)}`
}

/**
 * Selects the conversations of days, numbered from 0. Within a transaction, the number of a conversation never changes.
 */
const numbered = (org: OrgId, days: Date[]) => sql`
  SELECT (row_number() OVER (ORDER BY s.started_at, s.id) - 1)::integer AS n, g.at, s.*
  FROM (${daysOf(days)}) g JOIN conversations s ON s.organization_id = ${org} AND ${withinDay(sql`s.started_at`)}`

/**
 * Reads the hour of each conversation and the numbers of its groups, 4 bytes each. Hours are counted from the first
 * day. The groups are agent and version, company, channel and direction, and all of these together. The result is
 * packed, because reading rows takes ten times as long.
 */
export const readStarted = async (db: Db, org: OrgId, days: Date[]): Promise<Buffer> => {
  const { rows } = await sql<{ packed: Buffer | null }>`
    SELECT string_agg(
      int4send(((s.at - 1) * 24 + extract(hour FROM s.started_at AT TIME ZONE 'UTC'))::integer) || int4send(a.number)
        || int4send(k.number) || int4send(h.number) || int4send(e.number), ''::bytea ORDER BY s.n) AS packed
    FROM (${numbered(org, days)}) s ${joinGroups(org, 4, 'a')} ${joinGroups(org, 2, 'k')} ${joinGroups(org, 1, 'h')}
      ${joinGroups(org, 7, 'e')}
    ${longStatement}`.execute(db)
  return rows[0]?.packed ?? Buffer.alloc(0)
}

/** Selects a value stored with the conversation itself. */
const valueIn = (subject: string): RawBuilder<unknown> => {
  if (subject === 'duration') return sql`s.duration_seconds::float8`
  if (subject === 'delay') return sql`extract(epoch FROM s.created_at - s.started_at)::float8`
  const path = signalPaths[subject.slice('signal:'.length) as keyof typeof signalPaths]
  return sql`(s.signals #>> ${path}::text[])::float8`
}

/**
 * Reads values of each conversation, 8 bytes each, in the order of the conversation numbers. `NaN` stands for a missing
 * value.
 */
export const readValues = async (db: Db, org: OrgId, days: Date[], subjects: string[]): Promise<Buffer> => {
  const values = subjects.map((subject) => sql`float8send(coalesce(${valueIn(subject)}, 'NaN'))`)
  const { rows } = await sql<{ packed: Buffer | null }>`
    SELECT string_agg(${sql.join(values, sql` || `)}, ''::bytea ORDER BY s.n) AS packed FROM (${numbered(org, days)}) s
    ${longStatement}`.execute(db)
  return rows[0]?.packed ?? Buffer.alloc(0)
}

/** Counts the conversations with a measured recording. */
export const countSounds = async (db: Db, org: OrgId, days: Date[]): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (${daysOf(days)}) g JOIN conversations s
      ON s.organization_id = ${org} AND ${withinDay(sql`s.started_at`)} AND s.sound <> '{}' ${longStatement}`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}

/**
 * Reads sound measures. For each conversation with a measured recording, returns its number (4 bytes) and its values (8
 * bytes each). `NaN` stands for a missing value.
 */
export const readSounds = async (db: Db, org: OrgId, days: Date[], names: SoundName[]): Promise<Buffer> => {
  const values = names.map(
    (name) => sql`float8send(coalesce((s.sound #>> ${soundPaths[name]}::text[])::float8, 'NaN'))`,
  )
  const { rows } = await sql<{ packed: Buffer | null }>`
    SELECT string_agg(int4send(s.n) || ${sql.join(values, sql` || `)}, ''::bytea ORDER BY s.n) AS packed
    FROM (${numbered(org, days)}) s WHERE s.sound <> '{}' ${longStatement}`.execute(db)
  return rows[0]?.packed ?? Buffer.alloc(0)
}

/** Values of one subject: the number of each conversation (4 bytes), and the values that the statement reads for it. */
export type Packed = { subject: string; packed: Buffer }

const numericMetrics = (org: OrgId, days: Date[]) => sql`
  (${numbered(org, days)}) s JOIN customer_metrics m ON m.organization_id = ${org} AND m.conversation_id = s.id
    AND jsonb_typeof(m.value) IN ('number', 'boolean')`

export type MetricKeys = {
  /** The number of values for each key. */
  counts: Map<string, number>
  /** Days with more keys than can be stored. Their keys are not counted. */
  omitted: Date[]
}

/** Lists the keys of numeric metrics for days that have at most this many. */
export const listMetricKeys = async (db: Db, org: OrgId, days: Date[], most: number): Promise<MetricKeys> => {
  const { rows } = await sql<{ at: number; key: string; count: number; keys: number }>`
    SELECT k.at, k.key, k.count, k.keys FROM (
      SELECT s.at, m.key, count(*) AS count, count(*) OVER (PARTITION BY s.at) AS keys,
        row_number() OVER (PARTITION BY s.at ORDER BY m.key) AS place
      FROM ${numericMetrics(org, days)} GROUP BY s.at, m.key) k
    WHERE k.keys <= ${most} OR k.place = 1 ${longStatement}`.execute(db)
  const counts = new Map<string, number>()
  for (const { key, count, keys } of rows) if (keys <= most) counts.set(key, (counts.get(key) ?? 0) + count)
  return { counts, omitted: rows.flatMap(({ at, keys }) => (keys > most ? (days[at - 1] ?? []) : [])) }
}

/** Reads numeric metrics, except those of omitted days. Each value has 8 bytes. */
export const readMetrics = async (
  db: Db,
  org: OrgId,
  days: Date[],
  { keys, omitted }: { keys: string[]; omitted: Date[] },
): Promise<Packed[]> => {
  const { rows } = await sql<Packed>`
    SELECT 'metric:' || m.key AS subject, string_agg(int4send(s.n) || float8send(${metricValue}), ''::bytea) AS packed
    FROM ${numericMetrics(org, days)}
    WHERE m.key = ANY(${keys}::text[]) AND s.at <> ALL (${omitted.map((day) => days.indexOf(day) + 1)}::bigint[])
    GROUP BY m.key ${longStatement}`.execute(db)
  return rows
}

/**
 * Reads the newest result of each conversation: whether it is affected (2 bytes), and its score (8 bytes). -1 and `NaN`
 * stand for missing values.
 */
export const readResults = async (db: Db, org: OrgId, days: Date[], monitorIds: string[]): Promise<Packed[]> => {
  const { rows } = await sql<Packed>`
    SELECT n.monitor_id AS subject, string_agg(
      int4send(s.n) || int2send(coalesce((n.result = ${codes.affected})::integer, -1)::smallint)
        || float8send(coalesce(n.score, 'NaN')), ''::bytea) AS packed
    FROM (
      SELECT r.* FROM (${daysOf(days)}) g CROSS JOIN LATERAL (
        SELECT DISTINCT ON (r.monitor_id, r.call_started_at, r.conversation_id)
          r.monitor_id, r.call_started_at, r.conversation_id, r.result, r.score
        FROM monitor_results r
        WHERE r.organization_id = ${org} AND r.monitor_id = ANY(${monitorIds}::uuid[]) AND ${withinDay(sql`r.call_started_at`)}
        ORDER BY r.monitor_id DESC, r.call_started_at DESC, r.conversation_id DESC, r.monitor_version DESC) r
    ) n JOIN (${numbered(org, days)}) s ON s.started_at = n.call_started_at AND s.id = n.conversation_id
    GROUP BY n.monitor_id ${longStatement}`.execute(db)
  return rows
}

/** The values that are measured for results of judges. */
export const valueOfJudge = { cost: sql`r.cost`, latency: sql`r.response_ms / 1000.0::float8` }

/** Reads the costs or response times of all results (8 bytes each). A conversation can have several. */
export const readJudged = async (
  db: Db,
  org: OrgId,
  days: Date[],
  monitorIds: string[],
  kind: keyof typeof valueOfJudge,
): Promise<Packed[]> => {
  const { rows } = await sql<Packed>`
    SELECT ${`${kind}:`}::text || n.monitor_id AS subject, string_agg(int4send(s.n) || float8send(n.value), ''::bytea) AS packed
    FROM (
      SELECT r.* FROM (${daysOf(days)}) g CROSS JOIN LATERAL (
        SELECT r.monitor_id, r.call_started_at, r.conversation_id, ${valueOfJudge[kind]} AS value FROM monitor_results r
        WHERE r.organization_id = ${org} AND r.monitor_id = ANY(${monitorIds}::uuid[]) AND ${withinDay(sql`r.call_started_at`)}
          AND ${valueOfJudge[kind]} IS NOT NULL OFFSET 0) r
    ) n JOIN (${numbered(org, days)}) s ON s.started_at = n.call_started_at AND s.id = n.conversation_id
    GROUP BY n.monitor_id ${longStatement}`.execute(db)
  return rows
}

export const insertDays = (trx: Db, org: OrgId, rows: PackedRow[]) =>
  trx
    .insertInto('analytics_days')
    .values(
      rows.map(({ subject, grain, day, hours, hourSteps, daySteps }) => ({
        organization_id: org,
        subject,
        grain,
        day,
        hours,
        hour_steps: hourSteps,
        day_steps: daySteps,
      })),
    )
    .execute()

/** Lists the stored sums of some subjects. */
export const listDays = (db: Db, org: OrgId, days: Date[], subjects: string[]): Promise<PackedRow[]> =>
  db
    .selectFrom('analytics_days')
    .select(['subject', 'grain', 'day', 'hours', 'hour_steps as hourSteps', 'day_steps as daySteps'])
    .where('organization_id', '=', org)
    .where('subject', 'in', subjects)
    .where('day', '=', sql<Date>`ANY(${days}::timestamptz[])`)
    .execute()

/** Counts the stored rows of each day, without those of deleted monitors. */
export const countRows = async (
  db: Db,
  org: OrgId,
  days: Date[],
  monitorIds: string[],
): Promise<Map<number, number>> => {
  const kind = sql`split_part(subject, ':', 1)`
  const { rows } = await sql<{ day: Date; count: number }>`
    SELECT day, count(*) AS count FROM analytics_days
    WHERE organization_id = ${org} AND day = ANY(${days}::timestamptz[])
      AND (${kind} NOT IN ('rate', 'score', 'cost', 'latency') OR split_part(subject, ':', 2) = ANY(${monitorIds}::text[]))
    GROUP BY day`.execute(db)
  return new Map(rows.map(({ day, count }) => [day.getTime(), count]))
}

type Checked = { until: Date | null; at: Date; days: number; differing: number }

/** Stores the outcome of a check. It counts as a build, because a check may rebuild days. */
export const noteCheck = (trx: Db, org: OrgId, { until, at, days, differing }: Checked) =>
  sql`
    UPDATE analytics_progress SET builds = builds + 1, checked_until = ${until}::timestamptz, checked_at = ${at}::timestamptz,
      checked_days = checked_days + ${days}, differing_days = differing_days + ${differing}
      ${differing > 0 ? sql`, differed_at = ${at}::timestamptz` : sql``}
    WHERE organization_id = ${org}`.execute(trx)

/** Returns the results of the nightly check so far. */
export const findCheckedState = (db: Db, org: OrgId) =>
  db
    .selectFrom('analytics_progress')
    .select([
      'built_since as builtSince',
      'checked_at as checkedAt',
      'checked_days as checkedDays',
      'differing_days as differingDays',
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

/** Lists the monitors with results that are counted. */
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

/** Counts the conversations of each of these days. */
export const countConversationsIn = async (trx: Db, org: OrgId, days: Date[]): Promise<number[]> => {
  const { rows } = await sql<{ count: number }>`
    SELECT (SELECT count(*) FROM conversations c WHERE c.organization_id = ${org}
      AND c.started_at >= d.day AND c.started_at < d.day + interval '24 hours') AS count
    FROM unnest(${days}::timestamptz[]) WITH ORDINALITY AS d(day, at) ORDER BY d.at ${longStatement}`.execute(trx)
  return rows.map(({ count }) => count)
}

/** The subject of days for which metrics are not stored, because there are too many keys. */
export const omittedMetrics = 'metrics:omitted'

/** Lists the days with stored sums: all, or those with sums of metrics. */
export const listStoredDays = async (
  db: Db,
  org: OrgId,
  since: Date | undefined,
  until: Date | undefined,
  of: 'conversations' | 'metrics' = 'conversations',
): Promise<Date[]> => {
  const omitted = sql`SELECT o.day FROM analytics_days o WHERE o.organization_id = ${org} AND o.subject = ${omittedMetrics}`
  const { rows } = await sql<{ day: Date }>`
    SELECT day FROM analytics_days WHERE organization_id = ${org} AND subject = 'volume' AND grain = 0
      ${of === 'metrics' ? sql`AND day <> ALL (ARRAY(${omitted}))` : sql``}
      AND day > coalesce(${since ?? null}::timestamptz, '-infinity') - interval '24 hours'
      AND day < coalesce(${until ?? null}::timestamptz, 'infinity')
    ORDER BY day`.execute(db)
  return rows.map(({ day }) => day)
}
