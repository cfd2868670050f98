// Stores the sums of hours. A build reads one state of the database and deletes the notes of the changes in it.

import { batchesOf } from '../../platform/batches.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { isOvertaken, violatedConstraint } from '../../platform/db/errors.ts'
import type { Deps } from '../../platform/deps.ts'
import { hourMs, minuteMs } from '../../platform/durations.ts'
import {
  allowLongStatements,
  countBuild,
  countConversationsIn,
  deleteChanges,
  deleteHours,
  findHourBefore,
  findHourOfMany,
  findState,
  hasManyChanges,
  insertHours,
  insertState,
  listChangedHours,
  listCountedMonitors,
  listDifferingHours,
  listQuietHours,
  noteCheck,
  type Subjects,
  thinChanges,
} from './queries.ts'

type BuildDeps = Pick<Deps, 'db' | 'clock' | 'log'>

const hoursAtOnce = 24
const manyConversations = 10_000
/** An hour that still changes would be outdated at once. */
const quietMs = 30_000
const longestWaitMs = 15 * minuteMs
const mostNotes = 200

/** One state of the database. Undefined if another process was faster, which left nothing to do or does it. */
const inSnapshot = async <T>(db: Db, run: (trx: Db) => Promise<T>): Promise<T | undefined> => {
  try {
    return await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (trx) => {
        await allowLongStatements(trx)
        return run(trx)
      })
  } catch (error) {
    if (isOvertaken(error) || violatedConstraint(error) === 'analytics_states_pkey') return undefined
    throw error
  }
}

/** In one statement, they would take too long for a large organization. */
const monitorsAtOnce = 5

const listSubjects = async (trx: Db, org: OrgId): Promise<Subjects[]> => {
  const monitors = await listCountedMonitors(trx, org)
  return ['conversations', ...[...batchesOf(monitors, monitorsAtOnce)].map((monitorIds) => ({ monitorIds }))]
}

const rebuild = async (trx: Db, org: OrgId, hours: Date[]): Promise<void> => {
  await deleteChanges(trx, org, hours)
  await deleteHours(trx, org, hours)
  for (const subjects of await listSubjects(trx, org)) await insertHours(trx, org, hours, subjects)
}

/** Returns the first hours, until they have many conversations. */
const fewEnough = async (trx: Db, org: OrgId, hours: Date[]): Promise<Date[]> => {
  const counts = await countConversationsIn(trx, org, hours)
  let conversations = 0
  let taken = 0
  while (taken < hours.length && conversations < manyConversations) {
    conversations += counts[taken] ?? 0
    taken += 1
  }
  return hours.slice(0, taken)
}

const hoursBetween = (from: Date, until: Date): Date[] =>
  Array.from({ length: (until.getTime() - from.getTime()) / hourMs }, (_, at) => new Date(from.getTime() + at * hourMs))

/** Later conversations note their hour. */
const start = async (trx: Db, org: OrgId): Promise<void> => {
  const latest = await findHourBefore(trx, org, null)
  await insertState(trx, org, latest ? new Date(latest.getTime() + hourMs) : null)
}

/** Builds the day of the latest conversation before those that are built. */
const buildEarlier = async (trx: Db, org: OrgId, builtSince: Date): Promise<void> => {
  const latest = await findHourBefore(trx, org, builtSince)
  if (!latest) return void (await countBuild(trx, org, null))
  const until = new Date(latest.getTime() + hourMs)
  const many = await findHourOfMany(trx, org, until, manyConversations)
  const from = new Date(Math.max(until.getTime() - hoursAtOnce * hourMs, many?.getTime() ?? Number.NEGATIVE_INFINITY))
  await countBuild(trx, org, from)
  await rebuild(trx, org, hoursBetween(from, until))
}

/** Builds some changed hours, or else some that are not built yet. Returns whether there may be more. */
export const buildNext = async ({ db, clock }: BuildDeps, org: OrgId): Promise<boolean> => {
  const now = clock.now().getTime()
  const done = await inSnapshot(db, async (trx) => {
    const state = await findState(trx, org)
    if (!state) return start(trx, org).then(() => true)
    const { builtSince } = state
    const hours = await listQuietHours(trx, org, {
      quietSince: new Date(now - quietMs),
      waitingSince: new Date(now - longestWaitMs),
      builtSince,
      limit: hoursAtOnce,
    })
    if (hours.length > 0) {
      await countBuild(trx, org)
      await rebuild(trx, org, await fewEnough(trx, org, hours))
      return true
    }
    if (builtSince === null) return false
    await buildEarlier(trx, org, builtSince)
    return true
  })
  return done ?? false
}

/** Deletes superfluous notes of hours that change all the time. */
export const thin = async ({ db }: Pick<Deps, 'db'>, org: OrgId): Promise<void> => {
  if (!(await hasManyChanges(db, org, mostNotes))) return
  await db.transaction().execute(async (trx) => {
    // Waits for a running build; one that has started and not counted itself yet then fails.
    if (!(await findState(trx, org))) return
    await countBuild(trx, org)
    await thinChanges(trx, org, mostNotes)
  })
}

const findDiffering = async (trx: Db, org: OrgId, hours: Date[]): Promise<Date[]> => {
  const differing = new Map<number, Date>()
  for (const subjects of await listSubjects(trx, org)) {
    for (const hour of await listDifferingHours(trx, org, hours, subjects)) differing.set(hour.getTime(), hour)
  }
  return [...differing.values()]
}

/** Compares a day with its conversations and rebuilds what differs. Returns whether there is an earlier one. */
export const checkDay = async ({ db, clock, log }: BuildDeps, org: OrgId): Promise<boolean> => {
  const checked = await inSnapshot(db, async (trx) => {
    const state = await findState(trx, org)
    const latest = state && (await findHourBefore(trx, org, state.checkedUntil))
    // Conversations that are not built yet cannot differ, and the next check starts with the latest ones again.
    if (!latest || (state.builtSince && latest < state.builtSince)) {
      if (state) await noteCheck(trx, org, { until: null, at: clock.now(), hours: 0, differing: 0 })
      return { more: false, differing: [] }
    }
    const until = new Date(latest.getTime() + hourMs)
    const from = new Date(until.getTime() - hoursAtOnce * hourMs)
    const changed = new Set((await listChangedHours(trx, org)).map((hour) => hour.getTime()))
    const hours = hoursBetween(from, until).filter(
      (hour) => (!state.builtSince || hour >= state.builtSince) && !changed.has(hour.getTime()),
    )
    const differing = await findDiffering(trx, org, hours)
    await noteCheck(trx, org, { until: from, at: clock.now(), hours: hours.length, differing: differing.length })
    if (differing.length > 0) await rebuild(trx, org, differing)
    return { more: true, differing }
  })
  if (checked && checked.differing.length > 0) {
    log.error(
      { organizationId: org, hours: checked.differing },
      'stored sums differed from their conversations and were rebuilt',
    )
  }
  return checked?.more ?? false
}
