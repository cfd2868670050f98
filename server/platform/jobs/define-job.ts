import type { Static, TSchema } from 'typebox'
import type { Db } from '../db/database.ts'
import { strict } from '../json-schema.ts'

/** One run of a job. A job is safe to run again: it reads state first, and writes through its attempt what must have its effect once. */
export type Attempt = {
  jobId: string
  /** 1 for the first run. A run that was given back because its worker was told to stop is not counted. */
  number: number
  /** Aborted when time is up, when the worker stops, and when another worker has taken the job over. */
  signal: AbortSignal
  /**
   * Opens a transaction that commits only while this attempt still owns the job. An attempt that lost its job
   * gets StaleAttempt and changes nothing. After a passing fault of the database, which took the first try back, the
   * effect runs again: it changes nothing but what its transaction does.
   */
  transaction: <T>(effect: (trx: Db) => Promise<T>) => Promise<T>
  /** The last transaction of the job: its effect and the job's completion are one commit. It, too, may run again. */
  finish: <T>(effect: (trx: Db) => Promise<T>) => Promise<T>
}

/** Methods, not function properties, so that jobs of different payloads fit into one list. */
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
  /** Such as `company.delete-logo`. It is stored with each job, so it is never changed. */
  name: string
  /** Ids only: a payload outlives the code and the rows that it was written for, and is checked when taken. */
  payload: P
  /** Runs after the first that may fail before the job is dead. */
  retryLimit?: number
  /** Delay before the first retry. It doubles with each further one, up to an hour, with jitter. */
  retryDelaySeconds?: number
  /** Time for one attempt. */
  timeoutSeconds?: number
  /**
   * How many run at once in one process, at most half of them for one organization: an organization takes no place
   * unless, before it does, more are free than it holds.
   */
  concurrency?: number
  /** Higher is taken first, among the jobs of this name that an organization has. */
  priority?: number
  /** Cron, in UTC. Runs missed while no worker lived are made up for by one. The payload must allow `{}`. */
  schedule?: string
  /** An ApiError is final, unless it is `unavailable`; whatever else is thrown is tried again. */
  run: (deps: D, payload: Static<P>, attempt: Attempt) => Promise<void>
  /**
   * Tells the product that the job is dead, in the transaction that buries it, however its last attempt ended:
   * thrown, out of time, or killed with its worker. If this throws, the burial is tried again later.
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
