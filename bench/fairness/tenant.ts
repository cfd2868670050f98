import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { buildApp } from '../../server/app.ts'
import { insertPendingRecordings } from '../../server/conversations/recordings/queries.ts'
import type { ServiceDeps } from '../../server/deps.ts'
import { insertMonitor, insertMonitorVersion } from '../../server/monitors/queries.ts'
import { provisionOrganization } from '../../server/organizations/provision.ts'
import { newId } from '../../server/platform/ids.ts'
import { sendEvent } from '../../server/webhooks/send.ts'

export type TenantApp = Awaited<ReturnType<typeof buildApp>>
export type Tenant = Awaited<ReturnType<typeof makeTenant>>

/** The number of conversations in one request. */
const batch = 250

type Size = { conversations: number; turns: number; endpoints: number; schedules: number }

/**
 * Creates an organization with conversations, their results, webhook endpoints, and schedules that write into a bucket.
 */
export const makeTenant = async (deps: ServiceDeps, app: TenantApp, slug: string, outside: string, size: Size) => {
  const { db } = deps
  const owner = { email: `${slug}@example.com`, name: 'Owner' }
  const { org, apiKey } = await db
    .transaction()
    .execute((trx) => provisionOrganization(deps, trx, { name: slug, slug, owner }))
  const headers = { authorization: `Bearer ${apiKey.key}` }

  const post = async (url: string, payload: object = {}) => {
    const answer = await app.inject({ method: 'POST', url, headers, payload })
    if (answer.statusCode >= 300) throw new Error(`${url}: ${answer.body}`)
    return answer.json()
  }

  const turns = Array.from({ length: size.turns }, (_, at) => ({
    role: at % 2 ? 'agent' : 'customer',
    text: `Hello ${at}`,
  }))
  const conversation = {
    agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
    channel: 'call',
    status: 'completed',
    startedAt: '2026-11-01T10:00:00Z',
    transcript: { turns },
  }
  const monitor = await post('/v1/monitors', { name: 'Refund asked', kind: 'external', definition: {} })
  const conversationIds: string[] = []
  for (let at = 0; at < size.conversations; at += batch) {
    const conversations = Array(Math.min(batch, size.conversations - at)).fill(conversation)
    const { data } = await post('/v1/conversations/batch', { conversations })
    const ids: string[] = data.map(({ id }: { id: string }) => id)
    const result = { monitorId: monitor.id, result: 'affected', reasoning: 'Because.' }
    await post('/v1/monitor-results', { results: ids.map((conversationId) => ({ ...result, conversationId })) })
    conversationIds.push(...ids)
  }

  const endpointIds: string[] = []
  for (let number = 0; number < size.endpoints; number++) {
    const { id } = await post('/v1/webhook-endpoints', {
      name: `Endpoint ${number}`,
      url: `${outside}/hooks/${number}`,
    })
    await post(`/v1/webhook-endpoints/${id}/approve`)
    endpointIds.push(id)
  }

  const config = { monitors: [{ id: monitor.id }], timezone: 'Europe/Berlin' }
  const exportConfig = { ...config, since: '2026-10-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }
  const destination = {
    type: 's3',
    bucket: 'bench',
    region: 'us-east-1',
    endpoint: outside,
    accessKeyId: 'AKIABENCH',
    secretAccessKey: 'a-secret-of-the-bench',
  }
  const scheduleIds = await Promise.all(
    Array.from({ length: size.schedules }, async (_, number) => {
      const window = { kind: 'last', days: 1 }
      const recurrence = { every: 'day', at: '02:30' }
      return (
        await post('/v1/export-schedules', { name: `Schedule ${number}`, config, recurrence, window, destination })
      ).id
    }),
  )

  let [recordings, events] = [0, 0]

  return {
    org,
    conversationIds,
    addMonitor: async (kind: 'rule' | 'judge', definition: Record<string, unknown>) => {
      const id = newId()
      const added = { id, name: `${kind} ${id}`, description: null, kind, enabled: true } as const
      await insertMonitor(db, org, { ...added, scope: {}, samplePercent: 100 })
      await insertMonitorVersion(db, org, id, 1, definition)
      return id
    },
    /** Adds recordings to download to the next conversations. */
    addRecordings: async (count: number) => {
      const ids = conversationIds.slice(recordings, recordings + count)
      recordings += count
      const rows = ids.map((conversationId) => ({
        conversationId,
        sourceUrl: `${outside}/recordings/${conversationId}`,
      }))
      await db.transaction().execute((trx) => insertPendingRecordings(trx, org, rows))
      return ids
    },
    sendEvents: (count: number) =>
      db.transaction().execute(async (trx) => {
        for (let number = 0; number < count; number++) {
          const endpointId = endpointIds[events++ % endpointIds.length] ?? ''
          await sendEvent(deps, trx, org, endpointId, { type: 'monitor_export.completed', data: { number } })
        }
      }),
    startExport: (): Promise<{ id: string }> =>
      post('/v1/monitor-exports', { operationId: randomUUID(), config: exportConfig }),
    countUnfinishedExports: async (): Promise<number> => {
      const { rows } = await sql<{ count: number }>`
        SELECT count(*)::int AS count FROM monitor_exports
        WHERE organization_id = ${org} AND status IN ('pending', 'processing')`.execute(db)
      return rows[0]?.count ?? 0
    },
    /** Lets schedules without an unfinished run deliver a copy of the export. Returns their runs. */
    addRuns: async (count: number): Promise<string[]> => {
      const { rows } = await sql<{ id: string }>`
        WITH idle AS (
          SELECT s.id AS schedule_id, gen_random_uuid() AS export_id
          FROM export_schedules s WHERE s.organization_id = ${org} AND s.id = ANY(${scheduleIds}::uuid[])
            AND NOT EXISTS (SELECT FROM export_schedule_runs r WHERE r.organization_id = ${org}
              AND r.schedule_id = s.id AND r.status IN ('generating', 'delivering'))
          LIMIT ${count}),
        exported AS (
          INSERT INTO monitor_exports (organization_id, id, operation_id, status, config, since, until,
            created_by_user_id, created_at, completed_at, expires_at, row_count, bytes, sha256, blob_key)
          SELECT organization_id, idle.export_id, gen_random_uuid(), status, config, since, until, created_by_user_id,
            created_at, completed_at, expires_at, row_count, bytes, sha256, blob_key
          FROM idle, (SELECT * FROM monitor_exports WHERE organization_id = ${org} AND status = 'completed' LIMIT 1) e
          RETURNING id)
        INSERT INTO export_schedule_runs (organization_id, id, schedule_id, planned_for, is_manual, since, until,
          export_id, status, object_key, created_at)
        SELECT ${org}::uuid, gen_random_uuid(), schedule_id, clock_timestamp(), true, now() - interval '1 day', now(),
          export_id, 'delivering', export_id::text, now()
        FROM idle WHERE export_id IN (SELECT id FROM exported)
        RETURNING id`.execute(db)
      return rows.map(({ id }) => id)
    },
    /** Returns the job of that name that was enqueued last. */
    lastJob: async (name: string): Promise<string> => {
      const { rows } = await sql<{ id: string }>`
        SELECT id FROM jobs WHERE organization_id = ${org} AND name = ${name} ORDER BY id DESC LIMIT 1`.execute(db)
      return rows[0]?.id ?? ''
    },
  }
}
