import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { codes } from '../platform/db/result-codes.ts'

const mostListed = 20

export type IngestionSource = { id: string; name: string; lastDeliveryAt: Date | null }

/** Lists the integrations with the time of their latest delivery. */
export const listSources = async (db: Db, org: OrgId): Promise<IngestionSource[]> => {
  const { rows } = await sql<IngestionSource>`
    SELECT i.id, i.name, (
      SELECT d.received_at FROM integration_deliveries d
      WHERE d.organization_id = ${org} AND d.integration_id = i.id
      ORDER BY d.id DESC LIMIT 1) AS "lastDeliveryAt"
    FROM integrations i WHERE i.organization_id = ${org} ORDER BY i.id LIMIT ${mostListed}`.execute(db)
  return rows
}

export type MonitorFailures = { id: string; name: string; results: number; failed: number; reason: string | null }

/** Lists the monitors with evaluations that failed after `since`, starting with the most failures. */
export const listFailingMonitors = async (db: Db, org: OrgId, since: Date): Promise<MonitorFailures[]> => {
  const failed = sql`SELECT r.monitor_id, count(*) AS failed, max(r.evaluated_at) AS last_at FROM monitor_results r
    WHERE r.organization_id = ${org} AND r.evaluated_at >= ${since}::timestamptz AND r.status = ${codes.failed}
    GROUP BY r.monitor_id ORDER BY failed DESC, r.monitor_id LIMIT ${mostListed}`
  const { rows } = await sql<MonitorFailures>`
    SELECT m.id, m.name, f.failed, (
      SELECT count(*) FROM monitor_results a
      WHERE a.organization_id = ${org} AND a.monitor_id = m.id AND a.call_started_at >= ${since}::timestamptz
    ) AS results, (
      SELECT l.reasoning FROM monitor_results l
      WHERE l.organization_id = ${org} AND l.monitor_id = m.id AND l.evaluated_at = f.last_at
        AND l.status = ${codes.failed}
      LIMIT 1) AS reason
    FROM (${failed}) f JOIN monitors m ON m.organization_id = ${org} AND m.id = f.monitor_id
    WHERE m.deleted_at IS NULL
    ORDER BY f.failed DESC, m.id`.execute(db)
  return rows
}

export type FailedTranscriptions = { name: string; failed: number; reason: string | null }

/**
 * Counts the transcriptions that failed after `since`, by model, with the latest reason, starting with the most
 * failures.
 */
export const listFailedTranscriptions = async (db: Db, org: OrgId, since: Date): Promise<FailedTranscriptions[]> => {
  const { rows } = await sql<FailedTranscriptions>`
    SELECT x.model AS name, count(*) AS failed, (array_agg(x.failure ORDER BY x.ended_at DESC))[1] AS reason
    FROM transcriptions x
    WHERE x.organization_id = ${org} AND x.status = 'failed' AND x.ended_at >= ${since}::timestamptz
    GROUP BY x.model ORDER BY failed DESC, x.model LIMIT ${mostListed}`.execute(db)
  return rows
}

export type Failing = { id: string; name: string; since: Date | null; reason: string | null }

/** Lists webhook endpoints that fail, or that were disabled because of failures. */
export const listFailingEndpoints = async (db: Db, org: OrgId): Promise<Failing[]> => {
  const { rows } = await sql<Failing>`
    SELECT e.id, e.name, e.failing_since AS since, e.disabled_reason AS reason FROM webhook_endpoints e
    WHERE e.organization_id = ${org}
      AND ((e.status = 'active' AND e.failing_since IS NOT NULL) OR e.disabled_reason IN ('gone', 'failing'))
    ORDER BY e.id LIMIT ${mostListed}`.execute(db)
  return rows
}

export const listFailingDestinations = async (db: Db, org: OrgId): Promise<Failing[]> => {
  const { rows } = await sql<Failing>`
    SELECT d.id, d.name, d.failing_since AS since, (
      SELECT v.reason FROM destination_deliveries v
      WHERE v.organization_id = ${org} AND v.destination_id = d.id AND v.reason IS NOT NULL
      ORDER BY v.id DESC LIMIT 1) AS reason
    FROM destinations d
    WHERE d.organization_id = ${org} AND d.status = 'active' AND d.failing_since IS NOT NULL
    ORDER BY d.id LIMIT ${mostListed}`.execute(db)
  return rows
}

/** Lists provider syncs that are paused, or have failed in their latest runs. */
export const listFailingSyncs = async (db: Db, org: OrgId): Promise<Failing[]> => {
  const { rows } = await sql<Failing>`
    SELECT s.integration_id AS id, i.name, NULL::timestamptz AS since, coalesce(s.paused_reason, (
      SELECT r.reason FROM integration_sync_runs r
      WHERE r.organization_id = ${org} AND r.integration_id = s.integration_id
      ORDER BY r.id DESC LIMIT 1)) AS reason
    FROM integration_syncs s JOIN integrations i ON i.organization_id = ${org} AND i.id = s.integration_id
    WHERE s.organization_id = ${org} AND s.enabled AND (s.failures > 0 OR s.paused_reason IS NOT NULL)
    ORDER BY s.integration_id LIMIT ${mostListed}`.execute(db)
  return rows
}

/** Lists export schedules that failed in their latest run. */
export const listFailingSchedules = async (db: Db, org: OrgId): Promise<Failing[]> => {
  const { rows } = await sql<Failing>`
    SELECT l.id, l.name, l.since, l.reason FROM (
      SELECT DISTINCT ON (s.id) s.id, s.name, r.created_at AS since, r.error AS reason, r.status
      FROM export_schedules s
      JOIN export_schedule_runs r ON r.organization_id = ${org} AND r.schedule_id = s.id
      WHERE s.organization_id = ${org} AND r.status IN ('succeeded', 'failed')
      ORDER BY s.id, r.created_at DESC) l
    WHERE l.status = 'failed' ORDER BY l.id LIMIT ${mostListed}`.execute(db)
  return rows
}

export type QueuedJobs = { name: string; waiting: number; dead: number; oldestDueAt: Date | null }

/**
 * Counts the organization's jobs by name: jobs that are due or running, and jobs that failed permanently. Each state
 * has its own index, and no index contains completed jobs.
 */
export const countJobs = async (db: Db, org: OrgId): Promise<QueuedJobs[]> => {
  const { rows } = await sql<QueuedJobs>`
    SELECT j.name, count(*) FILTER (WHERE j.state <> 'dead') AS waiting, count(*) FILTER (WHERE j.state = 'dead') AS dead,
      min(j.due_at) FILTER (WHERE j.state = 'waiting') AS "oldestDueAt"
    FROM (
      SELECT w.name, w.state, w.due_at FROM jobs w WHERE w.organization_id = ${org} AND w.state = 'waiting'
      UNION ALL
      SELECT a.name, a.state, a.due_at FROM jobs a WHERE a.organization_id = ${org} AND a.state = 'active'
      UNION ALL
      SELECT d.name, d.state, d.due_at FROM jobs d WHERE d.organization_id = ${org} AND d.state = 'dead') j
    GROUP BY j.name ORDER BY j.name`.execute(db)
  return rows
}

export type ModelRequests = {
  name: string
  requests: number
  failed: number
  meanMs: number
  within1s: number
  within3s: number
  within10s: number
  within30s: number
  lastFailedAt: Date | null
  lastAnsweredAt: Date | null
  reason: string | null
}

/** Sums the requests to model endpoints after `since`, by model. */
export const listModelRequests = async (db: Db, org: OrgId, since: Date): Promise<ModelRequests[]> => {
  const { rows } = await sql<ModelRequests>`
    SELECT j.model AS name, sum(j.requests) AS requests, sum(j.failed) AS failed,
      round(sum(j.duration_ms)::numeric / sum(j.requests)) AS "meanMs",
      sum(j.within_1s) AS "within1s", sum(j.within_3s) AS "within3s", sum(j.within_10s) AS "within10s",
      sum(j.within_30s) AS "within30s",
      max(j.last_failed_at) AS "lastFailedAt", max(j.last_answered_at) AS "lastAnsweredAt",
      (array_agg(j.last_fault ORDER BY j.last_failed_at DESC NULLS LAST))[1] AS reason
    FROM judge_requests j WHERE j.organization_id = ${org} AND j.hour >= ${since}::timestamptz
    GROUP BY j.model ORDER BY j.model LIMIT ${mostListed}`.execute(db)
  return rows
}

export type Postponed = { jobs: number; nextAt: Date | null }

/** Counts the evaluations that are waiting for the model endpoint, and returns the time of the first retry. */
export const countPostponed = async (db: Db, org: OrgId, jobName: string): Promise<Postponed> => {
  const { rows } = await sql<Postponed>`
    SELECT count(*) AS jobs, min(j.due_at) AS "nextAt" FROM jobs j
    WHERE j.organization_id = ${org} AND j.name = ${jobName} AND j.state = 'delayed'`.execute(db)
  return rows[0] ?? { jobs: 0, nextAt: null }
}

/** Counts the jobs that wait for a retry because meanings could not be compared. */
export const countWaitingForMeanings = async (db: Db, org: OrgId, jobNames: string[]): Promise<Postponed> => {
  const { rows } = await sql<Postponed>`
    SELECT count(*) AS jobs, min(j.due_at) AS "nextAt" FROM jobs j
    WHERE j.organization_id = ${org} AND j.name = ANY(${jobNames}::text[]) AND j.state = 'delayed'
      AND j.payload ? 'postponed'`.execute(db)
  return rows[0] ?? { jobs: 0, nextAt: null }
}

export type SyncGaps = { id: string; name: string; gaps: number; reason: string | null }

/** Counts the calls that provider syncs could not fetch. */
export const listSyncGaps = async (db: Db, org: OrgId): Promise<SyncGaps[]> => {
  const { rows } = await sql<SyncGaps>`
    SELECT i.id, i.name, count(*) AS gaps, max(g.reason) AS reason
    FROM integration_sync_gaps g JOIN integrations i ON i.organization_id = ${org} AND i.id = g.integration_id
    WHERE g.organization_id = ${org} AND g.state = 'failed'
    GROUP BY i.id, i.name ORDER BY i.id LIMIT ${mostListed}`.execute(db)
  return rows
}

export type FileSizes = { bytes: number; addedBytes: number }

/** Returns the total size of stored recordings, and the size added after `since`. */
export const getFileSizes = async (db: Db, org: OrgId, since: Date): Promise<FileSizes> => {
  const { rows } = await sql<FileSizes>`
    SELECT coalesce(sum(r.bytes), 0)::bigint AS bytes,
      coalesce(sum(r.bytes) FILTER (WHERE r.created_at >= ${since}::timestamptz), 0)::bigint AS "addedBytes"
    FROM recordings r WHERE r.organization_id = ${org} AND r.bytes IS NOT NULL`.execute(db)
  return rows[0] ?? { bytes: 0, addedBytes: 0 }
}

export type OpenIncidents = { open: number; critical: number; since: Date | null }

export const countOpenIncidents = async (db: Db, org: OrgId): Promise<OpenIncidents> => {
  const { rows } = await sql<OpenIncidents>`
    SELECT count(*) AS open, count(*) FILTER (WHERE i.severity = 'critical') AS critical, min(i.opened_at) AS since
    FROM alert_incidents i WHERE i.organization_id = ${org} AND i.status <> 'resolved'`.execute(db)
  return rows[0] ?? { open: 0, critical: 0, since: null }
}
