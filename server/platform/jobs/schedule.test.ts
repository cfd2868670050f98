import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from './define-job.ts'
import { installSchema } from './install.ts'
import { note, notes } from './test-notes.ts'
import { eventually, openTestQueue } from './test-queue.ts'

const leftOfMinute = () => 60_000 - (Date.now() % 60_000)
// What fell due more than a minute ago is sent no more: the minute must not end before the processes have begun. A timer
// may end a moment early.
while (leftOfMinute() < 10_000) await sleep(leftOfMinute())
const now = new Date()

/** This minute of the day: due once, at once. */
const dailyJob = defineJob({
  name: 'schedule.daily',
  payload: Type.Object({}),
  schedule: `${now.getUTCMinutes()} ${now.getUTCHours()} * * *`,
  run: async (_deps: object, _payload, attempt) => attempt.finish((trx) => note(trx, 'daily')),
})

let queue: Awaited<ReturnType<typeof openTestQueue>>

beforeAll(async () => {
  queue = await openTestQueue([dailyJob])
})
afterAll(() => queue.close())

test('a schedule fires once, however many processes keep it', async () => {
  const workers = await Promise.all(['a', 'b', 'c'].map(() => queue.open()))
  await Promise.all(workers.map((jobs, index) => jobs.start([dailyJob], {}, { workerId: `${index}` })))
  // Clocks are looked at every 15 seconds, and by the database's own time; what is due is sent within five more.
  await eventually('the run', async () => (await notes(queue.db)).length > 0, 40_000)
  // What was sent and what was run: a second firing would be a row more.
  const { rows } = await sql`SELECT 1 FROM pgboss.job`.execute(queue.db)
  expect(rows).toHaveLength(2)
  expect(await notes(queue.db)).toEqual(['daily'])
})

test('a schedule that the code no longer has is removed', async () => {
  const { rows: before } = await sql`SELECT 1 FROM pgboss.schedule`.execute(queue.db)
  expect(before).toHaveLength(1)
  await installSchema(queue.connection, [{ ...dailyJob, schedule: undefined }])
  const { rows: after } = await sql`SELECT 1 FROM pgboss.schedule`.execute(queue.db)
  expect(after).toHaveLength(0)
})
