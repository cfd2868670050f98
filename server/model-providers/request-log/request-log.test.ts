import pg from 'pg'
import { afterAll, expect, it, vi } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { changesChannel, orgOfPayload } from '../../platform/changes/changes.ts'
import { openRequestLog } from './request-log.ts'

const server = await testServer()
const { deps } = server
const listener = new pg.Client(deps.database.connection)
await listener.connect()
afterAll(() => listener.end())

it('announces health when requests begin or cease to fail, and not in between', async () => {
  const { id } = await makeOrganization(server)
  let announced = 0
  listener.on('notification', ({ payload = '' }) => {
    if (orgOfPayload(payload) === id && payload.includes('"health"')) announced++
  })
  await listener.query(`LISTEN ${changesChannel}`)
  const requests = openRequestLog(deps)
  let made = 0
  /** Stores one more request, and returns the number of changes announced so far. */
  const request = async (fault: string | undefined): Promise<number> => {
    requests.note({ owner: id, model: 'small', durationMs: 100, fault })
    // Requests to the other model always succeed, so they announce nothing.
    requests.note({ owner: id, model: 'large', durationMs: 100, fault: undefined })
    made += 2
    await vi.waitFor(
      async () => {
        const rows = await deps.db
          .selectFrom('judge_requests')
          .select('requests')
          .where('organization_id', '=', id)
          .execute()
        expect(rows.reduce((sum, row) => sum + row.requests, 0)).toBe(made)
      },
      { timeout: 20_000 },
    )
    // Notifications arrive in order, so all earlier ones have arrived.
    await listener.query('SELECT 1')
    return announced
  }
  const faults = [undefined, undefined, 'no route', 'no route', undefined, undefined]
  const counts: number[] = []
  for (const fault of faults) counts.push(await request(fault))
  await requests.close()
  await vi.waitFor(() => expect(announced).toBe(2))
  expect(counts[1]).toBe(0)
  expect(counts[3]).toBe(1)
})
