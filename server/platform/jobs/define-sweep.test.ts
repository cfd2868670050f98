import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventually, openTestQueue } from '../../../test/support/jobs/queue.ts'
import { quietLog } from '../../../test/support/jobs/quiet-log.ts'
import type { Db, OrgId } from '../db/database.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import { trust } from '../sweeps.ts'
import type { Attempt } from './define-job.ts'
import { defineSweep, type SweepDefinition } from './define-sweep.ts'

const [orgA, orgB] = [newId(), newId()].sort() as [OrgId, OrgId]
const clock = { now: () => new Date(0) }

type Item = { id: string }
type TestDeps = ReturnType<typeof makeDeps>

let queue: Awaited<ReturnType<typeof openTestQueue>>
let begun: string[] = []
/** The due items of each organization. */
let due: Map<OrgId, string[]>

const makeDeps = (effect: (item: string) => Promise<void> | void = () => {}) => ({
  db: queue.db as Db,
  jobs: queue.jobs,
  log: quietLog() as Log,
  clock,
  sweeps: trust(clock),
  effect,
})

const define = (name: string, rest: Partial<SweepDefinition<TestDeps, Item>> = {}) =>
  defineSweep<TestDeps, Item>({
    name: `test.${name}`,
    schedule: '0 0 1 1 *',
    time: () => clock.now(),
    listOrganizations: async () => [...due.keys()].map((id) => ({ id })),
    listItems: async function* (_deps, { org, after = '' }) {
      for (const id of due.get(org) ?? []) if (id > after) yield { id }
    },
    sweepItem: async ({ effect }, { id }, { org }) => {
      const item = `${org === orgA ? 'a' : 'b'}${id}`
      begun.push(item)
      await effect(item)
    },
    ...rest,
  })

beforeAll(async () => {
  queue = await openTestQueue()
  for (const id of [orgA, orgB]) {
    await sql`
      INSERT INTO organizations (id, name, slug, monitors, observability, metrics, monitor_exports, export_webhooks,
        experiments_v2, phi_mode)
      VALUES (${id}, 'Acme', ${id}, true, true, true, true, true, true, false)`.execute(queue.db)
  }
})
afterAll(() => queue.close())
beforeEach(() => {
  begun = []
  due = new Map([
    [orgA, ['1', '2', '3', '4']],
    [orgB, ['1']],
  ])
})

test('an organization waits for at most one slice of another', async () => {
  const sweep = define('slices', { sliceMs: 0 })
  await queue.jobs.enqueue(queue.db, sweep, {})
  await queue.jobs.drain([sweep], makeDeps())
  expect(begun).toEqual(['a1', 'b1', 'a2', 'a3', 'a4'])
})

test('a stuck organization does not block others', async () => {
  const sweep = define('stuck')
  const stuck = Promise.withResolvers<void>()
  const worker = await queue.open()
  await worker.start(
    [sweep],
    makeDeps((item) => (item === 'a1' ? stuck.promise : undefined)),
    { workerId: 'stuck' },
  )
  await queue.jobs.enqueue(queue.db, sweep, {})
  await eventually('both have begun', async () => begun.length === 2)
  expect(begun.sort()).toEqual(['a1', 'b1'])
  stuck.resolve()
  await eventually('all are done', async () => begun.length === 5)
  await worker.stop({ timeoutMs: 5_000 })
})

test('a failure blocks neither its organization nor another, and is retried', async () => {
  const sweep = define('fault')
  await queue.jobs.enqueue(queue.db, sweep, {})
  const failing = makeDeps((item) => {
    if (item === 'a2') throw new Error('of a2')
  })
  const outcomes = await queue.jobs.drain([sweep], failing, { allowFailures: true })
  expect(outcomes.map(({ result }) => result).sort()).toEqual(['completed', 'completed', 'retried'])
  expect(begun.sort()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1'])
  begun = []
  await queue.jobs.drain([sweep], makeDeps(), { delayed: true })
  expect(begun).toContain('a2')
})

test('an error in one slice does not affect the next', async () => {
  const sweep = define('faulty-slice', { sliceMs: 0 })
  await queue.jobs.enqueue(queue.db, sweep, {})
  const failing = makeDeps((item) => {
    if (item === 'a2') throw new Error('of a2')
  })
  await queue.jobs.drain([sweep], failing)
  expect(begun).toEqual(['a1', 'b1', 'a2', 'a3', 'a4'])
})

test('checks every organization if due ones cannot be listed', async () => {
  const sweep = define('node-away', {
    listOrganizations: async () => {
      throw new Error('a node is away')
    },
  })
  await queue.jobs.enqueue(queue.db, sweep, {})
  await queue.jobs.drain([sweep], makeDeps())
  expect(begun.sort()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1'])
})

test('a run enqueues nothing if an earlier one still waits', async () => {
  const sweep = define('twice')
  const attempt = { transaction: (effect: (trx: Db) => Promise<void>) => effect(queue.db) } as Attempt
  for (let run = 0; run < 2; run++) await sweep.run(makeDeps(), {}, attempt)
  expect((await queue.jobs.counts()).find(({ name }) => name === sweep.name)?.count).toBe(2)
})
