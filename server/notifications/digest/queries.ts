import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { nextRows } from '../../platform/db/pages.ts'
import type { Page } from '../../platform/http/paging.ts'

type Cadence = 'daily' | 'weekly'
type Period = { since: Date; until: Date }

const dueAt = (now: Date) =>
  sql<boolean>`(p.daily_next_at <= ${now}::timestamptz OR p.weekly_next_at <= ${now}::timestamptz)`

export const listOrganizationsWithDueAllOrgs = async (db: Db, now: Date): Promise<{ id: OrgId }[]> => {
  const { rows } = await sql<{ id: OrgId }>`
    SELECT DISTINCT p.organization_id AS id
    FROM notification_preferences p JOIN organizations o ON o.id = p.organization_id
    WHERE ${dueAt(now)} AND o.suspended_at IS NULL`.execute(db)
  return rows
}

/** Lists the people for whom digests are due. */
export const listDue = (db: Db, org: OrgId, now: Date, page: Page) =>
  db
    .selectFrom('notification_preferences as p')
    .select('p.user_id as id')
    .where('p.organization_id', '=', org)
    .where(dueAt(now))
    .$call(nextRows('p.user_id', page))
    .execute()

/** Returns the address and name of a member who has joined. */
export const findReader = (db: Db, org: OrgId, userId: string) =>
  db
    .selectFrom('members as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['u.email', 'm.name'])
    .where('m.organization_id', '=', org)
    .where('m.user_id', '=', userId)
    .where('m.joined_at', 'is not', null)
    .executeTakeFirst()

/** Stores the period of the next digest. */
export const updatePeriod = (
  trx: Db,
  org: OrgId,
  userId: string,
  cadence: Cadence,
  { since, nextAt }: { since: Date; nextAt: Date },
) =>
  trx
    .updateTable('notification_preferences')
    .set(
      cadence === 'daily'
        ? { daily_since: since, daily_next_at: nextAt }
        : { weekly_since: since, weekly_next_at: nextAt },
    )
    .where('organization_id', '=', org)
    .where('user_id', '=', userId)
    .execute()

/** Takes the notifications that were waiting for the digest. Each notification is only included once. */
export const takeWaiting = (trx: Db, org: OrgId, userId: string, cadence: Cadence) =>
  trx
    .updateTable('notifications')
    .set({ digest: null })
    .where('organization_id', '=', org)
    .where('user_id', '=', userId)
    .where('digest', '=', cadence)
    .returning([
      'id',
      sql<
        'opened' | 'resolved' | 'assigned' | 'mentioned' | 'completed' | 'failed' | 'requested' | 'accepted'
      >`event`.as('event'),
      sql<
        | 'alertIncident'
        | 'finding'
        | 'monitorExport'
        | 'conversationExport'
        | 'experimentExport'
        | 'bucket'
        | 'bulkAction'
        | 'member'
      >`subject_type`.as('subjectType'),
      'subject_id as subjectId',
      'actor_user_id as actorUserId',
    ])
    .execute()

type FindingLine = { id: string; title: string; priority: string; conversations: number; total: number }

/** Lists the most urgent findings created in the period. `total` counts all of them. */
export const listNewFindings = async (db: Db, org: OrgId, { since, until }: Period, most: number) => {
  const { rows } = await sql<FindingLine>`
    SELECT f.id, f.title, f.priority, count(*) OVER ()::int AS total, (
      SELECT count(*) FROM finding_conversations c
      WHERE c.organization_id = ${org} AND c.finding_id = f.id)::int AS conversations
    FROM findings f
    WHERE f.organization_id = ${org} AND f.merged_into_id IS NULL
      AND f.created_at >= ${since}::timestamptz AND f.created_at < ${until}::timestamptz
    ORDER BY array_position(ARRAY['urgent', 'high', 'medium', 'low', 'none'], f.priority), f.id LIMIT ${most}`.execute(
    db,
  )
  return rows
}

type IncidentLine = {
  id: string
  name: string
  text: string
  openedAt: Date
  resolvedAt: Date | null
  total: number
}

/** Lists the incidents that opened in the period. Incidents that are still open come first. */
export const listNewIncidents = async (db: Db, org: OrgId, { since, until }: Period, most: number) => {
  const { rows } = await sql<IncidentLine>`
    SELECT id, rule_name || coalesce(': ' || group_label, '') AS name, reading ->> 'text' AS text,
      opened_at AS "openedAt", resolved_at AS "resolvedAt", count(*) OVER ()::int AS total
    FROM alert_incidents
    WHERE organization_id = ${org} AND notified_at IS NOT NULL
      AND opened_at >= ${since}::timestamptz AND opened_at < ${until}::timestamptz
    ORDER BY resolved_at IS NOT NULL, id DESC LIMIT ${most}`.execute(db)
  return rows
}

type BucketLine = { id: string; name: string; completed: number; waiting: number }

/** Lists the buckets with reviews that were completed in the period. */
export const listReviewedBuckets = async (db: Db, org: OrgId, { since, until }: Period, most: number) => {
  const { rows } = await sql<BucketLine>`
    SELECT b.id, b.name, r.completed, (
      SELECT count(*) FROM bucket_conversations c
      WHERE c.organization_id = ${org} AND c.bucket_id = b.id AND c.status = 'waiting')::int AS waiting
    FROM (
      SELECT bucket_id, count(*)::int AS completed FROM reviews
      WHERE organization_id = ${org} AND status = 'completed' AND bucket_id IS NOT NULL
        AND completed_at >= ${since}::timestamptz AND completed_at < ${until}::timestamptz
      GROUP BY bucket_id) r
    JOIN buckets b ON b.organization_id = ${org} AND b.id = r.bucket_id
    ORDER BY r.completed DESC, b.id LIMIT ${most}`.execute(db)
  return rows
}

type ExperimentLine = {
  id: string
  name: string
  finishedAt: Date | null
  outcome: string
  kind: string
  /** The newest interim analysis: its time, counts per arm, means, the difference, and the always-valid interval. */
  point: [number, number, number, number | null, number | null, number | null, number | null, number | null] | null
}

/** Lists the experiments that ran in the period, with their primary outcomes. */
export const listExperimentsIn = async (db: Db, org: OrgId, { since, until }: Period, most: number) => {
  const { rows } = await sql<ExperimentLine>`
    SELECT e.id, e.name, e.finished_at AS "finishedAt", o.monitor_name AS outcome, o.kind, o.timeline -> -1 AS point
    FROM experiments e
    JOIN experiment_outcomes o ON o.organization_id = ${org} AND o.experiment_id = e.id AND o.is_primary
    WHERE e.organization_id = ${org} AND e.started_at < ${until}::timestamptz
      AND (e.finished_at IS NULL OR e.finished_at >= ${since}::timestamptz)
    ORDER BY e.id DESC LIMIT ${most}`.execute(db)
  return rows
}
