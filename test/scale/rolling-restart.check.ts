import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { testDatabase } from '../database.ts'
import { ask, provision } from '../earshot.ts'
import { openCluster } from './cluster.ts'

const database = await testDatabase()
afterAll(database.drop)
const cluster = await openCluster(database.connection, { EARSHOT_DRAIN_SECONDS: '3' })
const workers = await Promise.all([cluster.startWorker(), cluster.startWorker()])
await Promise.all([cluster.startHttp(), cluster.startHttp()])

/**
 * The pause between conversations of a caller. Without a pause, four callers use the whole CPU, and processes start
 * slowly.
 */
const betweenMs = 50

it('restarting one process after another loses no request and no job', async () => {
  const { origin } = cluster
  const { key } = await provision(origin)
  const monitor = { name: 'Refund', kind: 'rule', definition: { expression: 'turns.size() == 1' } }
  const { id: monitorId } = (await ask(origin, 'POST', '/v1/monitors', key, monitor)).body

  const failures: unknown[] = []
  const stored: string[] = []
  let answered = 0
  let over = false
  const send = async (method: string, path: string, status: number, body?: unknown) => {
    const answer = await ask(origin, method, path, key, body).catch((error: unknown) => ({ status: 0, body: error }))
    answered++
    if (answer.status !== status) failures.push([method, path, answer.status, answer.body])
  }
  const caller = async () => {
    while (!over) {
      const externalId = `call-${randomUUID()}`
      const body = {
        externalId,
        agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
        channel: 'call',
        status: 'completed',
        startedAt: new Date().toISOString(),
        endedAt: new Date().toISOString(),
        transcript: [{ role: 'user', text: 'I want my money back.', start: 0, end: 2 }],
      }
      stored.push(externalId)
      await send('POST', '/v1/conversations', 201, body)
      await send('GET', '/v1/conversations?limit=5', 200)
      await pause(betweenMs)
    }
  }
  const callers = [caller(), caller(), caller(), caller()]

  const replaceHttp = async () => {
    for (const process of cluster.http()) {
      const fresh = await cluster.startHttp()
      await expect.poll(() => cluster.balancer.targets()[fresh.url]).toBe(true)
      const before = answered
      expect(await cluster.stop(process)).toEqual({ code: 0, signal: null })
      await expect.poll(() => answered).toBeGreaterThan(before)
    }
  }
  const replaceWorkers = async () => {
    for (const worker of workers) {
      const { healthOrigin } = await cluster.startWorker()
      await expect.poll(async () => (await fetch(`${healthOrigin}/readyz`)).status).toBe(200)
      worker.child.kill('SIGTERM')
      expect(await worker.ended).toEqual({ code: 0, signal: null })
    }
  }
  await Promise.all([replaceHttp(), replaceWorkers()]).finally(() => {
    over = true
  })
  await Promise.all(callers)

  expect(failures).toEqual([])
  expect(stored.length).toBeGreaterThan(50)
  const counted = async (filter: object) =>
    (await ask(origin, 'POST', '/v1/conversations/count', key, { filter })).body.count
  expect(await counted({})).toBe(stored.length)
  const affected = { monitors: [{ id: monitorId, result: 'affected' }] }
  await expect.poll(() => counted(affected), { timeout: 90_000 }).toBe(stored.length)
})
