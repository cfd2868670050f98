// Writes the file of a started export, and returns the export's outcome.

import { findMonitors } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import { findTooManyColumns } from './conversations/columns.ts'
import type { ExportDeps } from './deps.ts'
import { type AnyOrder, generate, TooManyCalls } from './generation/generate.ts'
import { monitorIdsOf } from './generation/order.ts'
import { makeOrder } from './make-order.ts'
import { type ErrorCode, type StoredExport, updateProgress } from './queries.ts'
import { refusalOf } from './requirements.ts'

const everyMs = 500

type Begun = { stored: StoredExport; blobKey: string }

/** Stores the progress of an attempt, and aborts it once it no longer owns the export. */
const watchProgress = ({ db, log }: Deps, org: OrgId, { stored: { id }, blobKey }: Begun, ended: AbortController) => {
  let rows = 0
  let busy = false
  const store = async () => {
    if (busy) return
    busy = true
    try {
      if (!(await updateProgress(db, org, id, blobKey, rows)))
        ended.abort(new Error('The export was cancelled or deleted'))
    } catch (error) {
      // The database may be temporarily unavailable. In that case, the generating process fails too.
      log.warn({ err: error }, 'storing the progress of an export failed')
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => void store(), everyMs)
  return {
    onProgress: (written: number) => {
      rows = written
    },
    close: () => clearInterval(timer),
  }
}

/** Returns an error message if a monitor was deleted or scorecards have too many columns. Retrying would not help. */
const lackOf = async (db: Db, org: OrgId, order: AnyOrder): Promise<string | undefined> => {
  // The results of an experiment's monitors stay with the experiment.
  if ('experimentId' in order) return undefined
  const ids = 'cells' in order ? monitorIdsOf(order) : order.monitors.map(({ id }) => id)
  const found = await findMonitors(db, org, ids)
  if (found.length < ids.length) return 'One of its monitors was deleted.'
  const results = new Set('cells' in order ? order.monitorIds : ids)
  const fault = findTooManyColumns(found.filter(({ id }) => results.has(id)))
  return fault && `The export ${fault}.`
}

type Failed = { status: 'failed'; errorCode: ErrorCode }
type Written = { status: 'completed'; rowCount: number; bytes: number; sha256: string } | Failed

export const refused = ({ log }: Pick<Deps, 'log'>, exportId: string, reason: string): Failed => {
  log.warn({ exportId, reason }, 'an export failed')
  return { status: 'failed', errorCode: 'generation_failed' }
}

/** Unlike a rejection, this error is retried. */
class StorageFailed extends Error {}

const isOfStorage = (error: unknown): error is ApiError => error instanceof ApiError && error.kind === 'unavailable'

/** Returns the error code for the last attempt's error. */
export const errorCodeOf = (error: unknown): ErrorCode =>
  error instanceof StorageFailed ? 'storage_unavailable' : 'generation_failed'

/**
 * Writes the file with the attempt's key. Returns `ended` if the export has ended in the meantime. Throws if an error
 * can be retried.
 */
export const writeFile = async (
  deps: ExportDeps,
  org: OrgId,
  begun: Begun,
  { signal, late }: { signal: AbortSignal; late: AbortSignal },
): Promise<Written | 'ended'> => {
  const { stored, blobKey } = begun
  const ended = new AbortController()
  const watching = watchProgress(deps, org, begun, ended)
  try {
    const order = await makeOrder(deps, org, stored, blobKey)
    const refusal = (await refusalOf(deps.db, org, stored)) ?? (await lackOf(deps.db, org, order))
    if (refusal !== undefined) return refused(deps, stored.id, refusal)
    const { rows, bytes, sha256 } = await generate(deps, order, {
      signal: AbortSignal.any([signal, ended.signal, late]),
      onProgress: watching.onProgress,
    })
    return { status: 'completed', rowCount: rows, bytes, sha256 }
  } catch (error) {
    if (signal.aborted) throw error
    if (ended.signal.aborted) return 'ended'
    if (late.aborted) return { status: 'failed', errorCode: 'timed_out' }
    if (isOfStorage(error)) throw new StorageFailed(error.message, { cause: error })
    if (error instanceof TooManyCalls) return { status: 'failed', errorCode: 'too_many_calls' }
    throw error
  } finally {
    watching.close()
  }
}
