import { sql } from 'kysely'
import { Type } from 'typebox'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { openPlans } from '../../../test/plans.ts'
import { quietLog } from '../../../test/support/jobs/quiet-log.ts'
import { type OrgId, openDatabase } from '../db/database.ts'
import { newId, orgIdOf } from '../ids.ts'
import { defineJob } from './define-job.ts'
import { listBacklogs, takeJobs } from './queries.ts'
import { openJobs } from './queue.ts'
import { openTaker, sessionSettings, type Taker } from './take-jobs.ts'

const { db, connection, pool, explain } = await openPlans(sessionSettings)
const database = openDatabase({ connection, applicationName: 'jobs test' })
const jobs = openJobs({ database, log: quietLog() })
const opened: Taker[] = []
afterAll(async () => {
  for (const taker of opened) await taker.close()
  await jobs.close()
  await database.close()
})

/** Opens another taker, as another process would. */
const openTake = () => {
  const taker = openTaker(database)
  opened.push(taker)
  return async (...given: Parameters<Taker['take']>) => (await taker.take(...given)).jobs
}

const job = defineJob({
  name: 'take.any',
  payload: Type.Object({ organizationId: Type.String() }),
  run: async () => {},
})

const organizations = Array.from({ length: 5 }, newId).sort().map(orgIdOf)
const letterOf = (org: OrgId) => 'abcde'[organizations.indexOf(org)] ?? '?'

/** Enqueues one job for each letter. */
const enqueue = async (letters: string) => {
  for (const letter of letters) {
    const organizationId = organizations['abcde'.indexOf(letter)] ?? ''
    await jobs.enqueue(db, job, { organizationId })
  }
}

const runningOf = (letters: string) => {
  const running = new Map<OrgId, number>()
  for (const letter of letters) {
    const org = organizations['abcde'.indexOf(letter)] as OrgId
    running.set(org, (running.get(org) ?? 0) + 1)
  }
  return running
}

beforeEach(async () => {
  await pool.query('TRUNCATE jobs')
})

describe('organizations take turns', () => {
  it('with one slot, each has its turn, however many jobs wait', async () => {
    await enqueue('aaaaaabbcaaa')
    const take = openTake()
    const order: string[] = []
    for (;;) {
      const [taken] = await take(job.name, { free: 1, running: new Map() }, null)
      if (!taken) break
      order.push(letterOf(taken.org))
    }
    expect(order.join('')).toBe('abcabaaaaaaa')
  })

  it('newcomers are next in turn', async () => {
    await enqueue('aaaaaaaaaaaa')
    const take = openTake()
    const takeOne = async () => {
      const [taken] = await take(job.name, { free: 1, running: new Map() }, null)
      return taken && letterOf(taken.org)
    }
    expect(await takeOne()).toBe('a')
    await enqueue('b')
    expect(await takeOne()).toBe('b')
    expect(await takeOne()).toBe('a')
  })

  it('one organization takes half of the slots, and the next finds one', async () => {
    await enqueue('aaaaaaaaaaaa')
    const take = openTake()
    const places = 4
    expect(await take(job.name, { free: places, running: new Map() }, null)).toHaveLength(2)
    expect(await take(job.name, { free: 2, running: runningOf('aa') }, null)).toEqual([])
    await enqueue('b')
    const next = await take(job.name, { free: 2, running: runningOf('aa') }, null)
    expect(next.map(({ org }) => letterOf(org))).toEqual(['b'])
  })

  it('those with their full share hide no others, however many they are', async () => {
    await enqueue('aaabbbcccddde')
    const taken = await openTake()(job.name, { free: 1, running: runningOf('aabbccdd') }, null)
    expect(taken.map(({ org }) => letterOf(org))).toEqual(['e'])
  })

  it('for one organization, the highest priority is first, then the oldest', async () => {
    const organizationId = organizations[0] ?? ''
    const ids: string[] = []
    for (const priority of [0, 5, 0, 9]) {
      ids.push(await jobs.enqueue(db, job, { organizationId }, { priority }))
    }
    const taken = await openTake()(job.name, { free: 8, running: new Map() }, null)
    expect(taken.map(({ id }) => ids.indexOf(id))).toEqual([3, 1, 0, 2])
  })

  it('several processes take each job once', async () => {
    await enqueue('aaaaaaaabbbbbbbb')
    const takes = [1, 2, 3].map(() => openTake())
    const ids: string[] = []
    for (let some = true; some; ) {
      const taken = await Promise.all(takes.map((take) => take(job.name, { free: 4, running: new Map() }, null)))
      ids.push(...taken.flat().map(({ id }) => id))
      some = taken.flat().length > 0
    }
    expect(ids).toHaveLength(16)
    expect(new Set(ids).size).toBe(16)
  })
})

describe('with 100,000 jobs of one organization and one of another', () => {
  const fill = async () => {
    const [first, second] = organizations
    await sql`
      INSERT INTO jobs (organization_id, id, name, payload, state, priority, due_at)
      SELECT ${first}::uuid, gen_random_uuid(), ${job.name}, '{}', 'waiting', 0, now() + number * interval '1 millisecond'
      FROM generate_series(1, 100000) AS number`.execute(db)
    await jobs.enqueue(db, job, { organizationId: second ?? '' })
  }

  // When a queue fills quickly, its statistics are always outdated: they describe an empty table or a full one.
  it.each(['before', 'after'])('few pages are read to take them (statistics from %s)', async (when) => {
    if (when === 'before') await pool.query('VACUUM ANALYZE jobs')
    await fill()
    if (when === 'after') await pool.query('VACUUM ANALYZE jobs')

    const listed = await explain(() =>
      listBacklogs(db, job.name, { after: '00000000-0000-0000-0000-000000000000', organizations: 8, jobsEach: 8 }),
    )
    expect(listed.answer.map(({ org, waiting }) => [letterOf(org), waiting])).toEqual([
      ['a', 8],
      ['b', 1],
    ])
    expect(listed.pages).toBeLessThan(100)

    const shares = new Map(organizations.slice(0, 2).map((org) => [org, 4]))
    const taken = await explain(() => takeJobs(db, job.name, shares, null))
    expect(taken.answer.map(({ org }) => letterOf(org)).sort()).toEqual(['a', 'a', 'a', 'a', 'b'])
    expect(taken.pages).toBeLessThan(400)
  })

  it('a thousand organizations take turns, few at a time', async () => {
    await sql`
      INSERT INTO jobs (organization_id, id, name, payload, state, priority, due_at)
      SELECT gen_random_uuid(), gen_random_uuid(), ${job.name}, '{}', 'waiting', 0, now()
      FROM generate_series(1, 1000)`.execute(db)
    await pool.query('VACUUM ANALYZE jobs')
    const take = openTake()
    const served = new Set<string>()
    for (let times = 0; times < 125; times++) {
      const taken = await take(job.name, { free: 8, running: new Map() }, null)
      for (const { org } of taken) served.add(org)
    }
    expect(served.size).toBe(1_000)
    await fill()
    const { pages } = await explain(() =>
      listBacklogs(db, job.name, { after: organizations[0] ?? '', organizations: 8, jobsEach: 8 }),
    )
    expect(pages).toBeLessThan(100)
  })
})
