import { sql } from 'kysely'
import { Type } from 'typebox'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { note, notes } from '../../../test/support/jobs/notes.ts'
import { eventually, openTestQueue } from '../../../test/support/jobs/queue.ts'
import { quietLog } from '../../../test/support/jobs/quiet-log.ts'
import { defineJob } from './define-job.ts'
import { systemOrganization } from './queries.ts'
import { openSchedules } from './schedules.ts'

const job = defineJob({
  name: 'schedule.yearly',
  payload: Type.Object({}),
  schedule: '0 0 1 1 *',
  run: async (_deps: object, _payload, attempt) => attempt.finish((trx) => note(trx, 'yearly')),
})

let queue: Awaited<ReturnType<typeof openTestQueue>>

beforeAll(async () => {
  queue = await openTestQueue()
})
beforeEach(async () => {
  await sql`TRUNCATE effects, jobs, job_schedules`.execute(queue.db)
})
afterAll(() => queue.close())

const setNext = (when: string) =>
  sql`INSERT INTO job_schedules VALUES (${job.name}, now() + ${when}::interval)
      ON CONFLICT (name) DO UPDATE SET next_at = excluded.next_at`.execute(queue.db)

const nextAt = async () => {
  const { rows } = await sql<{ next: Date; isNewYear: boolean; isSoon: boolean }>`
    SELECT next_at = date_trunc('year', next_at) AS "isNewYear",
      next_at BETWEEN now() AND now() + interval '1 year' AS "isSoon" FROM job_schedules`.execute(queue.db)
  return rows
}

/** Checks the schedules once. */
const look = async () => {
  const schedules = openSchedules({
    db: queue.db,
    log: quietLog(),
    jobs: [job],
    enqueue: (trx) => queue.jobs.enqueue(trx, job, {}, { singletonKey: 'schedule' }),
  })
  await schedules.close()
}

const countWaiting = async () => (await sql`SELECT 1 FROM jobs WHERE state = 'waiting'`.execute(queue.db)).rows.length

test('a new schedule first runs at its next time', async () => {
  await look()
  expect(await nextAt()).toEqual([{ isNewYear: true, isSoon: true }])
  expect(await countWaiting()).toBe(0)
})

test('one run makes up for missed ones, however many processes check', async () => {
  await setNext('-3 years')
  await Promise.all([1, 2, 3, 4].map(look))
  await look()
  expect(await countWaiting()).toBe(1)
  expect(await nextAt()).toEqual([{ isNewYear: true, isSoon: true }])
  const { rows } = await sql`SELECT organization_id AS org FROM jobs`.execute(queue.db)
  expect(rows).toEqual([{ org: systemOrganization }])
})

test('a waiting run is not joined by the next', async () => {
  for (let times = 0; times < 3; times++) {
    await setNext('-1 second')
    await look()
  }
  expect(await countWaiting()).toBe(1)
})

test('a clock that was years ahead does not stop a schedule', async () => {
  await setNext('5 years')
  await look()
  expect(await nextAt()).toEqual([{ isNewYear: true, isSoon: true }])
  expect(await countWaiting()).toBe(0)
})

test('workers run what is due', async () => {
  await setNext('-1 second')
  const workers = await Promise.all(['a', 'b', 'c'].map(() => queue.open()))
  await Promise.all(workers.map((jobs, index) => jobs.start([job], {}, { workerId: `${index}` })))
  await eventually('the run', async () => (await notes(queue.db)).length > 0)
  await Promise.all(workers.map((jobs) => jobs.stop({ timeoutMs: 1_000 })))
  expect(await notes(queue.db)).toEqual(['yearly'])
})

test('an invalid schedule prevents the start', () => {
  const wrong = { ...job, schedule: 'at times' }
  const open = () => openSchedules({ db: queue.db, log: quietLog(), jobs: [wrong], enqueue: async () => {} })
  expect(open).toThrow()
})
