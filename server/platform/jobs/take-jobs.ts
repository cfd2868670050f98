// Takes jobs so that organizations take turns.
import { type Database, type OrgId, openDatabase } from '../db/database.ts'
import type { SessionSettings } from '../db/session.ts'
import type { TakenJob } from './attempt.ts'
import { type Backlog, listBacklogs, takeJobs } from './queries.ts'
import { shareOut } from './share-out.ts'

const beforeAll = '00000000-0000-0000-0000-000000000000'

export type Room = {
  /** The maximum number of jobs to take. */
  free: number
  /** The number of running attempts in this process, by organization. */
  running: ReadonlyMap<OrgId, number>
}

/** `areAll` means that no other jobs with this name were waiting, so checking again would find none. */
export type TakenJobs = { jobs: TakenJob[]; areAll: boolean }

export type Taker = {
  take: (name: string, room: Room, workerKey: number | null) => Promise<TakenJobs>
  close: () => Promise<void>
}

/**
 * The settings of the connections that take jobs. These connections keep their plans. The number of jobs changes within
 * seconds, so statistics are never accurate, and a plan must always read few rows through an index.
 */
export const sessionSettings: SessionSettings = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
}

export const openTaker = ({ connection }: Pick<Database, 'connection'>): Taker => {
  const { db, close } = openDatabase({
    connection,
    applicationName: `${connection.application_name ?? 'earshot'} jobs`.slice(0, 63),
    poolSize: 2,
    settings: sessionSettings,
  })
  /** The last organization that had its turn, for each kind of job. */
  const lastTurns = new Map<string, string>()
  /** The kinds of jobs with more waiting organizations than a list from the start can contain. */
  const crowded = new Set<string>()

  /**
   * The list is long enough that organizations with their full share can't hide others. The next one in turn comes
   * first.
   */
  const listInTurn = async (name: string, { free, running }: Room): Promise<Backlog[]> => {
    const places = free + [...running.values()].reduce((sum, count) => sum + count, 0)
    const last = lastTurns.get(name) ?? beforeAll
    const list = (after: string, organizations: number) =>
      listBacklogs(db, name, { after, organizations, jobsEach: free })
    const inTurn = (backlogs: Backlog[]) => [
      ...backlogs.filter(({ org }) => org > last),
      ...backlogs.filter(({ org }) => org <= last),
    ]
    if (!crowded.has(name)) {
      const fromTheFirst = await list(beforeAll, places)
      if (fromTheFirst.length < places) return inTurn(fromTheFirst)
      crowded.add(name)
    }
    const following = await list(last, places)
    if (following.length === places) return following
    const fromTheFirst = await list(beforeAll, places)
    if (fromTheFirst.length < places) crowded.delete(name)
    return [...following, ...fromTheFirst.filter(({ org }) => org <= last)].slice(0, places)
  }

  const take: Taker['take'] = async (name, room, workerKey) => {
    const backlogs = await listInTurn(name, room)
    const shares = shareOut(backlogs, room.running, room.free)
    const served = backlogs.findLast(({ org }) => shares.has(org))
    if (!served) return { jobs: [], areAll: backlogs.length === 0 }
    lastTurns.set(name, served.org)
    const taken = await takeJobs(db, name, shares, workerKey)
    const jobs = taken.map(({ org, id, attempt, uncounted, payload }) => ({
      org,
      name,
      id,
      attempt,
      payload,
      number: attempt - uncounted,
    }))
    // For each organization, the number of counted jobs is at most the number of free slots.
    const isWhole = !crowded.has(name) && backlogs.every(({ waiting }) => waiting < room.free)
    const waiting = backlogs.reduce((sum, backlog) => sum + backlog.waiting, 0)
    return { jobs, areAll: isWhole && jobs.length === waiting }
  }

  return { take, close }
}
