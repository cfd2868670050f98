import Type, { type Static, type TSchema } from 'typebox'
import type { Db, OrgId } from '../db/database.ts'
import { strict } from '../json-schema.ts'

/** The organization in a payload. The code that enqueues the job has its ID. */
export const OrganizationId = Type.Unsafe<OrgId>({ type: 'string' })

/**
 * One run of a job. A job is safe to run again: it reads state first, and writes effects that must happen once with its
 * attempt.
 */
export type Attempt = {
  jobId: string
  /** 1 for the first run. A run that was returned because its worker stopped does not count. */
  number: number
  /** Aborted on timeout, when the worker stops, and when another worker has taken over the job. */
  signal: AbortSignal
  /**
   * Opens a transaction that only commits while this attempt still owns the job. An attempt that lost its job gets
   * StaleAttempt and changes nothing. After a temporary database error, which rolled back the first attempt, the effect
   * runs again: it must only change what its transaction does.
   */
  transaction: <T>(effect: (trx: Db) => Promise<T>) => Promise<T>
  /** The last transaction of the job: commits its effect together with the job's completion. Can also be retried. */
  finish: <T>(effect: (trx: Db) => Promise<T>) => Promise<T>
}

/** Methods, not function properties, so that jobs with different payloads fit into one list. */
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
  /** Such as `company.delete-logo`. Stored with each job, so it never changes. */
  name: string
  /** Only IDs: a payload outlives the code and rows that it was written for, and is validated when taken. */
  payload: P
  /** How many runs after the first may fail before the job is dead. */
  retryLimit?: number
  /** Delay before the first retry. It doubles with each further one, up to an hour, with jitter. */
  retryDelaySeconds?: number
  /** Timeout of one attempt. */
  timeoutSeconds?: number
  /**
   * Concurrent runs in one process, at most half of them for one organization: an organization only gets a slot if more
   * are free than it uses.
   */
  concurrency?: number
  /** Higher is taken first, among an organization's jobs with this name. */
  priority?: number
  /** Cron, in UTC. One run makes up for those missed while no worker was running. The payload must allow `{}`. */
  schedule?: string
  /** An ApiError is final unless it is `unavailable`; anything else thrown is retried. */
  run: (deps: D, payload: Static<P>, attempt: Attempt) => Promise<void>
  /**
   * Called when the job is dead, in the transaction that buries it, however its last attempt ended: thrown, timed out,
   * or killed with its worker. If this throws, the burial is retried later.
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
