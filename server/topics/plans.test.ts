import { beforeAll, expect } from 'vitest'
import { onPlainPostgres } from '../../test/citus.ts'
import { openPlans } from '../../test/plans.ts'
import { cellsPerGeneration } from '../embeddings/cells/near.ts'
import { hasMoreUnsorted, hasOlderCells } from '../embeddings/cells/queries.ts'
import {
  areAtMost,
  countEmbedded,
  countWaiting,
  listNearestInCells,
  listNearestWithin,
  listNextOlder,
} from '../embeddings/queries.ts'
import { narrowingClauses } from '../filters/queries.ts'
import { orgIdOf } from '../platform/ids.ts'
import { countByTopic, listConversations, listToAssign } from './queries.ts'

const { describe, it } = onPlainPostgres('reads plans of one node')

/** Checks how PostgreSQL runs the statements of embeddings and topics with 1,000,000 conversations. */

const count = 1_000_000
const cells = 512
const topicCount = 300

const { db, explain, load } = await openPlans({ maintenance_work_mem: '256MB' })

const idOf = (kind: number, number: string) =>
  `('0197a3b0-000${kind}-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`
const id = (kind: number, number: number) => `0197a3b0-000${kind}-7000-8000-${String(number).padStart(12, '0')}`
const org = orgIdOf(id(0, 1))

/** Returns the start of a conversation. One starts every 15 seconds for half a year. */
const startedAt = (number: number) => new Date(Date.UTC(2026, 0, 1) + number * 15_000)

/** Statements that insert a conversation each, with one passage, one topic, and the code of its number. */
const statements = [
  `INSERT INTO organizations (id, name, slug, monitors, observability, metrics, monitor_exports, export_webhooks,
    experiments_v2, phi_mode) VALUES ('${org}', 'Large', 'large', true, true, true, true, true, true, false)`,
  `INSERT INTO agents (organization_id, id, name, channel)
    SELECT '${org}', ${idOf(1, 'n')}, 'Agent ' || n, 'voice' FROM generate_series(0, 49) n`,
  `INSERT INTO conversations (organization_id, id, agent_id, channel, status, started_at, metadata, signals)
    SELECT '${org}', ${idOf(5, 'n')}, ${idOf(1, 'n % 50')}, 'call', 'completed',
      '${startedAt(0).toISOString()}'::timestamptz + n * interval '15 s', '{}', '{}'
    FROM generate_series(0, ${count - 1}) n`,
  `INSERT INTO conversation_embeddings (organization_id, conversation_id, model)
    SELECT '${org}', ${idOf(5, 'n')}, 1 FROM generate_series(0, ${count - 1}) n`,
  // Cells contain conversations of all times, and sorting has stored them cell by cell.
  `INSERT INTO conversation_passages
    (organization_id, conversation_id, position, model, cell, code, vector, first_turn, last_turn)
    SELECT '${org}', ${idOf(5, 'n')}, 0, 1, ${cellsPerGeneration} + n % ${cells},
      ('x' || repeat(md5(n::text), 4))::bit(512), decode(repeat(md5(n::text), 32), 'hex'), 0, 0
    FROM generate_series(0, ${count - 1}) n ORDER BY n % ${cells}`,
  `INSERT INTO conversation_topics (organization_id, conversation_id, topic_id, similarity, build, started_at)
    SELECT '${org}', ${idOf(5, 'n')}, ${idOf(6, `n % ${topicCount}`)}, 0.5 + (n % 1009) / 2018.0, 1,
      '${startedAt(0).toISOString()}'::timestamptz + n * interval '15 s'
    FROM generate_series(0, ${count - 1}) n`,
]
const tables = ['conversations', 'conversation_embeddings', 'conversation_passages', 'conversation_topics']

beforeAll(() => load(tables, statements), 300_000)

/** Returns how many pages the statements read, and the loaded tables that they read as a whole. */
const watch = async <T>(run: () => Promise<T>) => {
  const { answer, pages, nodes } = await explain(run)
  const whole = nodes.flatMap(({ 'Node Type': type, 'Relation Name': table }) =>
    type === 'Seq Scan' && table !== undefined && tables.includes(table) ? [table] : [],
  )
  return { answer, pages, whole }
}

const code = '10'.repeat(256)
const near = { model: 1, code, farthest: 512, limit: 3_000, except: undefined, within: [] }
/** The cells that a search reads: a sixty-fourth of all, and the unsorted one. */
const read = [0, ...Array.from({ length: cells / 64 }, (_, at) => cellsPerGeneration + 60 * at)]
const lastDays = (days: number) =>
  narrowingClauses(org, { since: new Date(startedAt(count).getTime() - days * 86_400_000).toISOString() })

describe('search by meaning', () => {
  it('reads the index of the nearest cells, and then the best vectors', async () => {
    const { answer, pages, whole } = await watch(() => listNearestInCells(db, org, near, read))
    expect(answer).toHaveLength(3_000)
    expect(whole).toEqual([])
    // An index entry has 110 bytes. Each vector takes a page, and a search for it in the primary key.
    expect(pages).toBeLessThan(count / 64 / 50 + 3_000 * 6)
  })

  it('only counts conversations up to a limit', async () => {
    const { answer, pages, whole } = await watch(() => areAtMost(db, org, lastDays(100), 100_000))
    expect([answer, whole]).toEqual([false, []])
    expect(pages).toBeLessThan(3_000)
    expect((await watch(() => areAtMost(db, org, lastDays(7), 100_000))).answer).toBe(true)
  })

  it.each([
    ['of a week', lastDays(7), 40_320],
    ['of an agent', narrowingClauses(org, { agentIds: [id(1, 7)] }), 20_000],
    ['of an agent in a day', [...lastDays(1), ...narrowingClauses(org, { agentIds: [id(1, 7)] })], 115],
  ])('compares all conversations %s', async (_, within, selected) => {
    const { answer, pages, whole } = await watch(() => listNearestWithin(db, org, { ...near, within }))
    expect(answer).toHaveLength(Math.min(3_000, selected))
    expect(whole).toEqual([])
    expect(pages).toBeLessThan(8 * selected + 3_000 * 6)
  })

  it('checks the conditions of frequent conversations in the nearest cells', async () => {
    const within = narrowingClauses(org, { channels: ['call'] })
    const { answer, whole } = await watch(() => listNearestInCells(db, org, { ...near, within }, read))
    expect(answer).toHaveLength(3_000)
    expect(whole).toEqual([])
  })
})

describe('embedding', () => {
  const progress = { model: 1, startedAt: startedAt(500_000), conversationId: id(5, 500_000), isDone: false }

  it.each<[string, () => Promise<unknown>, number]>([
    ['reads the next page', () => listNextOlder(db, org, progress, 1_000), 9_000],
    ['finds unsorted vectors', () => hasMoreUnsorted(db, org, 1, 2_000), 20],
    ['finds vectors in older cells', () => hasOlderCells(db, org, 1, cellsPerGeneration), 20],
    ['counts embedded conversations', () => countEmbedded(db, org, 1, 100_000), 2_000],
  ])('%s', async (_, run, most) => {
    const { pages, whole } = await watch(run)
    expect(whole).toEqual([])
    expect(pages).toBeLessThan(most)
  })

  it('counts waiting conversations on two pages only', async () => {
    const { answer, whole } = await watch(() => countWaiting(db, org, progress, 1_000))
    expect([answer, whole]).toEqual([0, []])
    const { pages } = await watch(() => countWaiting(db, org, { ...progress, model: 100 }, 1_000))
    expect(pages).toBeLessThan(20_000)
  })
})

describe('topics', () => {
  const topic = id(6, 7)
  const group = Array.from({ length: 40 }, (_, at) => id(6, at))
  const middle = `0.75 ${id(5, 0)}`

  it('counts only read the index by start', async () => {
    const bounds = [startedAt(800_000), startedAt(900_000), startedAt(1_000_000)]
    const run = () => countByTopic(db, org, { previousSince: startedAt(600_000), bounds })
    const { answer, pages, whole } = await watch(run)
    expect(answer).toHaveLength(3 * topicCount)
    expect(whole).toEqual([])
    expect(pages).toBeLessThan(6_000)
  })

  it.each([
    ['a topic', [topic], undefined, 100],
    ['a topic, from the middle on', [topic], middle, 100],
    ['a group', group, undefined, 40 * 70],
    ['a group, from the middle on', group, middle, 40 * 70],
  ])('pages of %s read no more than they show', async (_, ids, after, most) => {
    const { answer, pages, whole } = await watch(() => listConversations(db, org, ids, { limit: 50, after }))
    expect(answer).toHaveLength(51)
    expect(answer.map((one) => one.similarity)).toEqual(answer.map((one) => one.similarity).toSorted((a, b) => b - a))
    expect(whole).toEqual([])
    expect(pages).toBeLessThan(most)
  })

  it('pages of conversations to assign are read in the order of time', async () => {
    const after = { startedAt: startedAt(500_000), id: id(5, 500_000) }
    const { answer, pages, whole } = await watch(() => listToAssign(db, org, 2, { after, limit: 1_000 }))
    expect(answer.filter(({ vector }) => vector)).toHaveLength(1_000)
    expect(whole).toEqual([])
    expect(pages).toBeLessThan(1_000 * 12)
  })
})
