import Type, { type Static, type TSchema } from 'typebox'
import type { Db, OrgId } from '../db/database.ts'
import { strict } from '../json-schema.ts'

/** The organization in a payload. The code that enqueues the job got the ID from the service. */
export const OrganizationId = Type.Unsafe<OrgId>({ type: 'string' })

/**
 * One run of a job. Running a job again must be safe, so a job reads the state first, and writes everything that must
 * only happen once in a transaction of its attempt.
 */
export type Attempt = {
  jobId: string
  /** The number of the run, starting with 1. A run that was returned because its worker stopped does not count. */
  number: number
  /** Aborts on a timeout, when the worker stops, and when another worker has taken over the job. */
  signal: AbortSignal
  /**
   * Opens a transaction that only commits while this attempt owns the job. An attempt that has lost its job gets
   * StaleAttempt and changes nothing. After a temporary database error, which rolled back the first attempt, the effect
   * runs again, so it must only change what its transaction does.
   */
  transaction: <T>(effect: (trx: Db) => Promise<T>) => Promise<T>
  /** Runs the last transaction of the job, which also completes the job. It can run again like `transaction`. */
  finish: <T>(effect: (trx: Db) => Promise<T>) => Promise<T>
}

/** The functions are methods rather than properties, so that jobs with different payloads fit into the same list. */
export type Job<D = unknown, P = unknown> = {
  readonly name: string
  readonly payload: TSchema
  readonly retryLimit: number
  readonly retryDelaySeconds: number
  readonly timeoutSeconds: number
  readonly concurrency: number
  readonly priority: number
  readonly schedule: string | undefined
  run(deps: D, payload: P, attempt: Attempt): Promise<void>
  onFailed?(deps: D, payload: P, trx: Db, error: unknown): Promise<void>
}

export type JobDefinition<D, P extends TSchema> = {
  /** The name, such as `company.delete-logo`. It is stored with each job, so it never changes. */
  name: string
  /**
   * The payload, which should contain only IDs. It outlives the code and rows that it was written for, and is validated
   * when the job is taken.
   */
  payload: P
  /** The number of retries before the job is dead. */
  retryLimit?: number
  /** The delay before the first retry. It doubles with each further retry, up to an hour, and has jitter. */
  retryDelaySeconds?: number
  /** The time limit for one attempt. */
  timeoutSeconds?: number
  /**
   * The maximum number of concurrent jobs in one process. One organization uses at most half of the slots, because it
   * only gets another slot if more slots are free than it uses.
   */
  concurrency?: number
  /** Jobs with a higher priority are taken first. This only applies to an organization's jobs with this name. */
  priority?: number
  /**
   * A cron expression in UTC. One run replaces all runs that were missed while no worker was running. The payload must
   * allow `{}`.
   */
  schedule?: string
  /** Runs the job. An ApiError is final unless it is `unavailable`. Any other error is retried. */
  run: (deps: D, payload: Static<P>, attempt: Attempt) => Promise<void>
  /**
   * Called when the job is dead, in the transaction that records this, whether its last attempt threw, timed out, or
   * was killed with its worker. If this throws, it is called again later.
   */
  onFailed?: (deps: D, payload: Static<P>, trx: Db, error: unknown) => Promise<void>
}

export const defineJob = <D, P extends TSchema>(definition: JobDefinition<D, P>): Job<D, Static<P>> => {
  if (definition.schedule && !strict.validate(definition.payload, {})) {
    throw new Error(`The job ${definition.name} has a schedule, so its payload must allow {}`)
  }
  return {
    retryLimit: 5,
    retryDelaySeconds: 5,
    timeoutSeconds: 300,
    concurrency: 8,
    priority: 0,
    schedule: undefined,
    ...definition,
  }
}

export const acceptsPayload = (job: Job, payload: unknown): boolean => strict.validate(job.payload, payload) === true
