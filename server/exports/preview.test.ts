import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { testServer } from '../../test/server.ts'
import { exportsOf } from '../../test/support/exports/exports.ts'

const server = await testServer()
const { call, deps } = server
const { makeCalls, ask, fetchFile } = exportsOf(server)

const preview = (key: string, config: object) => call('POST', '/v1/monitor-exports/preview', { key, body: { config } })

it('returns the first rows of the future export, and counts all', async () => {
  const { key, config } = await makeCalls(45)
  const affected = { ...config, reasoning: true, monitors: [{ ...config.monitors[0], result: 'affected' }] }
  const { status, body } = await preview(key, affected)
  expect(status).toBe(200)
  expect(body).toMatchObject({ count: 23, exceedsLimit: false })
  const { body: made } = await ask(key, affected)
  await server.drain()
  const lines = (await (await fetchFile(key, made.id)).text()).split('\r\n').filter((line) => line !== '')
  const shown = [body.columns, ...body.rows].map((cells: unknown[]) => cells.map((cell) => cell ?? '').join(','))
  expect(shown).toEqual(lines.slice(0, 21))
})

it('leaves capacity of the database to others, however many requests there are and however long they take', async () => {
  const { key, config } = await makeCalls(1)
  const asked: ReturnType<typeof preview>[] = []
  await deps.db.transaction().execute(async (trx) => {
    // The preview is the only request in this test that reads conversations.
    await sql`LOCK TABLE conversations IN ACCESS EXCLUSIVE MODE`.execute(trx)
    // Four of the requests run, and a hundred wait.
    for (let at = 0; at < 105; at++) asked.push(preview(key, config))
    const refused = await Promise.race(asked)
    expect(refused).toMatchObject({ status: 503, body: { error: 'temporarily unavailable' } })
    expect(refused.headers.get('retry-after')).toBe('5')
    expect((await call('GET', '/v1/monitor-exports', { key })).status).toBe(200)
  })
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(104)
})
