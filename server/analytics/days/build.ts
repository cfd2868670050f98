// Stores the sums of days. A build reads from one snapshot of the database, and deletes the notes of the changes that
// this snapshot includes.

import { batchesOfSize } from '../../platform/batches.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { isOvertaken, violatedConstraint } from '../../platform/db/errors.ts'
import type { Deps } from '../../platform/deps.ts'
import { dayMs, minuteMs } from '../../platform/durations.ts'
import { countDays } from './count.ts'
import { haveSameSums } from './packed.ts'
import {
  allowLongStatements,
  countBuild,
  countConversationsIn,
  countRows,
  deleteChanges,
  deleteDays,
  findDayBefore,
  findState,
  hasManyChanges,
  insertDays,
  insertState,
  listChangedHours,
  listCountedMonitors,
  listDays,
  listQuietDays,
  noteCheck,
  type PackedRow,
  thinChanges,
} from './queries.ts'

type BuildDeps = Pick<Deps, 'db' | 'clock' | 'log'>

/** A build stops after this many conversations or days, but includes at least one day. */
const manyConversations = 10_000
const manyDays = 31
/**
 * With fewer conversations in a day, reading them is as quick as reading sums, and the sums would take as much space.
 */
const fewConversations = 200
/**
 * A day is only built if it hasn't changed for this long, because its sums would soon be outdated. Until then, its
 * changed hours are read from conversations.
 */
const quietMs = 2 * minuteMs
const longestWaitMs = 30 * minuteMs
const mostNotes = 200

/** Runs in a snapshot of the database. Returns undefined if another process has done the work or is doing it. */
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
    if (isOvertaken(error) || violatedConstraint(error) === 'analytics_progress_pkey') return undefined
    throw error
  }
}

const after = (day: Date): Date => new Date(day.getTime() + dayMs)

const daysBetween = (from: Date, until: Date): Date[] =>
  Array.from({ length: (until.getTime() - from.getTime()) / dayMs }, (_, at) => new Date(from.getTime() + at * dayMs))

/** Returns the days with enough conversations for their sums to be stored. */
const listBusy = async (trx: Db, org: OrgId, days: Date[]): Promise<Date[]> => {
  const counts = await countConversationsIn(trx, org, days)
  return days.filter((_, at) => (counts[at] ?? 0) >= fewConversations)
}

/** The maximum number of bytes in one statement. */
const mostBytes = 4_000_000

/** Returns the approximate size of a row. Even an empty row takes some bytes. */
const sizeOf = ({ hours, hourSteps, daySteps }: PackedRow): number =>
  hours.length + (hourSteps?.length ?? 0) + (daySteps?.length ?? 0) + 10_000

const rebuild = async (trx: Db, org: OrgId, days: Date[]): Promise<void> => {
  await deleteChanges(trx, org, days)
  await deleteDays(trx, org, days)
  const busy = await listBusy(trx, org, days)
  if (busy.length === 0) return
  for await (const rows of countDays(trx, org, busy)) {
    for (const some of batchesOfSize(rows, mostBytes, sizeOf)) await insertDays(trx, org, some)
  }
}

/** Returns the first days that together have as many conversations as one build reads. */
const fewEnough = async (trx: Db, org: OrgId, days: Date[]): Promise<Date[]> => {
  const counts = await countConversationsIn(trx, org, days)
  let conversations = 0
  let taken = 0
  while (taken < days.length && conversations < manyConversations) {
    conversations += counts[taken] ?? 0
    taken += 1
  }
  return days.slice(0, taken)
}

/** Starts storing sums. From then on, every change to a conversation notes the conversation's hour. */
const start = async (trx: Db, org: OrgId): Promise<void> => {
  const latest = await findDayBefore(trx, org, null)
  await insertState(trx, org, latest ? after(latest) : null)
}

/** Returns the latest days with conversations before a time: as many as one build reads. */
const latestDays = async (trx: Db, org: OrgId, before: Date | null): Promise<Date[]> => {
  const latest = await findDayBefore(trx, org, before)
  if (!latest) return []
  const until = after(latest)
  const many = (await findDayBefore(trx, org, until, manyConversations))?.getTime() ?? Number.NEGATIVE_INFINITY
  // The day of the last conversation that fits is incomplete, so the next build reads it, unless it is the only day.
  const from = Math.min(latest.getTime(), Math.max(until.getTime() - manyDays * dayMs, many + dayMs))
  return daysBetween(new Date(from), until)
}

/** Builds the latest days before those that are already built. */
const buildEarlier = async (trx: Db, org: OrgId, builtSince: Date): Promise<void> => {
  const days = await latestDays(trx, org, builtSince)
  await countBuild(trx, org, days[0] ?? null)
  await rebuild(trx, org, days)
}

/** Builds some changed days, or else some that are not built yet. Returns whether there may be more. */
export const buildNext = async ({ db, clock }: BuildDeps, org: OrgId): Promise<boolean> => {
  const now = clock.now().getTime()
  const done = await inSnapshot(db, async (trx) => {
    const state = await findState(trx, org)
    if (!state) return start(trx, org).then(() => true)
    const { builtSince } = state
    const days = await listQuietDays(trx, org, {
      quietSince: new Date(now - quietMs),
      waitingSince: new Date(now - longestWaitMs),
      builtSince,
      limit: manyDays,
    })
    if (days.length > 0) {
      await countBuild(trx, org)
      await rebuild(trx, org, await fewEnough(trx, org, days))
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
    // Locks the state, which waits for a running build. A build that has started but not counted itself yet will fail.
    if (!(await findState(trx, org))) return
    await countBuild(trx, org)
    await thinChanges(trx, org, mostNotes)
  })
}

const keyOf = ({ subject, grain, day }: PackedRow): string => `${subject} ${grain} ${day.getTime()}`

const isSame = (stored: PackedRow | undefined, counted: PackedRow): boolean => {
  const equals = (a: Buffer | null, b: Buffer | null) => a === b || (a !== null && b !== null && a.equals(b))
  if (!stored || !equals(stored.hourSteps, counted.hourSteps) || !equals(stored.daySteps, counted.daySteps))
    return false
  return stored.hours.equals(counted.hours) || haveSameSums(stored.hours, counted.hours)
}

/** Counts days again, and returns those with stored sums that differ. */
const findDiffering = async (trx: Db, org: OrgId, days: Date[]): Promise<Date[]> => {
  const busy = await listBusy(trx, org, days)
  const stored = await countRows(trx, org, days, await listCountedMonitors(trx, org))
  const differing = new Set<number>()
  const counts = new Map<number, number>()
  if (busy.length > 0) {
    for await (const rows of countDays(trx, org, busy)) {
      const present = await listDays(trx, org, busy, [...new Set(rows.map(({ subject }) => subject))])
      const byKey = new Map(present.map((row) => [keyOf(row), row]))
      for (const row of rows) {
        const day = row.day.getTime()
        counts.set(day, (counts.get(day) ?? 0) + 1)
        if (!isSame(byKey.get(keyOf(row)), row)) differing.add(day)
      }
    }
  }
  // A day with too many rows also differs.
  return days.filter((day) => {
    const ms = day.getTime()
    return differing.has(ms) || (stored.get(ms) ?? 0) !== (counts.get(ms) ?? 0)
  })
}

/**
 * Checks the latest unchecked days against their conversations and rebuilds those that differ. Returns whether earlier
 * days remain to be checked.
 */
export const checkDays = async ({ db, clock, log }: BuildDeps, org: OrgId): Promise<boolean> => {
  const checked = await inSnapshot(db, async (trx) => {
    const state = await findState(trx, org)
    const latest = state ? await latestDays(trx, org, state.checkedUntil) : []
    const [from] = latest
    // Conversations without stored sums cannot differ from them, and the next check starts with the latest ones again.
    if (!state || !from || (state.builtSince && after(latest.at(-1) ?? from) <= state.builtSince)) {
      if (state) await noteCheck(trx, org, { until: null, at: clock.now(), days: 0, differing: 0 })
      return { more: false, differing: [] }
    }
    const changed = new Set(
      (await listChangedHours(trx, org, 'results')).map((hour) => Math.floor(hour.getTime() / dayMs)),
    )
    const days = latest.filter(
      (day) => (!state.builtSince || day >= state.builtSince) && !changed.has(day.getTime() / dayMs),
    )
    // Keeps builds from running at the same time.
    await countBuild(trx, org)
    const differing = await findDiffering(trx, org, days)
    await noteCheck(trx, org, { until: from, at: clock.now(), days: days.length, differing: differing.length })
    if (differing.length > 0) await rebuild(trx, org, differing)
    return { more: true, differing }
  })
  if (checked && checked.differing.length > 0) {
    log.error(
      { organizationId: org, days: checked.differing },
      'stored sums differed from their conversations and were rebuilt',
    )
  }
  return checked?.more ?? false
}
