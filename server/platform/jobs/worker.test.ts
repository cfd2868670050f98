import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { deadlyJob, heedlessJob, lastingJob, quickJob, type TestJobDeps } from '../../../test/support/jobs/jobs.ts'
import { notes } from '../../../test/support/jobs/notes.ts'
import { eventually, openTestQueue } from '../../../test/support/jobs/queue.ts'
import type { Jobs } from './queue.ts'
import type { SettledAttempt } from './work.ts'

let queue: Awaited<ReturnType<typeof openTestQueue>>
const started: Jobs[] = []
const children: ChildProcess[] = []

beforeAll(async () => {
  queue = await openTestQueue()
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const jobs of started.splice(0)) await jobs.stop({ timeoutMs: 0 })
  await sql`TRUNCATE effects`.execute(queue.db)
})
afterAll(() => queue.close())

type StartOptions = Omit<TestJobDeps, 'db' | 'worker'> & { assumeSoleWorker?: boolean }

const startWorker = async (
  worker: string,
  jobs: Parameters<typeof queue.jobs.start<TestJobDeps>>[0],
  { assumeSoleWorker = false, ...rest }: StartOptions = {},
) => {
  const settled: SettledAttempt[] = []
  const opened = await queue.open()
  started.push(opened)
  await opened.start(
    jobs,
    { db: queue.db, worker, ...rest },
    { workerId: worker, assumeSoleWorker, onSettled: (one) => settled.push(one) },
  )
  return { jobs: opened, settled }
}

const startChild = async (name: string) => {
  const child = fork(join(import.meta.dirname, '../../../test/support/jobs/worker.ts'), [
    JSON.stringify({ connection: queue.connection, name }),
  ])
  children.push(child)
  await once(child, 'message')
  return child
}

const noted = (line: string, timeoutMs?: number) =>
  eventually(line, async () => (await notes(queue.db)).includes(line), timeoutMs)

const activeIn = async (name: string) => {
  const counts = await queue.jobs.counts()
  return counts.find((row) => row.name === name && row.state === 'active')?.count ?? 0
}

test('workers are notified by the commit, and share the work so that each job runs once', async () => {
  const workers = await Promise.all(['a', 'b'].map((name) => startWorker(name, [quickJob])))
  const startedAt = Date.now()
  for (let run = 1; run <= 20; run++) {
    await queue.jobs.enqueue(queue.db, quickJob, { text: `hello ${run}` })
    await eventually('a run', async () => (await notes(queue.db)).length === run)
  }
  // If workers only checked every second, each job would take one second.
  expect(Date.now() - startedAt).toBeLessThan(15_000)

  await queue.jobs.enqueueMany(
    queue.db,
    quickJob,
    Array.from({ length: 200 }, (_, index) => ({ text: `${index}` })),
  )
  await eventually('all runs', async () => (await notes(queue.db)).length >= 220)
  const lines = await notes(queue.db)
  expect(new Set(lines.map((line) => line.split(' by ')[0])).size).toBe(220)
  expect(lines).toHaveLength(220)
  expect(new Set(lines.map((line) => line.split(' by ')[1]))).toEqual(new Set(['a', 'b']))
  await eventually('all counted', async () => workers.flatMap(({ settled }) => settled).length === 220)
  expect(workers.flatMap(({ settled }) => settled).every(({ result }) => result === 'completed')).toBe(true)
})

test('stop waits for running jobs, and returns those that do not end in time, without counting them', async () => {
  const gate = Promise.withResolvers<void>()
  const running = Promise.withResolvers<void>()
  const a = await startWorker('a', [heedlessJob], { gate: gate.promise, onRun: running.resolve })
  await queue.jobs.enqueue(queue.db, heedlessJob, { text: 'x' })
  await running.promise
  const stopping = a.jobs.stop({ timeoutMs: 10_000 })
  gate.resolve()
  await stopping
  expect(await notes(queue.db)).toContain('x finished by a')

  const never = Promise.withResolvers<void>()
  const runningAgain = Promise.withResolvers<void>()
  const b = await startWorker('b', [heedlessJob], { gate: never.promise, onRun: runningAgain.resolve })
  await queue.jobs.enqueue(queue.db, heedlessJob, { text: 'y' })
  await runningAgain.promise
  await b.jobs.stop({ timeoutMs: 50 })
  expect(b.settled.map(({ result }) => result)).toEqual(['returned'])
  await startWorker('c', [heedlessJob])
  await noted('y finished by c')
  // The old attempt continues in b, but changes nothing.
  never.resolve()
  await queue.jobs.enqueue(queue.db, heedlessJob, { text: 'z' })
  await noted('z finished by c')
  const lines = await notes(queue.db)
  expect(lines).toContain('y begun by c as 1')
  expect(lines.filter((line) => line.startsWith('y') && !line.includes('begun'))).toEqual([
    'y done by c',
    'y finished by c',
  ])
})

test.each([
  ['another worker', ['b']],
  ['itself', []],
])('an attempt that was taken over by %s is aborted and changes nothing', async (_whom, others) => {
  const gate = Promise.withResolvers<void>()
  const running = Promise.withResolvers<void>()
  const a = await startWorker('a', [heedlessJob], { gate: gate.promise, onRun: running.resolve })
  const jobId = await queue.jobs.enqueue(queue.db, heedlessJob, { text: 'x' })
  await running.promise
  // This makes the job look as if its worker had died, because no worker has the lock with this key.
  await sql`UPDATE jobs SET worker_key = 7 WHERE id = ${jobId}`.execute(queue.db)
  for (const other of others) await startWorker(other, [heedlessJob])
  await eventually('a lost it', async () => a.settled.some(({ result }) => result === 'stale'))
  await eventually('somebody took it', async () => (await notes(queue.db)).some((line) => line.endsWith('as 2')))
  gate.resolve()
  await eventually('nothing is left', async () => (await queue.jobs.counts()).length === 0)
  const lines = await notes(queue.db)
  expect(lines.filter((line) => line.includes('done'))).toHaveLength(1)
  expect(lines.filter((line) => line.includes('finished'))).toHaveLength(1)
})

test('an attempt that times out is aborted and buried', async () => {
  const { settled } = await startWorker('a', [lastingJob])
  await queue.jobs.enqueue(queue.db, lastingJob, { text: 'x' })
  await noted('x failed: AttemptEnded: The attempt was aborted: timed out')
  await eventually('counted', async () => settled.some(({ result }) => result === 'dead'))
  await sql`DELETE FROM jobs WHERE state = 'dead'`.execute(queue.db)
})

test('the jobs of a killed worker are taken over immediately', async () => {
  const child = await startChild('worker.heedless')
  await queue.jobs.enqueue(queue.db, heedlessJob, { text: 'x' })
  await noted('x begun by child as 1')
  await startWorker('b', [heedlessJob])
  child.kill('SIGKILL')
  const killedAt = Date.now()
  await noted('x finished by b')
  // If only the lease mattered, it would take ten seconds.
  expect(Date.now() - killedAt).toBeLessThan(9_000)
  expect(await notes(queue.db)).toEqual([
    'x begun by child as 1',
    'x begun by b as 2',
    'x done by b',
    'x finished by b',
  ])
})

test('a sole worker returns active jobs before it starts', async () => {
  const child = await startChild('worker.heedless')
  await queue.jobs.enqueue(queue.db, heedlessJob, { text: 'x' })
  await noted('x begun by child as 1')
  // The stopped worker keeps its lock, so it does not count as dead before its lease of ten seconds expires.
  child.kill('SIGSTOP')
  await startWorker('b', [heedlessJob], { assumeSoleWorker: true })
  await noted('x finished by b', 7_000)
})

test('a job that kills its worker each time ends dead, and onFailed is called', async () => {
  const child = await startChild('worker.deadly')
  await queue.jobs.enqueue(queue.db, deadlyJob, { text: 'x' })
  await once(child, 'exit')
  const { settled } = await startWorker('b', [deadlyJob])
  await noted('x failed: Error: The last attempt was lost with its worker')
  await eventually('counted', async () => settled.some(({ result }) => result === 'dead'))
  expect(await notes(queue.db)).toHaveLength(2)
  expect(await queue.jobs.listDead({ limit: 5 })).toMatchObject([{ name: 'worker.deadly' }])
  await sql`DELETE FROM jobs WHERE state = 'dead'`.execute(queue.db)
})

test('a frozen worker with its lock loses its jobs when its lease expires; when it continues, it changes nothing', async () => {
  const child = await startChild('worker.heedless')
  await queue.jobs.enqueue(queue.db, heedlessJob, { text: 'x' })
  await noted('x begun by child as 1')
  child.kill('SIGSTOP')
  const frozenAt = Date.now()
  await startWorker('b', [heedlessJob])
  await noted('x finished by b', 25_000)
  expect(Date.now() - frozenAt).toBeGreaterThan(8_000)
  child.kill('SIGCONT')
  child.send('go on')
  await queue.jobs.enqueueMany(queue.db, heedlessJob, [{ text: 'y' }, { text: 'z' }])
  // Both workers run again, so either of them may take the jobs.
  for (const text of ['y', 'z']) {
    await eventually(`${text} finished`, async () =>
      (await notes(queue.db)).some((line) => line.startsWith(`${text} finished`)),
    )
  }
  expect((await notes(queue.db)).filter((line) => line.startsWith('x') && line.endsWith('by child'))).toEqual([])
})

test('after all connections are lost, as when the database restarts, workers continue and keep their jobs', async () => {
  const gate = Promise.withResolvers<void>()
  const running = Promise.withResolvers<void>()
  await startWorker('a', [heedlessJob, quickJob], { gate: gate.promise, onRun: running.resolve })
  await startWorker('b', [quickJob])
  await queue.jobs.enqueue(queue.db, heedlessJob, { text: 'x' })
  await running.promise
  const cut = sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
  `
  for (let times = 0; times < 3; times++) await cut.execute(queue.db)
  await eventually('work goes on', async () => {
    await queue.jobs.enqueue(queue.db, quickJob, { text: 'after' }).catch(() => {})
    return (await notes(queue.db).catch(() => [])).some((line) => line.startsWith('after'))
  })
  expect(await activeIn('worker.heedless')).toBe(1)
  gate.resolve()
  await noted('x finished by a')
  expect((await notes(queue.db)).filter((line) => line.startsWith('x begun'))).toHaveLength(1)
})
