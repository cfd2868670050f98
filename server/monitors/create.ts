import type { Static } from 'typebox'
import { parseFilter } from '../filters/filter.ts'
import { readModelName } from '../model-providers/model-name.ts'
import { lockProviderShared } from '../model-providers/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { ApiError, invalid, invalidAll } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import {
  checkDefinition,
  completeDefinition,
  type MonitorDefinition,
  type MonitorKind,
  scorecardOf,
} from './definition.ts'
import type { MonitorDeps } from './deps.ts'
import type { JudgeDefinition } from './judges/definition.ts'
import { resolveLearned } from './learned.ts'
import { countMonitors, getMonitor, insertMonitor, insertMonitorVersion } from './queries.ts'
import type { MonitorCreate } from './schema.ts'
import { requireItems } from './scorecards/items.ts'

/**
 * The maximum number of monitors in an organization, because each can run on every conversation. Concurrent requests
 * can exceed the limit slightly.
 */
const mostMonitors = 500

/** The maximum number of scorecards in an organization, because each is recomputed for every result of its items. */
const mostScorecards = 50

/** Throws if the organization has the maximum number of monitors of this kind. */
const requireRoom = async (trx: Db, org: OrgId, kind: MonitorKind): Promise<void> => {
  const refuse = (most: number, what: string) => {
    throw new ApiError('conflict', `An organization can have at most ${most} ${what}. Delete one first.`)
  }
  if ((await countMonitors(trx, org)) >= mostMonitors) refuse(mostMonitors, 'monitors')
  if (kind === 'scorecard' && (await countMonitors(trx, org, kind)) >= mostScorecards)
    refuse(mostScorecards, 'scorecards')
}

/** Throws unless a monitor with this definition can evaluate conversations. */
export const requireSound = async (
  { judge }: Pick<MonitorDeps, 'judge'>,
  org: OrgId,
  kind: MonitorKind,
  definition: MonitorDefinition,
): Promise<void> => {
  const issues = checkDefinition(kind, definition)
  if (issues.length > 0) throw invalidAll(issues)
  // The definition was validated for its kind just now.
  if (kind === 'judge') await judge.requireModel(org, definition as JudgeDefinition)
}

/** Locks the definition's provider against deletion. Throws if it was deleted in the meantime. */
const lockNamedProvider = async (trx: Db, org: OrgId, definition: MonitorDefinition): Promise<void> => {
  const { providerId } = readModelName('model' in definition ? definition.model : undefined)
  if (providerId === undefined || providerId === 'instance') return
  if (!(await lockProviderShared(trx, org, providerId)))
    throw invalid('definition.model', 'names a model provider that does not exist')
}

/** Locks everything that a definition refers to against deletion. Throws if a resource does not exist. */
export const lockNamed = async (
  trx: Db,
  org: OrgId,
  kind: MonitorKind,
  definition: MonitorDefinition,
): Promise<void> => {
  const scorecard = scorecardOf({ kind, definition })
  if (scorecard) return requireItems(trx, org, scorecard)
  await lockNamedProvider(trx, org, definition)
}

export const createMonitor = async (
  { db, judge }: Pick<MonitorDeps, 'db' | 'judge'>,
  actor: Actor,
  {
    name,
    description = null,
    kind,
    definition: given,
    scope,
    samplePercent = 100,
    enabled = true,
  }: Static<typeof MonitorCreate>,
) => {
  const parsed = parseFilter(scope ?? {}, 'scope')
  await requireSound({ judge }, actor.org, kind, given)
  const definition = completeDefinition(kind, given)
  await resolveLearned(db, actor.org, undefined, definition)
  const id = newId()
  return db.transaction().execute(async (trx) => {
    await requireRoom(trx, actor.org, kind)
    await lockNamed(trx, actor.org, kind, definition)
    await insertMonitor(trx, actor.org, { id, name, description, kind, enabled, scope: parsed, samplePercent })
    await insertMonitorVersion(trx, actor.org, id, 1, definition)
    await recordAudit(trx, actor, 'monitor.create', { type: 'monitor', id })
    return getMonitor(trx, actor.org, id)
  })
}
