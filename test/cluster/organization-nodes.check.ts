import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, expect, it, vi } from 'vitest'
import type { Db } from '../../server/platform/db/database.ts'
import { notify } from '../../server/platform/db/notify.ts'
import { newId, orgIdOf } from '../../server/platform/ids.ts'
import { workers } from '../citus.ts'
import { makeConversation, makeOrganization } from '../make.ts'
import { testServer } from '../server.ts'

// Statements of an organization use the node that has its rows. All others use the coordinator.

const server = await testServer()
const { db, database, listener } = server.deps
const { database: name } = new pg.Client(database.connection)

/** Returns the port of the server that runs a statement. */
const portOf = async (on: Db): Promise<number | undefined> =>
  (await sql<{ port: number }>`SELECT inet_server_port() AS port`.execute(on)).rows[0]?.port

const homeOf = async (org: string) => {
  const { rows } = await sql<{ shard: string; port: number }>`
    SELECT shardid AS shard, nodeport AS port FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
    WHERE shardid = get_shard_id_for_distribution_column('conversations', ${org}::uuid)`.execute(db)
  return rows[0] ?? { shard: '', port: 0 }
}

/** Creates an organization on a node, and waits until its connections go to that node. */
const makeOrganizationOn = async (port: number) => {
  for (;;) {
    const made = await makeOrganization(server)
    if ((await homeOf(made.id)).port !== port) continue
    const near = database.dbOf(orgIdOf(made.id))
    await vi.waitFor(async () => expect(await portOf(near)).toBe(port), { timeout: 20_000 })
    return { ...made, near }
  }
}

const [first, second] = workers.map(({ port }) => port) as [number, number]

/** Opens a session on a node. */
const connectTo = async (port: number) => {
  const node = workers.find((worker) => worker.port === port)
  const { user, password } = new pg.Client(database.connection)
  const client = new pg.Client({ host: node?.host, port, user, database: name, ...(password && { password }) })
  await client.connect()
  return client
}

const onFirst = await connectTo(first)
afterAll(() => onFirst.end())

it('runs the statements of an organization on its node', async () => {
  for (const port of [first, second]) {
    const { near } = await makeOrganizationOn(port)
    expect(await near.transaction().execute(portOf)).toBe(port)
  }
  expect(await portOf(db)).not.toBeOneOf([first, second])
})

it('uses the coordinator for an organization that does not exist', async () => {
  expect(await portOf(database.dbOf(orgIdOf(newId())))).toBe(await portOf(db))
})

it('notifies other processes of a transaction on a node, after its commit', async () => {
  const { near } = await makeOrganizationOn(first)
  const heard: string[] = []
  await listener.on('test_channel', (payload) => heard.push(payload))
  await near.transaction().execute((trx) => notify(trx, 'test_channel', 'committed'))
  const failed = near.transaction().execute(async (trx) => {
    await notify(trx, 'test_channel', 'rolled back')
    throw new Error('on purpose')
  })
  await expect(failed).rejects.toThrow('on purpose')
  await notify(near, 'test_channel', 'alone')
  await expect.poll(() => heard).toEqual(['committed', 'alone'])
})

it('stores a conversation and its job on both servers, or on neither', async () => {
  const { id, key, near } = await makeOrganizationOn(first)
  const countJobs = async () => {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) AS count FROM jobs WHERE organization_id = ${id}::uuid AND name = 'conversation.evaluate'`.execute(
      db,
    )
    return rows[0]?.count
  }
  await makeConversation(server, key)
  expect(await countJobs()).toBe(1)
  const refused = near.transaction().execute(async (trx) => {
    await sql`INSERT INTO jobs (organization_id, id, name, payload, state, priority, due_at)
      VALUES (${id}::uuid, gen_random_uuid(), 'conversation.evaluate', '{}', 'dead', 0, now())`.execute(trx)
    await sql`DELETE FROM agents WHERE organization_id = ${id}::uuid`.execute(trx)
  })
  await expect(refused).rejects.toThrow(/conversations_agent_fkey/)
  expect(await countJobs()).toBe(1)
})

it('needs no more memory for each repeated statement', async () => {
  const { id, near } = await makeOrganizationOn(first)
  const used = await near.connection().execute(async (connection) => {
    const repeat = async (times: number) => {
      for (let number = 0; number < times; number++) {
        await sql`SELECT id FROM conversations WHERE organization_id = ${id}::uuid AND id = ${newId()}::uuid`.execute(
          connection,
        )
        await sql`INSERT INTO audit_events (organization_id, id, action, actor, targets, request_id)
          VALUES (${id}, ${newId()}, 'test', '{}', '[]', 'test')`.execute(connection)
      }
      const { rows } = await sql<{ bytes: number }>`
        SELECT sum(total_bytes) AS bytes FROM pg_backend_memory_contexts`.execute(connection)
      return rows[0]?.bytes ?? 0
    }
    const before = await repeat(50)
    return (await repeat(200)) - before
  })
  expect(used).toBeLessThan(1_000_000)
})

it('uses the coordinator while a node refuses this process, and the node again afterwards', async () => {
  const { key, near } = await makeOrganizationOn(first)
  const conversation = await makeConversation(server, key)
  await onFirst.query('SET citus.enable_ddl_propagation = off')
  await onFirst.query(`CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF current_setting('application_name') = 'test' THEN RAISE 'refused on purpose'; END IF; END $$`)
  await onFirst.query('CREATE EVENT TRIGGER refuse ON login EXECUTE FUNCTION refuse()')
  await onFirst.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'test' AND pid <> pg_backend_pid()`)
  const read = async () => {
    const { status, body } = await server.call('GET', `/v1/conversations/${conversation.id}`, { key })
    return { status, id: body.id }
  }
  await vi.waitFor(async () => expect(await read()).toEqual({ status: 200, id: conversation.id }))
  expect(await portOf(near)).toBe(await portOf(db))
  await makeConversation(server, key)
  await onFirst.query('DROP EVENT TRIGGER refuse')
  await vi.waitFor(async () => expect(await portOf(near)).toBe(first), { timeout: 20_000 })
  expect(await read()).toEqual({ status: 200, id: conversation.id })
})

it('rejects a node with a different clock', async () => {
  const { near } = await makeOrganizationOn(first)
  await onFirst.query('SET citus.enable_ddl_propagation = off')
  // Only the clock check calls this function on a node.
  await onFirst.query(`CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
    AS 'SELECT pg_catalog.clock_timestamp() + interval ''3 seconds'''`)
  await onFirst.query(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`)
  await onFirst.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'test' AND pid <> pg_backend_pid()`)
  await vi.waitFor(async () => expect(await portOf(near)).toBe(await portOf(db)))
  await onFirst.query(`ALTER DATABASE ${name} RESET search_path`)
  await vi.waitFor(async () => expect(await portOf(near)).toBe(first), { timeout: 20_000 })
})

it('reads and stores while shards move, and then uses their new node', async () => {
  const { id, key, near } = await makeOrganizationOn(first)
  const stored: string[] = []
  let isMoving = true
  const store = async () => {
    while (isMoving) {
      const conversation = await makeConversation(server, key)
      const { status } = await server.call('GET', `/v1/conversations/${conversation.id}`, { key })
      expect(status).toBe(200)
      stored.push(conversation.id)
    }
  }
  const storing = Promise.all([store(), store(), store()])
  const host = workers[0]?.host
  try {
    for (const [from, to] of [
      [first, second],
      [second, first],
      [first, second],
    ]) {
      const { shard } = await homeOf(id)
      await sql`SELECT citus_move_shard_placement(${shard}::bigint, ${host}, ${from}::integer, ${host}, ${to}::integer, 'block_writes')`.execute(
        db,
      )
      await sql`CALL citus_cleanup_orphaned_resources()`.execute(db)
      const enough = stored.length + 20
      await vi.waitUntil(() => stored.length > enough, { timeout: 30_000 })
    }
  } finally {
    isMoving = false
  }
  await storing
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM conversations WHERE organization_id = ${id}::uuid AND id = ANY(${stored}::uuid[])`.execute(
    db,
  )
  expect(rows[0]?.count).toBe(stored.length)
  await vi.waitFor(async () => expect(await portOf(near)).toBe(second), { timeout: 20_000 })
})
