import { isDeepStrictEqual } from 'node:util'
import type { Resolved, Selection } from '../filters/queries.ts'
import { isPlain, resolveAmong } from '../filters/resolve.ts'
import { listActiveMonitors, type StoredMonitor } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { EvaluationDeps } from './deps.ts'
import { canEvaluate, isReading } from './evaluate-rules.ts'
import { listAnswered, listSelectedAmong, listSubjects } from './queries.ts'
import { findItemVersions } from './scorecards/item-versions.ts'

export type Subject = Awaited<ReturnType<typeof listSubjects>>[number]

/** The properties that determine whether a conversation belongs to a sample and a scope. */
type Sampled = Pick<Subject, 'id' | 'samplePosition'>

type IsInScope = (subject: Sampled, monitor: StoredMonitor) => boolean

type ResolvedScope = { scope: Selection; resolved: Resolved }

type ResolveDeps = Pick<Deps, 'meanings' | 'config'>

/**
 * Resolves the scopes that compare meanings. This can call a model, so it never runs in a transaction. Throws
 * `unavailable` if the model can't be asked.
 */
export const resolveScopes = (
  deps: ResolveDeps,
  org: OrgId,
  conversationIds: string[],
  monitors: StoredMonitor[],
): Promise<ResolvedScope[]> => {
  const scopes: Selection[] = []
  for (const { scope } of monitors) {
    if (!isPlain(scope) && !scopes.some((one) => isDeepStrictEqual(one, scope))) scopes.push(scope)
  }
  const resolveIn = resolveAmong(deps, org, conversationIds)
  return Promise.all(scopes.map(async (scope) => ({ scope, resolved: await resolveIn(scope) })))
}

/** Returns undefined instead if the model can't be asked, so that monitors with other scopes still run. */
export const resolveScopesIfAvailable = (
  ...given: Parameters<typeof resolveScopes>
): Promise<ResolvedScope[] | undefined> =>
  resolveScopes(...given).catch((error: unknown) => {
    if (error instanceof ApiError && error.kind === 'unavailable') return undefined
    throw error
  })

/**
 * Finds the monitors that evaluate each conversation: those with a scope and sample that contain it. Equal scopes are
 * checked only once, and empty scopes are not checked. Scopes that compare meanings contain nothing unless they are
 * resolved.
 */
export const findMonitorsInScope = async (
  db: Db,
  org: OrgId,
  subjects: Sampled[],
  monitors: StoredMonitor[],
  resolvedScopes: ResolvedScope[],
): Promise<IsInScope> => {
  const scopes: ResolvedScope[] = []
  const scopeAt = new Map<string, number>()
  for (const { id, scope } of monitors) {
    if (Object.keys(scope).length === 0) continue
    const isSame = (one: ResolvedScope) => isDeepStrictEqual(one.scope, scope)
    const known = scopes.findIndex(isSame)
    const resolved = isPlain(scope) ? scope : resolvedScopes.find(isSame)?.resolved
    scopeAt.set(id, known >= 0 || !resolved ? known : scopes.push({ scope, resolved }) - 1)
  }
  const ids = subjects.map(({ id }) => id)
  const within = await listSelectedAmong(
    db,
    org,
    ids,
    scopes.map(({ resolved }) => resolved),
  )
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
  /** Only evaluates monitors for which meanings are compared, because they could not be compared at `since`. */
  postponed?: { since: string; round: number }
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

type Asked = (subject: Subject, monitor: StoredMonitor) => boolean

/**
 * Finds the versions to evaluate: the monitors' current versions, and the versions that scorecards and experiments have
 * pinned. Without `comparesMeanings`, calls no model. If meanings could not be compared, `isIncomplete` is true, and
 * monitors that depend on them are left out.
 */
export const findQuestions = async (
  deps: PinDeps,
  db: Db,
  org: OrgId,
  { conversationIds, reads, lacks, postponed }: EvaluationBatch,
  { comparesMeanings }: { comparesMeanings: boolean },
) => {
  const isMeant = (monitor: StoredMonitor) =>
    monitor.kind !== 'scorecard' && (reads === undefined || isReading(monitor, reads))
  const all = lacks === 'pinned' ? [] : await listActiveMonitors(db, org)
  const active = all.filter(isMeant)
  const pinned = await deps.findPinned(db, org, conversationIds)
  const items = await findItemVersions(db, org, all, pinned)
  const older = oneVersionEach(items.monitors.filter(isMeant))
  const lists = oneVersionEach(pinned.monitors.filter(isMeant))
  if (active.length + older.length + lists.length === 0) {
    return { subjects: [], questions: [], isIncomplete: false }
  }
  const subjects = await listSubjects(db, org, conversationIds)
  const isAnswered =
    lacks === 'pinned' ? await findAnswered(db, org, subjects, [...pinned.monitors, ...items.monitors]) : () => false
  const scoped = [...active, ...items.monitors, ...items.scorecards]
  const ids = subjects.map(({ id }) => id)
  const resolved = comparesMeanings ? await resolveScopesIfAvailable(deps, org, ids, scoped) : []
  const isInScope = await findMonitorsInScope(db, org, subjects, scoped, resolved ?? [])
  const wasInScope = postponed && (await findMonitorsInScope(db, org, subjects, scoped, []))
  /** Leaves out what an earlier attempt evaluated without comparing meanings. */
  const notYet = (askedIn: (isIn: IsInScope) => Asked): Asked => {
    const asked = askedIn(isInScope)
    const wasAsked = wasInScope && askedIn(wasInScope)
    return (subject, monitor) => asked(subject, monitor) && !wasAsked?.(subject, monitor)
  }
  const questions = [
    {
      monitors: active,
      isPinned: false,
      // If an experiment has pinned a version, only that version evaluates the conversation.
      asked: notYet((isIn) => (subject, monitor) => isIn(subject, monitor) && !pinned.asks(subject.id, monitor)),
    },
    ...older.map((monitors) => ({
      monitors,
      isPinned: true,
      asked: notYet(
        (isIn) => (subject, monitor) =>
          isIn(subject, monitor) &&
          items.isUsed(subject.id, monitor, (scorecard) => isIn(subject, scorecard)) &&
          !pinned.asks(subject.id, monitor) &&
          !isAnswered(subject, monitor),
      ),
    })),
    // Earlier attempts have already evaluated pinned versions, because those ignore scopes.
    ...(postponed ? [] : lists).map((monitors) => ({
      monitors,
      isPinned: true,
      asked: (subject: Subject, monitor: StoredMonitor) =>
        pinned.asks(subject.id, monitor) && !isAnswered(subject, monitor),
    })),
  ].map(({ asked, ...question }) => ({
    ...question,
    asked: (subject: Subject, monitor: StoredMonitor) => canEvaluate(subject, monitor) && asked(subject, monitor),
  }))
  return { subjects, questions, isIncomplete: resolved === undefined }
}
