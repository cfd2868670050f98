// Defines jobs for the worker's tests. They have their own file because a child process runs them, too.
import { once } from 'node:events'
import { Type } from 'typebox'
import type { Db } from '../../../server/platform/db/database.ts'
import { defineJob } from '../../../server/platform/jobs/define-job.ts'
import { note } from './notes.ts'

export type TestJobDeps = { db: Db; worker: string; gate?: Promise<void>; onRun?: () => void }

const text = Type.Object({ text: Type.String() })

export const quickJob = defineJob({
  name: 'worker.quick',
  payload: text,
  concurrency: 10,
  run: async (deps: TestJobDeps, payload, attempt) => {
    await attempt.finish((trx) => note(trx, `${payload.text} by ${deps.worker}`))
  },
})

/** Runs until the test opens its gate, even if its signal is aborted. */
export const heedlessJob = defineJob({
  name: 'worker.heedless',
  payload: text,
  run: async (deps: TestJobDeps, payload, attempt) => {
    await note(deps.db, `${payload.text} begun by ${deps.worker} as ${attempt.number}`)
    deps.onRun?.()
    await deps.gate
    await attempt.transaction((trx) => note(trx, `${payload.text} done by ${deps.worker}`))
    await attempt.finish((trx) => note(trx, `${payload.text} finished by ${deps.worker}`))
  },
})

export const lastingJob = defineJob({
  name: 'worker.lasting',
  payload: text,
  timeoutSeconds: 1,
  retryLimit: 0,
  run: async (_deps: TestJobDeps, _payload, attempt) => {
    await once(attempt.signal, 'abort')
    throw attempt.signal.reason
  },
  onFailed: async (_deps, payload, trx, error) => note(trx, `${payload.text} failed: ${error}`),
})

export const deadlyJob = defineJob({
  name: 'worker.deadly',
  payload: text,
  retryLimit: 0,
  run: async (deps: TestJobDeps, payload) => {
    await note(deps.db, `${payload.text} killed ${deps.worker}`)
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => {})
  },
  onFailed: async (_deps, payload, trx, error) => note(trx, `${payload.text} failed: ${error}`),
})
