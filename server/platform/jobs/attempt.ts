// Runs one attempt of a job from start to end. The attempt completes the job, schedules a retry, or marks the job as
// dead.

import { setTimeout as sleep } from 'node:timers/promises'
import { publishChanges } from '../changes/changes.ts'
import type { Db } from '../db/database.ts'
import { isPassingDatabaseError } from '../db/errors.ts'
import { ApiError } from '../errors.ts'
import { type Attempt, acceptsPayload, type Job } from './define-job.ts'
import {
  buryAttempt,
  type Claim,
  completeAttempt,
  isCompleted,
  lockAttempt,
  retryAttempt,
  returnAttempt,
} from './queries.ts'

export type TakenJob = Claim & { number: number; payload: unknown }

/**
 * `returned` means that the worker is stopping. `stale` means that another worker took over the job, and nothing was
 * changed.
 */
export type JobResult = 'completed' | 'retried' | 'dead' | 'returned' | 'stale'
export type AttemptOutcome = { name: string; jobId: string; number: number; result: JobResult; error?: unknown }

/** The attempt no longer owns its job, so its transaction is rolled back. */
export class StaleAttempt extends Error {
  constructor() {
    super('Another worker took over this job')
    this.name = 'StaleAttempt'
  }
}

/** The reason why a worker ends a running attempt. The attempt's signal contains it. */
export class AttemptEnded extends Error {
  readonly because: 'taken over' | 'stopping' | 'timed out'

  constructor(because: AttemptEnded['because']) {
    super(`The attempt was aborted: ${because}`)
    this.name = 'AttemptEnded'
    this.because = because
  }
}

/** Returns whether retrying is pointless. A rejection would occur again, but an unavailable service may work later. */
const isFinal = (error: unknown): boolean => error instanceof ApiError && error.kind !== 'unavailable'

const longestDelaySeconds = 3600

/** The time limit for the final writes of a stopping job. The database may be closed afterwards. */
const lastWordsMs = 1_000

const reasonOf = ({ signal }: AbortController) => signal.reason as AttemptEnded // No other reason is ever given.

const retryDelay = (job: Job, number: number): number => {
  const full = Math.min(longestDelaySeconds, job.retryDelaySeconds * 2 ** Math.min(number - 1, 20))
  return full * (0.5 + Math.random() / 2)
}

/**
 * Stores the end of an attempt. Retries if the database is briefly unavailable, because completed work must not be
 * repeated.
 */
const persist = async <T>(
  end: () => Promise<T>,
  { mayHelp = () => true, signal }: { mayHelp?: (error: unknown) => boolean; signal?: AbortSignal } = {},
): Promise<T> => {
  for (let delayMs = 100; ; delayMs *= 3) {
    try {
      return await end()
    } catch (error) {
      if (delayMs > 3_000 || !mayHelp(error)) throw error
      await sleep(delayMs, undefined, { signal })
    }
  }
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).replaceAll('\0', '').slice(0, 2_000)

export const runAttempt = async <D>(
  db: Db,
  job: Job<D>,
  deps: D,
  taken: TakenJob,
  end: AbortController,
): Promise<AttemptOutcome> => {
  const outcome = { name: taken.name, jobId: taken.id, number: taken.number }
  let finished = false

  const tryOnce: Attempt['transaction'] = (effect) =>
    db.transaction().execute(async (trx) => {
      if (!(await lockAttempt(trx, taken))) throw new StaleAttempt()
      return await effect(trx)
    })

  const transaction: Attempt['transaction'] = (effect) => {
    // The response to COMMIT may be lost. In that case, a second attempt has no way to know that the first one
    // succeeded.
    let mayBeCommitted = false
    const run = () =>
      tryOnce(async (trx) => {
        const value = await effect(trx)
        mayBeCommitted = true
        return value
      })
    const mayHelp = (error: unknown) => !mayBeCommitted && isPassingDatabaseError(error)
    return persist(run, { mayHelp, signal: end.signal })
  }

  const finish: Attempt['finish'] = async <T>(effect: (trx: Db) => Promise<T>) => {
    let committing: { value: T } | undefined
    const run = async () => {
      try {
        return await tryOnce(async (trx) => {
          const value = await effect(trx)
          if (!(await completeAttempt(trx, taken))) throw new StaleAttempt()
          committing = { value }
          return value
        })
      } catch (error) {
        // If there was no response to the COMMIT of an earlier attempt, the completed job shows that it succeeded.
        if (committing && error instanceof StaleAttempt && (await isCompleted(db, taken))) return committing.value
        throw error
      }
    }
    const value = await persist(run, { mayHelp: isPassingDatabaseError, signal: end.signal })
    finished = true
    return value
  }

  const attempt: Attempt = {
    jobId: taken.id,
    number: taken.number,
    signal: end.signal,
    transaction,
    finish,
  }

  const settled = (owned: boolean, result: JobResult, error?: unknown): AttemptOutcome => ({
    ...outcome,
    result: owned ? result : 'stale',
    ...(error === undefined ? {} : { error }),
  })

  const retry = async (error: unknown) => {
    const delay = retryDelay(job, taken.number)
    return settled(await persist(() => retryAttempt(db, taken, delay, messageOf(error))), 'retried', error)
  }

  const bury = async (error: unknown, payloadFits = true): Promise<AttemptOutcome> => {
    try {
      await db.transaction().execute(async (trx) => {
        if (!(await buryAttempt(trx, taken, messageOf(error)))) throw new StaleAttempt()
        if (payloadFits) await job.onFailed?.(deps, taken.payload, trx, error)
        await publishChanges(
          trx,
          taken.org,
          { resource: 'failed-jobs', kind: 'created', ids: [taken.id] },
          { resource: 'health', kind: 'updated' },
        )
      })
      return settled(true, 'dead', error)
    } catch (fault) {
      if (fault instanceof StaleAttempt) return settled(false, 'dead')
      return await retry(new AggregateError([fault, error], `Marking the job as dead failed: ${messageOf(fault)}`))
    }
  }

  const lastNumber = job.retryLimit + 1
  if (!acceptsPayload(job, taken.payload)) return await bury(new Error('The payload of the job is invalid'), false)
  if (taken.number > lastNumber) return await bury(new Error('The last attempt was lost with its worker'))

  const settleFailed = async (error: unknown): Promise<AttemptOutcome> => {
    if (finished) return settled(true, 'completed', error)
    if (error instanceof StaleAttempt) return settled(false, 'completed')
    const because = end.signal.aborted ? reasonOf(end).because : undefined
    if (because === 'taken over') return settled(false, 'completed')
    if (because === 'stopping') return settled(await persist(() => returnAttempt(db, taken)), 'returned')
    return isFinal(error) || taken.number >= lastNumber ? await bury(error) : await retry(error)
  }

  try {
    await runUntilEnded(() => job.run(deps, taken.payload, attempt), end, job.timeoutSeconds * 1_000)
    const complete = async () => (await completeAttempt(db, taken)) || (await isCompleted(db, taken))
    return settled(finished || (await persist(complete)), 'completed')
  } catch (error) {
    return await settleFailed(error)
  }
}

/**
 * Runs the job. Rejects on a timeout, or if the worker ends the attempt. If the worker is stopping, the job gets a
 * moment to finish.
 */
const runUntilEnded = async (run: () => Promise<unknown>, end: AbortController, timeoutMs: number): Promise<void> => {
  const timer = setTimeout(() => end.abort(new AttemptEnded('timed out')), timeoutMs)
  const ended = Promise.withResolvers<never>()
  const giveUp = () => ended.reject(end.signal.reason)
  let lastWords: NodeJS.Timeout | undefined
  const onAbort = () => {
    if (reasonOf(end).because !== 'stopping') return giveUp()
    lastWords = setTimeout(giveUp, lastWordsMs)
  }
  end.signal.addEventListener('abort', onAbort)
  try {
    end.signal.throwIfAborted()
    await Promise.race([run(), ended.promise])
  } finally {
    clearTimeout(timer)
    clearTimeout(lastWords)
    end.signal.removeEventListener('abort', onAbort)
  }
}
