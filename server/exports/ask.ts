// How an export is asked for and ended by hand, whatever it is of.

import { isDeepStrictEqual } from 'node:util'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { isSameTimeZone } from '../platform/time-zone.ts'
import { endExport, startNext } from './jobs.ts'
import { pathOf } from './manifest.ts'
import {
  countUnfinished,
  type ExportKey,
  findExportByOperation,
  insertExport,
  lockExport,
  lockLine,
  type NewExport,
  type StoredExport,
} from './queries.ts'

export const mostUnfinished = 20
const pollSeconds = 5

export const auditedKind = ({ experimentId }: Pick<ExportKey, 'experimentId'>) =>
  experimentId === null ? 'monitor-export' : 'experiment-export'

/** `config` in one spelling and with its defaults: that of a replay is the very same. */
type Asked = Pick<NewExport, 'experimentId' | 'operationId' | 'config' | 'since' | 'until' | 'notificationEndpointId'>

type Zoned = { timezone?: unknown }

/** Two names of one time zone ask for the same. */
const asSame = (config: Asked['config'], stored: StoredExport['config']): unknown => {
  // Both are configurations that were checked: objects.
  const [{ timezone: given }, { timezone: former }] = [config, stored] as [Zoned, Zoned]
  const isSame = typeof given === 'string' && typeof former === 'string' && isSameTimeZone(given, former)
  return isSame ? { ...config, timezone: former } : config
}

/** The same request again, whatever its spelling was. The order of monitors is that of columns, so it counts. */
const replayOf = (stored: StoredExport, { experimentId, config }: Asked) => {
  if (stored.experimentId !== experimentId || !isDeepStrictEqual(stored.config, asSame(config, stored.config))) {
    throw new ApiError('conflict', 'This operationId belongs to an export of another configuration; make a new one.')
  }
  return { stored, isReplay: true }
}

/** Its caller holds the line, and has looked how long it is. */
export const placeInLine = async (
  deps: Pick<Deps, 'jobs' | 'clock'>,
  trx: Db,
  org: OrgId,
  asked: Omit<NewExport, 'id' | 'createdAt'>,
): Promise<StoredExport> => {
  const stored = await insertExport(trx, org, { ...asked, id: newId(), createdAt: deps.clock.now() })
  await startNext(deps, trx, org)
  return stored
}

/** `require` looks whether all that the configuration names is there; a replay is answered before. */
export const askForExport = async (
  deps: Deps,
  actor: Actor,
  asked: Asked,
  require: (trx: Db) => Promise<void> = async () => {},
): Promise<{ stored: StoredExport; isReplay: boolean }> => {
  const { org, userId } = actor
  const earlier = await findExportByOperation(deps.db, org, asked.operationId)
  if (earlier) return replayOf(earlier, asked)
  await deps.blobs.check()
  return deps.db.transaction().execute(async (trx) => {
    await lockLine(trx, org)
    const raced = await findExportByOperation(trx, org, asked.operationId)
    if (raced) return replayOf(raced, asked)
    await require(trx)
    if ((await countUnfinished(trx, org)).all >= mostUnfinished) {
      throw new ApiError('rateLimited', `${mostUnfinished} exports are unfinished; wait for one of them.`, {
        retryAfterSeconds: pollSeconds,
      })
    }
    const stored = await placeInLine(deps, trx, org, { ...asked, createdByUserId: userId })
    const kind = auditedKind(asked)
    await recordAudit(trx, actor, `${kind}.create`, { type: kind, id: stored.id })
    return { stored, isReplay: false }
  })
}

/** When to ask again, while it is not final. */
export const waitingHeaders = ({ status }: StoredExport): Record<string, string> =>
  status === 'pending' || status === 'processing' ? { 'retry-after': String(pollSeconds) } : {}

/** Of the answer to whoever asked for it. */
export const askedHeaders = ({ stored, isReplay }: { stored: StoredExport; isReplay: boolean }) => ({
  location: pathOf(stored),
  ...(isReplay && { 'idempotent-replayed': 'true' }),
  ...waitingHeaders(stored),
})

/** Cancels an unfinished export, and expires a completed one. */
export const endByHand = (deps: Deps, actor: Actor, { id, experimentId }: ExportKey): Promise<void> =>
  deps.db.transaction().execute(async (trx) => {
    await lockLine(trx, actor.org)
    const held = await lockExport(trx, actor.org, id)
    if (held?.experimentId !== experimentId) throw notFound()
    const end =
      held.status === 'completed'
        ? ({ status: 'expired' } as const)
        : ({ status: 'failed', errorCode: 'cancelled' } as const)
    if (!(await endExport(deps, trx, actor.org, held, end))) {
      throw new ApiError('conflict', `The export is ${held.status}; there is nothing left to cancel or delete.`)
    }
    const kind = auditedKind(held)
    await recordAudit(trx, actor, `${kind}.delete`, { type: kind, id: held.id })
  })
