import { sql } from 'kysely'
import { Type } from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestQueue } from '../../../test/support/jobs/queue.ts'
import { attemptEach } from './attempt-each.ts'
import { type Attempt, defineJob } from './define-job.ts'

type Deps = { effect: (item: string, attempt: Attempt) => Promise<void>; signal?: AbortSignal }

const eachJob = defineJob({
  name: 'attempt-each.each',
  payload: Type.Object({}),
  retryLimit: 0,
  run: ({ effect, signal }: Deps, _payload, attempt) =>
    attemptEach({ signal: signal ?? attempt.signal }, ['a', 'b', 'c'], (item) => effect(item, attempt)),
})

let queue: Awaited<ReturnType<typeof openTestQueue>>
beforeAll(async () => {
  queue = await openTestQueue()
})
afterAll(() => queue.close())

/** Runs the job. Returns its outcome and the items that were started. */
const run = async (effect: Deps['effect'], signal?: AbortSignal) => {
  const begun: string[] = []
  const jobId = await queue.jobs.enqueue(queue.db, eachJob, {})
  const deps: Deps = {
    effect: (item, attempt) => {
      begun.push(item)
      return effect(item, attempt)
    },
    ...(signal && { signal }),
  }
  const [outcome] = await queue.jobs.drain([eachJob], deps, { allowFailures: true })
  expect(outcome?.jobId).toBe(jobId)
  return { outcome, begun }
}

test('a failure does not block others, and the first failure is that of the job', async () => {
  const { outcome, begun } = await run(async (item) => {
    if (item !== 'b') throw new Error(`of ${item}`)
  })
  expect(begun).toEqual(['a', 'b', 'c'])
  expect(outcome).toMatchObject({ result: 'dead', error: { message: 'of a' } })
})

test('an attempt that was taken over stops', async () => {
  const { outcome, begun } = await run(async (_item, attempt) => {
    await sql`UPDATE jobs SET attempt = attempt + 1 WHERE id = ${attempt.jobId}`.execute(queue.db)
    await attempt.transaction(async () => {})
  })
  expect(begun).toEqual(['a'])
  expect(outcome?.result).toBe('stale')
})

test('an attempt that was ended stops, and reports why', async () => {
  const end = new AbortController()
  const { outcome, begun } = await run(async (item) => {
    if (item === 'b') end.abort(new Error('the end'))
    throw new Error(`of ${item}`)
  }, end.signal)
  expect(begun).toEqual(['a', 'b'])
  expect(outcome?.error).toEqual(new Error('the end'))
})
