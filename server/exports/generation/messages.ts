// The messages between the service and the generating process. All of them are JSON.

import type { BlobOptions } from '../../platform/blobs/blobs.ts'
import { ApiError, type ErrorDetails, type ErrorKind } from '../../platform/errors.ts'
import type { Connections } from './connect.ts'
import { type Generated, type Plan, TooManyCalls } from './order.ts'
import type { ReadLimits } from './read.ts'

export type GeneratorTask = {
  plan: Plan
  connections: Connections
  storage: BlobOptions['config']
  limits: Partial<ReadLimits>
}

export type GeneratorMessage =
  | { type: 'progress'; rows: number }
  /** Text to log. */
  | { type: 'note'; text: string }
  | { type: 'generated'; generated: Generated }
  | { type: 'failed'; failure: Failure }

export type Failure =
  | { type: 'tooManyCalls' }
  | { type: 'refused'; kind: ErrorKind; message: string; details?: ErrorDetails; cause: string }
  | { type: 'other'; message: string; stack?: string; code?: unknown; syscall?: unknown }

export const failureOf = (error: unknown): Failure => {
  if (error instanceof TooManyCalls) return { type: 'tooManyCalls' }
  if (!(error instanceof Error)) return { type: 'other', message: String(error) }
  const { message, stack } = error
  if (error instanceof ApiError) {
    const { kind, details, cause } = error
    return { type: 'refused', kind, message, ...(details && { details }), cause: String(cause) }
  }
  // The codes distinguish a temporarily unavailable database from other errors.
  const { code, syscall } = error as NodeJS.ErrnoException
  return { type: 'other', message, ...(stack && { stack }), code, syscall }
}

export const errorOf = (failure: Failure): Error => {
  if (failure.type === 'tooManyCalls') return new TooManyCalls()
  if (failure.type === 'refused') {
    const { kind, message, details, cause } = failure
    return Object.assign(new ApiError(kind, message, details), { cause })
  }
  const { message, stack, code, syscall } = failure
  return Object.assign(new Error(message), { code, syscall, ...(stack && { stack }) })
}
