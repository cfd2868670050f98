import { sql } from 'kysely'
import { expect } from 'vitest'
import { orgIdOf } from '../../../server/platform/ids.ts'
import { detectSpikes } from '../../../server/spikes/jobs.ts'
import { makeAgent, makeMonitor, makeOrganization } from '../../make.ts'
import type { TestServer } from '../../server.ts'

export const hourMs = 60 * 60 * 1_000
export const days = (count: number) => count * 24
/** Hours that began at least this many hours ago are counted. */
const closed = 3

/** Returns the names, as assigned by `give`, of the first `affected` calls of each hour. */
export const affectedIn = (from: number, to: number, affected: number) =>
  Array.from(
    { length: (to - from) * affected },
    (_, at) => `${from + Math.floor(at / affected)}-${at % affected}`,
  ).sort()

/** Creates an organization with a monitor that gets results hour by hour. Hours are counted from 1970. */
export const makeTimeline = async (server: TestServer) => {
  const { call, clock } = server
  const { db, jobs } = server.deps
  const organization = await makeOrganization(server)
  const org = orgIdOf(organization.id)
  const { key } = organization
  const monitorId: string = (await makeMonitor(server, key, { name: 'Refund promised' })).id

  const agent = { externalId: 'leo', name: 'Leo', channel: 'voice' }
  const agentId: string = (await makeAgent(server, key, agent)).id

  const post = async (path: string, name: string, items: object[]) => {
    const { status, body } = await call('POST', path, { key, body: { [name]: items } })
    expect(status).toBe(200)
    for (const { status } of body.data) expect(status).toBe('created')
  }

  /** Returns the next hour that will be closed. */
  const nextHour = () => Math.floor(clock.now().getTime() / hourMs) - closed + 1

  type ResultSeries = { from: number; to: number; affected: number; calls: number; monitors: string[] }

  /** Sends results hour by hour through the API. */
  const tell = async ({ from, to, affected, calls, monitors }: ResultSeries) => {
    const names = Array.from({ length: (to - from) * calls }, (_, at) => ({
      hour: from + Math.floor(at / calls),
      at: at % calls,
    }))
    const conversations = names.map(({ hour, at }) => ({
      externalId: `${hour}-${at}`,
      agent,
      channel: 'call',
      startedAt: new Date(hour * hourMs + at * 1_000).toISOString(),
    }))
    await post('/v1/conversations/batch', 'conversations', conversations)
    for (const monitor of monitors) {
      const results = names.map(({ hour, at }) => ({
        monitorId: monitor,
        conversationExternalId: `${hour}-${at}`,
        result: at < affected ? 'affected' : 'not_affected',
      }))
      await post('/v1/monitor-results', 'results', results)
    }
  }

  /** Writes the results of whole days in one step. */
  const write = ({ from, to, affected, calls, monitors }: ResultSeries) =>
    sql`
    WITH made AS (
      SELECT gen_random_uuid() AS id, hour, at, timestamptz 'epoch' + hour * interval '1 hour' + at * interval '1 second' AS time
      FROM generate_series(${from}::int, ${to - 1}::int) hour, generate_series(0, ${calls - 1}::int) at
    ), called AS (
      INSERT INTO conversations (organization_id, id, external_id, agent_id, channel, status, started_at, metadata, signals)
      SELECT ${org}::uuid, id, hour || '-' || at, ${agentId}::uuid, 'call', 'completed', time, '{}', '{}' FROM made
    )
    INSERT INTO monitor_results (organization_id, monitor_id, conversation_id, call_started_at, evaluated_at,
      monitor_version, status, result, evidence, evaluator)
    SELECT m.organization_id, m.id, made.id, time, time, m.current_version, 0,
      CASE WHEN at < ${affected}::int THEN 1 ELSE 0 END, '[]', 'test'
    FROM made, monitors m WHERE m.organization_id = ${org}::uuid AND m.id = ANY(${monitors}::uuid[])`.execute(db)

  /**
   * Creates calls that start in each of the hours, with results. They are named `hour-n`, and the first ones are
   * affected.
   */
  const give = async (from: number, to: number, affected: number, { calls = 6, monitors = [monitorId] } = {}) => {
    const given = { from, to, affected, calls, monitors }
    await (to - from > 1 ? write(given) : tell(given))
  }

  /** Runs the job, and returns how each run ended. */
  const run = async (options: Parameters<typeof jobs.drain>[2] = {}) => {
    await jobs.enqueue(db, detectSpikes, {})
    const outcomes = await jobs.drain([detectSpikes], server.deps, options)
    return outcomes.map(({ result }) => result)
  }

  /** Runs detection after each hour. */
  const live = async (hours: number, affected: number, monitors = [monitorId]) => {
    for (let hour = 0; hour < hours; hour++) {
      clock.advance(hourMs)
      await give(nextHour() - 1, nextHour(), affected, { monitors })
      await run()
    }
  }

  /** Runs detection once for all hours, as after a long outage. */
  const pass = async (hours: number, affected: number, { calls = 6, monitors = [monitorId] } = {}) => {
    clock.advance(hours * hourMs)
    await give(nextHour() - hours, nextHour(), affected, { calls, monitors })
    await run()
  }

  /** Creates nine days of calls, a third of which are affected. */
  const giveHistory = async (monitors = [monitorId]) => {
    await give(nextHour() - days(9), nextHour(), 2, { monitors })
    await run()
    return nextHour()
  }

  const findings = () =>
    db.selectFrom('findings').selectAll().where('organization_id', '=', org).orderBy('id').execute()

  /** Returns the names of the finding's conversations. */
  const attachedTo = async (findingId: string) => {
    const rows = await db
      .selectFrom('finding_conversations as f')
      .innerJoin('conversations as c', (join) =>
        join.onRef('c.organization_id', '=', 'f.organization_id').onRef('c.id', '=', 'f.conversation_id'),
      )
      .select('c.external_id as name')
      .where('f.organization_id', '=', org)
      .where('f.finding_id', '=', findingId)
      .execute()
    return rows.map(({ name }) => name).sort()
  }

  const stateOf = (monitor: string) =>
    db
      .selectFrom('monitor_spike_states')
      .select(['monitor_version as version', 'next_hour as nextHour', 'detector', 'finding_id as findingId'])
      .where('organization_id', '=', org)
      .where('monitor_id', '=', monitor)
      .executeTakeFirst()

  return {
    org,
    key,
    monitorId,
    nextHour,
    give,
    run,
    live,
    pass,
    giveHistory,
    findings,
    attachedTo,
    stateOf,
  }
}
