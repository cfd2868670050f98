import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { behindPassage } from '../../../test/database.ts'
import { sound } from '../../../test/passage.ts'
import { note, notes } from '../../../test/support/jobs/notes.ts'
import { eventually, openTestQueue } from '../../../test/support/jobs/queue.ts'
import { quietLog } from '../../../test/support/jobs/quiet-log.ts'
import { openDatabase } from '../db/database.ts'
import { type Attempt, defineJob } from './define-job.ts'
import { openJobs } from './queue.ts'
import type { SettledAttempt } from './work.ts'

type Deps = { run: (attempt: Attempt) => Promise<void> }

const job = defineJob({
  name: 'attempt.any',
  payload: Type.Object({}),
  run: ({ run }: Deps, _payload, attempt) => run(attempt),
})

let queue: Awaited<ReturnType<typeof openTestQueue>>

beforeAll(async () => {
  queue = await openTestQueue()
})
beforeEach(async () => {
  await sql`TRUNCATE effects, jobs`.execute(queue.db)
})
afterAll(() => queue.close())

/** Runs one job over an unreliable network. The test's own connections are reliable. */
const overPassage = async () => {
  const { passage, connection } = await behindPassage(queue.connection)
  const database = openDatabase({ connection, applicationName: 'jobs test' })
  const jobs = openJobs({ database, log: quietLog() })
  onTestFinished(async () => {
    await jobs.close()
    await database.close()
  })
  await queue.jobs.enqueue(queue.db, job, {})
  return { passage, drain: (run: Deps['run']) => jobs.drain([job], { run }, { allowFailures: true }) }
}

const completed = [{ number: 1, result: 'completed' }]

describe.each(['transaction', 'finish'] as const)('completed work is not repeated because of its %s', (kind) => {
  test('if the database is temporarily unavailable', async () => {
    const { passage, drain } = await overPassage()
    let works = 0
    const outcomes = await drain(async (attempt) => {
      works++
      passage.become({ kind: 'resetting' })
      const back = sleep(300).then(() => passage.become(sound))
      await attempt[kind]((trx) => note(trx, 'stored')).finally(() => back)
    })
    expect(outcomes).toMatchObject(completed)
    expect(works).toBe(1)
    expect(await notes(queue.db)).toEqual(['stored'])
  })

  test('if its connection is cut: the effect of that attempt is rolled back', async () => {
    const { passage, drain } = await overPassage()
    let [works, tries] = [0, 0]
    const outcomes = await drain(async (attempt) => {
      works++
      await attempt[kind](async (trx) => {
        await note(trx, 'begun')
        if (++tries === 1) passage.reset()
        await note(trx, 'stored')
      })
    })
    expect(outcomes).toMatchObject(completed)
    expect([works, tries]).toEqual([1, 2])
    expect(await notes(queue.db)).toEqual(['begun', 'stored'])
  })

  test('but rejections are reported immediately', async () => {
    const { drain } = await overPassage()
    let tries = 0
    const outcomes = await drain((attempt) =>
      attempt[kind](async () => {
        tries++
        throw new Error('no')
      }),
    )
    expect(outcomes).toMatchObject([{ result: 'retried', error: { message: 'no' } }])
    expect(tries).toBe(1)
  })
})

describe('a commit without a response', () => {
  /** Closes all connections while the commit waits for a lock, and then releases the lock. */
  const cutAtCommit = async (kind: 'transaction' | 'finish') => {
    const { passage, drain } = await overPassage()
    let tries = 0
    let value: unknown
    let drained: ReturnType<typeof drain> | undefined
    await queue.db.transaction().execute(async (trx) => {
      await sql`SELECT pg_advisory_xact_lock(1)`.execute(trx)
      drained = drain(async (attempt) => {
        value = await attempt[kind](async (trx) => {
          await note(trx, 'stored')
          return ++tries
        })
      })
      await eventually('a commit', async () => {
        const { rows } = await sql`
          SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND query = 'commit' AND wait_event = 'advisory'
        `.execute(queue.db)
        return rows.length > 0
      })
      passage.reset()
    })
    return { outcomes: (await drained) ?? [], tries, value }
  }

  beforeAll(async () => {
    await sql`
      CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END'`.execute(queue.db)
    await sql`
      CREATE CONSTRAINT TRIGGER waiting AFTER INSERT ON effects DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION wait()`.execute(queue.db)
  })

  test('counts if it completed the job', async () => {
    const { outcomes, tries, value } = await cutAtCommit('finish')
    expect(outcomes).toMatchObject(completed)
    expect(outcomes[0]).not.toHaveProperty('error')
    expect([tries, value]).toEqual([1, 1])
    expect(await notes(queue.db)).toEqual(['stored'])
  })

  test('is not retried if nothing shows whether it succeeded', async () => {
    const { outcomes, tries } = await cutAtCommit('transaction')
    expect(outcomes).toMatchObject([{ number: 1, result: 'retried' }])
    expect(tries).toBe(1)
    expect(await notes(queue.db)).toEqual(['stored'])
  })
})

test('waits for the final writes of a stopping job', async () => {
  const jobs = await queue.open()
  const running = Promise.withResolvers<void>()
  const run: Deps['run'] = async ({ signal }) => {
    running.resolve()
    await once(signal, 'abort')
    await sql`SELECT pg_sleep(0.05)`.execute(queue.db)
    await note(queue.db, 'last words')
  }
  const results: string[] = []
  const onSettled = ({ result }: SettledAttempt) => results.push(result)
  await jobs.start([job], { run }, { workerId: 'one', assumeSoleWorker: false, onSettled })
  await jobs.enqueue(queue.db, job, {})
  await running.promise
  await jobs.stop({ timeoutMs: 0 })
  expect(await notes(queue.db)).toEqual(['last words'])
  expect(results).toEqual(['completed'])
})
