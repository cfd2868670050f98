import { sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { testServer } from '../../../test/server.ts'
import { makeCalled, post, sampleOf } from '../../../test/support/integrations/signed-webhooks.ts'

const server = await testServer({ EARSHOT_LIMITS: 'ratePerSecond=1,rateBurst=6' })
const { db } = server.deps

it('a call that loses its database connection halfway leaves nothing, and is stored when it is sent again', async () => {
  const { id, integration } = await makeCalled(server, 'retell')
  const body = sampleOf('retell')
  const interrupted = await db.transaction().execute(async (trx) => {
    await sql`LOCK TABLE integration_deliveries IN ACCESS EXCLUSIVE MODE`.execute(trx)
    const answer = post(server, integration, body)
    // At this point, all other data of the call is written but not committed.
    await vi.waitFor(async () => {
      const { rows } = await sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND query LIKE 'insert into "integration_deliveries"%' AND pid <> pg_backend_pid()`.execute(db)
      expect(rows).toHaveLength(1)
    }, 10_000)
    return answer
  })
  expect(interrupted).toMatchObject({ status: 503, body: { error: 'temporarily unavailable' } })
  expect(interrupted.headers.get('retry-after')).toBe('2')
  for (const table of ['conversations', 'agents', 'integration_deliveries']) {
    const { rows } = await sql`SELECT FROM ${sql.table(table)} WHERE organization_id = ${id}`.execute(db)
    expect(rows, table).toEqual([])
  }
  expect(await post(server, integration, body)).toMatchObject({ status: 200, body: { status: 'applied' } })
})

it('an IP address that sends too fast has to wait', async () => {
  const { integration } = await makeCalled(server, 'retell')
  let late = await post(server, integration, { event: 'call_started' })
  expect(late.status).not.toBe(429)
  const statusOfNext = async () => {
    late = await post(server, integration, { event: 'call_started' })
    return late.status
  }
  // One more request is allowed every second.
  await expect.poll(statusOfNext, { interval: 1 }).toBe(429)
  expect(late.headers.get('retry-after')).toBe('1')
})
