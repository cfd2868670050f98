import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeAgent, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { newId, orgIdOf } from '../platform/ids.ts'
import { type Filter, parseFilter } from './filter.ts'
import { countSelected, listSelected } from './queries.ts'
import { resolve } from './resolve.ts'

/** Checks that PostgreSQL evaluates monitor conditions exactly as the API documents them. */

/** `FILTER_SEED=… vitest run server/filters` repeats a run with the same results and conditions. */
const seed = Number(process.env.FILTER_SEED ?? randomInt(2 ** 31))

const server = await testServer()
const { db } = server.deps
const { id, key } = await makeOrganization(server)
// The API returned this ID, so it is valid.
const org = orgIdOf(id)
const agent = await makeAgent(server, key)

/** The number exceeds the number of conversations that are checked individually, so that both query plans are used. */
const conversationCount = 3_000
const verdicts = ['affected', 'not_affected', 'unscored', 'failed'] as const
type Verdict = (typeof verdicts)[number]

const directions = ['inbound', 'inbound', 'outbound'] as const

type Stored = {
  id: string
  startedAt: Date
  direction: (typeof directions)[number]
  isVip: boolean
  verdicts: Map<string, Verdict>
}

const monitors: string[] = []
for (let n = 0; n < 4; n++) monitors.push((await makeMonitor(server, key)).id)
const deleted = (await makeMonitor(server, key)).id as string
const unknown = newId()

/** Generates integers below a limit. The same seed generates the same numbers. */
const randomBelow = (() => {
  let state = seed >>> 0
  return (limit: number) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) % limit
  }
})()

/** Inserts rows as a single JSON value that the database expands. */
const insertAll = async (table: 'conversations' | 'monitor_results', rows: object[]) => {
  const columns = sql.join(Object.keys(rows[0] ?? {}).map((name) => sql.id(name)))
  await sql`
    INSERT INTO ${sql.table(table)} (${columns})
    SELECT ${columns} FROM json_populate_recordset(NULL::${sql.table(table)}, ${JSON.stringify(rows)})`.execute(db)
}

type GeneratedResult = { monitor: string; version: number; verdict: Verdict }

/** Generates results. The first monitors flag many conversations as affected, and the last one only a few. */
const drawVerdicts = (): GeneratedResult[] =>
  [...monitors, deleted].flatMap((monitor, index) =>
    [1, 2, 3]
      .filter(() => randomBelow(10) >= 4)
      .map((version) => {
        const isAffected = randomBelow(index === 3 ? 100 : 2) === 0
        return { monitor, version, verdict: isAffected ? 'affected' : (verdicts[1 + randomBelow(3)] ?? 'failed') }
      }),
  )

const statusNumbers: Record<Verdict, number> = { affected: 0, not_affected: 0, unscored: 1, failed: 2 }
const resultNumbers: Record<Verdict, number | null> = { affected: 1, not_affected: 0, unscored: null, failed: null }

const resultRow = (
  { id, startedAt }: { id: string; startedAt: Date },
  { monitor, version, verdict }: GeneratedResult,
) => ({
  organization_id: org,
  monitor_id: monitor,
  conversation_id: id,
  call_started_at: startedAt,
  evaluated_at: startedAt,
  monitor_version: version,
  status: statusNumbers[verdict],
  result: resultNumbers[verdict],
  evidence: [],
  evaluator: 'test',
})

/** Stores conversations. Several start at the same time. */
const store = async (): Promise<Stored[]> => {
  const stored: Stored[] = []
  const rows: object[] = []
  for (let n = 0; n < conversationCount; n++) {
    const conversation = {
      id: newId(),
      startedAt: new Date(Date.UTC(2026, 0, 1) + (n >> 1) * 1_000),
      direction: directions[randomBelow(3)] ?? 'inbound',
      isVip: randomBelow(10) === 0,
    }
    const drawn = drawVerdicts()
    const newest = new Map(drawn.map(({ monitor, verdict }) => [monitor, verdict]))
    newest.delete(deleted)
    rows.push(...drawn.map((each) => resultRow(conversation, each)))
    stored.push({ ...conversation, verdicts: newest })
  }
  const conversations = stored.map((conversation) => ({
    organization_id: org,
    id: conversation.id,
    agent_id: agent.id as string,
    channel: 'call',
    direction: conversation.direction,
    status: 'completed',
    started_at: conversation.startedAt,
    metadata: conversation.isVip ? { plan: 'vip' } : {},
    signals: {},
  }))
  await insertAll('conversations', conversations)
  await insertAll('monitor_results', rows)
  await sql`ANALYZE conversations, monitor_results`.execute(db)
  return stored.sort((a, b) => b.startedAt.getTime() - a.startedAt.getTime() || (a.id < b.id ? 1 : -1))
}

const stored = await store()
await server.call('DELETE', `/v1/monitors/${deleted}`, { key })

/** Returns whether the conversation satisfies the conditions, exactly as the API documents it. */
const satisfies = (conversation: Stored, filter: Filter): boolean => {
  const { monitors: given = [], match = 'all' } = filter
  if (filter.metadata && !conversation.isVip) return false
  if (filter.directions && !filter.directions.includes(conversation.direction)) return false
  const explicit = given.filter(({ result = 'all' }) => result !== 'all')
  if (explicit.length === 0) return given.some((monitor) => conversation.verdicts.has(monitor.id))
  const holds = ({ id: monitor, result }: { id: string; result?: string }) =>
    conversation.verdicts.get(monitor) === result
  return match === 'all' ? explicit.every(holds) : explicit.some(holds)
}

const conditions = fc.uniqueArray(
  fc.record(
    {
      id: fc.constantFrom(...monitors, ...monitors, deleted, unknown),
      result: fc.constantFrom('all', 'affected', 'not_affected', 'unscored'),
    },
    { requiredKeys: ['id'] },
  ),
  { minLength: 1, maxLength: 6, selector: (condition) => condition.id },
)

const at = (index: number) => stored[index]?.startedAt.toISOString() ?? ''

const cases = fc.record({
  filter: fc.record(
    {
      // The affected results of a single monitor have their own query plan.
      monitors: fc.oneof(
        conditions,
        fc.constantFrom(...monitors, deleted).map((one) => [{ id: one, result: 'affected' }]),
      ),
      match: fc.constantFrom('all', 'any'),
      directions: fc.constant(['outbound']),
      metadata: fc.constant([{ key: 'plan', op: 'eq', value: 'vip' }]),
    },
    { requiredKeys: ['monitors'] },
  ) as fc.Arbitrary<Filter>,
  window: fc.option(fc.tuple(fc.nat(conversationCount / 2 - 1), fc.nat(conversationCount / 2 - 10)), {
    nil: undefined,
  }),
  limit: fc.integer({ min: 1, max: 200 }),
  after: fc.option(fc.nat(conversationCount - 1), { nil: undefined }),
})

describe('conditions on monitors', () => {
  it(`match the documentation (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ filter, window, limit, after }) => {
        const bounds = window && {
          until: at(window[0]),
          since: at(window[0] + 10 + Math.min(window[1], conversationCount - window[0] - 11)),
        }
        const selection = await resolve(server.deps, org, parseFilter({ ...filter, ...bounds }))
        const expected = stored.filter(
          (conversation) =>
            satisfies(conversation, filter) &&
            (!bounds ||
              (conversation.startedAt >= new Date(bounds.since) && conversation.startedAt < new Date(bounds.until))),
        )
        expect(await countSelected(db, org, selection)).toBe(expected.length)
        const position = after === undefined ? undefined : `${at(after)} ${stored[after]?.id}`
        const rest = after === undefined ? expected : expected.filter((one) => stored.indexOf(one) > after)
        const page = await listSelected(db, org, selection, { limit, after: position })
        expect(page.map((row) => row.id)).toEqual(rest.slice(0, limit + 1).map((one) => one.id))
      }),
      { seed, numRuns: 150 },
    )
  })

  it('only match results of this organization', async () => {
    const stranger = await makeOrganization(server)
    const selection = await resolve(server.deps, org, parseFilter({ monitors: [{ id: monitors[0] ?? '' }] }))
    // The API returned this ID, so it is valid.
    const other = orgIdOf(stranger.id)
    expect(await countSelected(db, other, selection)).toBe(0)
    const affected = await resolve(
      server.deps,
      org,
      parseFilter({ monitors: [{ id: monitors[3] ?? '', result: 'affected' }] }),
    )
    expect(await listSelected(db, org, affected, { limit: 10, after: undefined })).not.toEqual([])
    expect(await listSelected(db, other, affected, { limit: 10, after: undefined })).toEqual([])
    const answer = await server.call('POST', '/v1/conversations/count', { key, body: { filter: selection } })
    expect(answer.body.explanation).toMatch(/^conversations, with a result of Monitor /)
  })
})
