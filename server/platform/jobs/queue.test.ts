import { sql } from 'kysely'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { note, notes } from '../../../test/support/jobs/notes.ts'
import { openTestQueue } from '../../../test/support/jobs/queue.ts'
import type { Db } from '../db/database.ts'
import { ApiError } from '../errors.ts'
import { defineJob } from './define-job.ts'

type Deps = { db: Db; fail: (number: number) => void }

const noteJob = defineJob({
  name: 'test.note',
  payload: Type.Object({ text: Type.String() }, { additionalProperties: false }),
  retryLimit: 2,
  run: async ({ fail }: Deps, { text }, attempt) => {
    fail(attempt.number)
    await attempt.finish((trx) => note(trx, text))
  },
  onFailed: async (_deps, { text }, trx, error) => {
    await note(trx, `failed: ${text}: ${error instanceof Error ? error.message : error}`)
  },
})

const sulkingJob = defineJob({
  name: 'test.sulking',
  payload: Type.Object({}),
  retryLimit: 0,
  run: async () => {
    throw new ApiError('conflict', 'It can never\0 be done')
  },
  onFailed: async ({ db, fail }: Deps, _payload, trx) => {
    await note(trx, 'sulked')
    fail(Number((await notes(db)).length))
  },
})

const jobsOfTest = [noteJob, sulkingJob]
let queue: Awaited<ReturnType<typeof openTestQueue>>
let deps: Deps

beforeAll(async () => {
  queue = await openTestQueue()
  deps = { db: queue.db, fail: () => {} }
})
afterAll(() => queue.close())

const clear = async () => {
  await sql`TRUNCATE effects, jobs`.execute(queue.db)
}
const failing = (reason: (number: number) => Error | undefined): Deps => ({
  db: queue.db,
  fail: (number) => {
    const error = reason(number)
    if (error) throw error
  },
})

describe('enqueue', () => {
  test('is part of the caller’s transaction', async () => {
    await clear()
    const rolledBack = queue.db.transaction().execute(async (trx) => {
      await queue.jobs.enqueue(trx, noteJob, { text: 'never' })
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    expect(await queue.jobs.drain(jobsOfTest, deps)).toEqual([])

    const jobId = await queue.db.transaction().execute((trx) => queue.jobs.enqueue(trx, noteJob, { text: 'once' }))
    expect(await queue.jobs.drain(jobsOfTest, deps)).toEqual([
      { name: 'test.note', jobId, number: 1, result: 'completed' },
    ])
    expect(await queue.jobs.drain(jobsOfTest, deps)).toEqual([])
    expect(await notes(queue.db)).toEqual(['once'])
  })

  test('adds many jobs at once; higher priorities run first, delayed jobs later', async () => {
    await clear()
    const ids = await queue.jobs.enqueueMany(queue.db, noteJob, [{ text: 'a' }, { text: 'b' }])
    expect(new Set(ids).size).toBe(2)
    await queue.jobs.enqueue(queue.db, noteJob, { text: 'first' }, { priority: 9 })
    await queue.jobs.enqueue(queue.db, noteJob, { text: 'tomorrow' }, { afterSeconds: 86_400 })
    expect(await queue.jobs.drain(jobsOfTest, deps)).toHaveLength(3)
    expect((await notes(queue.db))[0]).toBe('first')
    expect((await queue.jobs.counts()).filter(({ name }) => name === 'test.note')).toEqual([
      { name: 'test.note', state: 'delayed', count: 1 },
    ])
    await queue.jobs.drain(jobsOfTest, deps, { delayed: true })
    expect(await notes(queue.db)).toContain('tomorrow')
  })

  test('a singleton key allows one waiting job, which sees what the second caller wrote', async () => {
    await clear()
    const options = { singletonKey: 'k' }
    const first = await queue.jobs.enqueue(queue.db, noteJob, { text: 'one' }, options)
    await queue.db.transaction().execute(async (trx) => {
      expect(await queue.jobs.enqueue(trx, noteJob, { text: 'two' }, options)).toBe(first)
      // The waiting job is locked until this transaction ends, so that no worker runs it with the earlier state.
      expect(await queue.jobs.drain(jobsOfTest, deps)).toEqual([])
    })
    expect(await queue.jobs.drain(jobsOfTest, deps)).toHaveLength(1)
    expect(await queue.jobs.enqueue(queue.db, noteJob, { text: 'three' }, options)).not.toBe(first)
    await queue.jobs.drain(jobsOfTest, deps)
    expect(await notes(queue.db)).toEqual(['one', 'three'])
  })
})

describe('failure', () => {
  test('is retried later, with backoff, then succeeds', async () => {
    await clear()
    await queue.jobs.enqueue(queue.db, noteJob, { text: 'in the end' })
    const stubborn = failing((number) => (number < 3 ? new Error('not yet') : undefined))
    const first = await queue.jobs.drain(jobsOfTest, stubborn, { allowFailures: true })
    expect(first.map(({ result }) => result)).toEqual(['retried'])
    const delayOf = async () => {
      const { rows } = await sql<{ seconds: number }>`
        SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM jobs WHERE state = 'delayed'
      `.execute(queue.db)
      return rows[0]?.seconds ?? 0
    }
    expect(await delayOf()).toBeGreaterThan(1)
    expect(await delayOf()).toBeLessThanOrEqual(5)
    const rest = await queue.jobs.drain(jobsOfTest, stubborn, { delayed: true, allowFailures: true })
    expect(rest.map(({ number, result }) => `${number} ${result}`)).toEqual(['2 retried', '3 completed'])
    expect(await notes(queue.db)).toEqual(['in the end'])
  })

  test('from something unavailable is retried, however it is reported', async () => {
    await clear()
    await queue.jobs.enqueue(queue.db, noteJob, { text: 'stored' })
    const away = failing((number) => (number < 2 ? new ApiError('unavailable', 'Try again later.') : undefined))
    const outcomes = await queue.jobs.drain(jobsOfTest, away, { delayed: true, allowFailures: true })
    expect(outcomes.map(({ result }) => result)).toEqual(['retried', 'completed'])
    expect(await notes(queue.db)).toEqual(['stored'])
  })

  test('during a drain is not ignored', async () => {
    await clear()
    await queue.jobs.enqueue(queue.db, noteJob, { text: 'loud' })
    await expect(
      queue.jobs.drain(
        jobsOfTest,
        failing(() => new Error('boom')),
      ),
    ).rejects.toThrow('drain: test.note was retried')
  })

  test('for the last time buries the job and calls onFailed once', async () => {
    await clear()
    await queue.jobs.enqueue(queue.db, noteJob, { text: 'x' })
    const broken = failing(() => new Error('no luck'))
    const outcomes = await queue.jobs.drain(jobsOfTest, broken, { delayed: true, allowFailures: true })
    expect(outcomes.map(({ result }) => result)).toEqual(['retried', 'retried', 'dead'])
    expect(await notes(queue.db)).toEqual(['failed: x: no luck'])
  })

  test('with an ApiError is final; dead jobs are listed in pages, and retried', async () => {
    await clear()
    const final = failing(() => new ApiError('gone', 'The company is gone'))
    const ids = await queue.jobs.enqueueMany(queue.db, noteJob, [{ text: 'a' }, { text: 'b' }, { text: 'c' }])
    const outcomes = await queue.jobs.drain(jobsOfTest, final, { allowFailures: true })
    expect(outcomes.map(({ result }) => result)).toEqual(['dead', 'dead', 'dead'])
    expect(await notes(queue.db)).toHaveLength(3)

    const page = await queue.jobs.listDead({ limit: 2 })
    const last = page.at(-1)
    expect(last).toMatchObject({ name: 'test.note', attempts: 1, error: 'ApiError: The company is gone' })
    const rest = last ? await queue.jobs.listDead({ limit: 2, after: last }) : []
    expect([...page, ...rest].map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect(await queue.jobs.counts()).toEqual([{ name: 'test.note', state: 'dead', count: 3 }])

    const [one] = ids
    expect(await queue.jobs.retryDead(one ? [one] : [])).toEqual([one])
    const retried = await queue.jobs.drain(jobsOfTest, deps)
    expect(retried).toMatchObject([{ jobId: one, number: 1, result: 'completed' }])
    expect(await queue.jobs.retryDead('all')).toHaveLength(2)
    expect(await queue.jobs.drain(jobsOfTest, deps)).toHaveLength(2)
    expect(await queue.jobs.listDead({ limit: 10 })).toEqual([])
  })

  test('an invalid payload is final, and never reaches the job’s code', async () => {
    await clear()
    const jobId = await queue.jobs.enqueue(queue.db, noteJob, { text: 'fits' })
    await sql`UPDATE jobs SET payload = '{"words": 1}' WHERE id = ${jobId}`.execute(queue.db)
    const [outcome] = await queue.jobs.drain(jobsOfTest, deps, { allowFailures: true })
    expect(outcome).toMatchObject({ result: 'dead', jobId })
    expect(await notes(queue.db)).toEqual([])
    expect((await queue.jobs.listDead({ limit: 1 }))[0]?.error).toContain('is invalid')
  })

  test('burying and onFailed are atomic: if onFailed throws, neither happens, and both are retried', async () => {
    await clear()
    await queue.jobs.enqueue(queue.db, sulkingJob, {})
    let times = 0
    const flaky: Deps = {
      db: queue.db,
      fail: () => {
        times += 1
        if (times < 3) throw new Error('onFailed broke')
      },
    }
    const [first] = await queue.jobs.drain(jobsOfTest, flaky, { allowFailures: true })
    expect(first).toMatchObject({ result: 'retried' })
    expect(await notes(queue.db)).toEqual([])
    expect(await queue.jobs.listDead({ limit: 1 })).toEqual([])
    const rest = await queue.jobs.drain(jobsOfTest, flaky, { delayed: true, allowFailures: true })
    expect(rest.map(({ result }) => result)).toEqual(['retried', 'dead'])
    expect(await notes(queue.db)).toEqual(['sulked'])
  })
})

test('a job with a required payload cannot have a schedule', () => {
  const define = () =>
    defineJob({
      name: 'test.wrong',
      payload: Type.Object({ id: Type.String() }),
      schedule: '* * * * *',
      run: async () => {},
    })
  expect(define).toThrow('must allow {}')
})
