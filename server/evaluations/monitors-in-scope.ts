import { isDeepStrictEqual } from 'node:util'
import type { Selection } from '../filters/queries.ts'
import { resolveAmong } from '../filters/resolve.ts'
import { listActiveMonitors, type StoredMonitor } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { EvaluationDeps } from './deps.ts'
import { canEvaluate, isReading } from './evaluate-rules.ts'
import { listAnswered, listSelectedAmong, listSubjects } from './queries.ts'
import { findItemVersions } from './scorecards/item-versions.ts'

export type Subject = Awaited<ReturnType<typeof listSubjects>>[number]

/** The properties that determine whether a conversation belongs to a sample and a scope. */
type Sampled = Pick<Subject, 'id' | 'samplePosition'>

type IsInScope = (subject: Sampled, monitor: StoredMonitor) => boolean

/**
 * Finds the monitors that evaluate each conversation: those with a scope and sample that contain it. Equal scopes are
 * checked only once, and empty scopes are not checked.
 */
export const findMonitorsInScope = async (
  deps: Pick<Deps, 'meanings' | 'config'>,
  db: Db,
  org: OrgId,
  subjects: Sampled[],
  monitors: StoredMonitor[],
): Promise<IsInScope> => {
  const scopes: Selection[] = []
  const scopeAt = new Map<string, number>()
  for (const { id, scope } of monitors) {
    if (Object.keys(scope).length === 0) continue
    const known = scopes.findIndex((one) => isDeepStrictEqual(one, scope))
    scopeAt.set(id, known >= 0 ? known : scopes.push(scope) - 1)
  }
  const ids = subjects.map(({ id }) => id)
  const resolved = await Promise.all(scopes.map((scope) => resolveAmong(deps, org, scope, ids)))
  const within = await listSelectedAmong(db, org, ids, resolved)
  return (subject, monitor) => {
    if (subject.samplePosition >= monitor.samplePercent) return false
    const at = scopeAt.get(monitor.id)
    return at === undefined || within[at]?.has(subject.id) === true
  }
}

export type EvaluationBatch = {
  organizationId: string
  conversationIds: string[]
  reads?: 'metrics' | 'sound'
  lacks?: 'pinned'
}

/** Returns the subjects that have a result, including failures. */
const findAnswered = async (db: Db, org: OrgId, subjects: Subject[], monitors: StoredMonitor[]) => {
  const pairs = subjects.flatMap((subject) =>
    monitors.map(({ id, number }) => ({ conversationId: subject.id, monitorId: id, monitorVersion: number })),
  )
  const answered = await listAnswered(db, org, pairs, { failedSince: new Date(0) })
  const keys = new Set(answered.map((pair) => `${pair.conversationId} ${pair.monitorId} ${pair.monitorVersion}`))
  return (subject: Subject, { id, number }: StoredMonitor) => keys.has(`${subject.id} ${id} ${number}`)
}

/**
 * Splits a list so that each part contains a monitor at most once, because an evaluation uses one version of each
 * monitor.
 */
const oneVersionEach = (monitors: StoredMonitor[]): StoredMonitor[][] => {
  const lists: StoredMonitor[][] = []
  for (const monitor of monitors) {
    const free = lists.find((list) => list.every(({ id }) => id !== monitor.id))
    if (free) free.push(monitor)
    else lists.push([monitor])
  }
  return lists
}

type PinDeps = Pick<EvaluationDeps, 'findPinned' | 'meanings' | 'config'>

/**
 * Finds the versions to evaluate: the monitors' current versions, and the versions that scorecards and experiments have
 * pinned.
 */
export const findQuestions = async (
  deps: PinDeps,
  db: Db,
  org: OrgId,
  { conversationIds, reads, lacks }: EvaluationBatch,
) => {
  const isMeant = (monitor: StoredMonitor) =>
    monitor.kind !== 'scorecard' && (reads === undefined || isReading(monitor, reads))
  const all = lacks === 'pinned' ? [] : await listActiveMonitors(db, org)
  const active = all.filter(isMeant)
  const pinned = await deps.findPinned(db, org, conversationIds)
  const items = await findItemVersions(db, org, all, pinned)
  const older = oneVersionEach(items.monitors.filter(isMeant))
  const lists = oneVersionEach(pinned.monitors.filter(isMeant))
  if (active.length + older.length + lists.length === 0) return { subjects: [], questions: [] }
  const subjects = await listSubjects(db, org, conversationIds)
  const isAnswered =
    lacks === 'pinned' ? await findAnswered(db, org, subjects, [...pinned.monitors, ...items.monitors]) : () => false
  const askedByThemselves = await findMonitorsInScope(deps, db, org, subjects, [
    ...active,
    ...items.monitors,
    ...items.scorecards,
  ])
  const questions = [
    {
      monitors: active,
      isPinned: false,
      // If an experiment has pinned a version, only that version evaluates the conversation.
      asked: (subject: Subject, monitor: StoredMonitor) =>
        askedByThemselves(subject, monitor) && !pinned.asks(subject.id, monitor),
    },
    ...older.map((monitors) => ({
      monitors,
      isPinned: true,
      asked: (subject: Subject, monitor: StoredMonitor) =>
        askedByThemselves(subject, monitor) &&
        items.isUsed(subject.id, monitor, (scorecard) => askedByThemselves(subject, scorecard)) &&
        !pinned.asks(subject.id, monitor) &&
        !isAnswered(subject, monitor),
    })),
    ...lists.map((monitors) => ({
      monitors,
      isPinned: true,
      asked: (subject: Subject, monitor: StoredMonitor) =>
        pinned.asks(subject.id, monitor) && !isAnswered(subject, monitor),
    })),
  ].map(({ asked, ...question }) => ({
    ...question,
    asked: (subject: Subject, monitor: StoredMonitor) => canEvaluate(subject, monitor) && asked(subject, monitor),
  }))
  return { subjects, questions }
}
