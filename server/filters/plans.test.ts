import { beforeAll, expect, it } from 'vitest'
import { onPlainPostgres } from '../../test/citus.ts'
import { openPlans } from '../../test/plans.ts'
import { listInOrder } from '../conversations/search/queries.ts'
import { orgIdOf } from '../platform/ids.ts'
import type { Similar } from '../platform/meanings.ts'
import { countSelected, isReadInIndexOrder, listSelected, type Selection } from './queries.ts'
import type { Sorting } from './sort.ts'
import { listSorted, positionOf } from './sorted/queries.ts'

const { describe } = onPlainPostgres('reads plans of one node')

/** Checks how PostgreSQL runs the statements of lists, searches, and counts with 250,000 conversations. */

const conversationCount = 250_000
const transcriptCount = 50_000

const { db, explain, load } = await openPlans({ maintenance_work_mem: '256MB' })

const id = (kind: number, number: number) => `0197a3b0-000${kind}-7000-8000-${String(number).padStart(12, '0')}`
/** Returns an SQL expression for the same ID. */
const idOf = (kind: number, number: string) =>
  `('0197a3b0-000${kind}-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`

const org = orgIdOf(id(0, 1))
const agent = (number: number) => id(1, number)
const version = (number: number) => id(2, number)
const company = (number: number) => id(3, number)
const group = (number: number) => id(4, number)
const monitor = (number: number) => id(6, number)
const bucket = (number: number) => id(7, number)

/** Returns the start of a conversation. One starts every two minutes for most of a year. */
const startedAt = (number: number) => new Date(Date.UTC(2026, 0, 1) + number * 120_000).toISOString()

const names = [
  `INSERT INTO organizations (id, name, slug, monitors, observability, metrics, monitor_exports, export_webhooks,
    experiments_v2, phi_mode) VALUES ('${org}', 'Large', 'large', true, true, true, true, true, true, false)`,
  `INSERT INTO agents (organization_id, id, name, channel)
    SELECT '${org}', ${idOf(1, 'n')}, 'Agent ' || n, 'voice' FROM generate_series(0, 59) n`,
  `INSERT INTO agent_versions (organization_id, id, agent_id, number, system_prompt, config, content_hash)
    SELECT '${org}', ${idOf(2, 'n')}, ${idOf(1, 'n / 10')}, n % 10 + 1, '', '{}', n::text
    FROM generate_series(0, 599) n`,
  `INSERT INTO companies (organization_id, id, name)
    SELECT '${org}', ${idOf(3, 'n')}, 'Company ' || n FROM generate_series(0, 199) n`,
  `INSERT INTO agent_groups (organization_id, id, name)
    SELECT '${org}', ${idOf(4, 'n')}, 'Group ' || n FROM generate_series(0, 2) n`,
  // Group 0 contains every second agent, group 1 an agent with few calls, and group 2 agents without calls.
  `INSERT INTO agent_group_members (organization_id, group_id, agent_id)
    SELECT '${org}', ${idOf(4, 'CASE WHEN n < 49 THEN 0 WHEN n = 49 THEN 1 ELSE 2 END')}, ${idOf(1, 'n')}
    FROM generate_series(0, 59) n WHERE n % 2 = 0 OR n > 48`,
]

const conversations = `
  INSERT INTO conversations (organization_id, id, external_id, agent_id, agent_version_id, company_id, channel,
    direction, status, started_at, duration_seconds, customer_id, metadata, signals, sound, review_status)
  SELECT '${org}', ${idOf(5, 'n')}, CASE WHEN n < 1000 THEN 'call-' || n END, ${idOf(1, 'agent')},
    ${idOf(2, 'agent * 10 + n % 10')}, ${idOf(3, 'n % 199')}, (ARRAY['call', 'chat', 'voicemail'])[1 + n % 3], 'inbound',
    CASE WHEN n % 30000 = 3 THEN 'failed' ELSE 'completed' END, '${startedAt(0)}'::timestamptz + n * interval '2 min',
    n % 900, 'customer-' || n % 25000,
    jsonb_build_object('plan', (ARRAY['tin', 'gold', 'iron', 'wood'])[1 + n % 4], 'order', n / 10,
      'vip', n % 5000 = 0, 'pilot', n < 25000),
    jsonb_build_object('longestSilenceMs', n % 5000),
    CASE WHEN n % 2 = 0 THEN jsonb_build_object('responseMs', jsonb_build_object('agent', jsonb_build_object('p95', n % 3000))) END,
    CASE WHEN n % 30000 = 4 THEN 'pending' ELSE 'none' END
  FROM (
    SELECT n, CASE WHEN n % 20000 = 1 THEN 49 ELSE n % 49 END AS agent
    FROM generate_series(0, ${conversationCount - 1}) n) numbers`

// Everyone says hello, a few say refund, and only the first conversations mention the fax.
const transcripts = `
  INSERT INTO transcripts (organization_id, conversation_id, content, content_hash, content_length, turn_count, words)
  SELECT '${org}', ${idOf(5, `n * ${conversationCount / transcriptCount}`)}, '[]', '', 2, 2, to_tsvector('simple',
    'hello word' || n % 1999 || ' topic' || n % 499 || CASE WHEN n % 20000 = 7 THEN ' refund' ELSE '' END ||
    CASE WHEN n < 5000 THEN ' fax' ELSE '' END)
  FROM generate_series(0, ${transcriptCount - 1}) n`

const monitors = `
  INSERT INTO monitors (organization_id, id, name, kind, enabled, scope, sample_percent, current_version)
  SELECT '${org}', ${idOf(6, 'n')}, 'Monitor ' || n, 'external', true, '{}', 100, 1 FROM generate_series(0, 2) n`

// A quarter of the conversations are affected according to the first monitor, and its second version reverts a few
// results. The last monitor's second version reverts nearly all results.
const results = `
  INSERT INTO monitor_results (organization_id, monitor_id, conversation_id, call_started_at, evaluated_at,
    monitor_version, status, result, score, evidence, evaluator, categories, fields, unsupported_fields)
  SELECT '${org}', ${idOf(6, 'm')}, ${idOf(5, 'n')}, '${startedAt(0)}'::timestamptz + n * interval '2 min', now(), v, 0,
    CASE WHEN m = 0 THEN v = 1 AND n % 4 = 1 ELSE n % 20000 = 10 OR m = 2 AND v = 1 END::int,
    CASE WHEN m = 1 THEN n % 1009 END, '[]', 'test',
    CASE m WHEN 1 THEN ARRAY[CASE WHEN n % 20000 = 10 THEN 'rare' ELSE 'common' END]
      WHEN 2 THEN ARRAY[CASE WHEN v = 1 AND n % 20000 <> 10 THEN 'reverted' ELSE 'kept' END] END,
    CASE m WHEN 1 THEN jsonb_build_object('amount', CASE WHEN n % 20000 = 10 THEN 5000 ELSE n % 100 END,
        'until', CASE WHEN n % 20000 = 10 THEN NULL ELSE '2026-04-15' END,
        'note', CASE WHEN n % 1000 = 10 THEN repeat('long ', 190) ELSE 'short' END)
      WHEN 2 THEN jsonb_build_object('amount', CASE WHEN v = 1 AND n % 20000 <> 10 THEN 7 ELSE 8 END) END,
    CASE WHEN m = 1 AND n % 20000 = 10 THEN ARRAY['until'] END
  FROM generate_series(0, ${conversationCount - 1}) n, (VALUES (0, 1), (0, 2), (1, 1), (2, 1), (2, 2)) monitors(m, v)
  WHERE n % CASE WHEN m = 2 THEN 10 WHEN m = 1 THEN 5 WHEN v = 2 THEN 1000 ELSE 1 END = CASE WHEN v = 2 AND m = 0 THEN 1 ELSE 0 END
  ORDER BY m, n, v`

// Bucket 0 contains a quarter of all conversations, bucket 1 a few of any age, bucket 2 the oldest ones, and bucket 3
// none.
const buckets = [
  `INSERT INTO buckets (organization_id, id, name, type, filters, reviewer_user_ids, reviews_per_conversation,
    monitor_ids, blind, note_on_disagreement)
    SELECT '${org}', ${idOf(7, 'n')}, 'Bucket ' || n, 'static', '{}', '{}', 1, '{}', false, false
    FROM generate_series(0, 3) n`,
  `INSERT INTO bucket_conversations (organization_id, bucket_id, conversation_id, reviews_wanted, added_at)
    SELECT '${org}', ${idOf(7, 'b')}, ${idOf(5, 'n')}, 1, now()
    FROM generate_series(0, ${conversationCount - 1}) n, generate_series(0, 2) b
    WHERE CASE b WHEN 0 THEN n % 4 = 2 WHEN 1 THEN n % 20000 = 11 ELSE n < 1000 END`,
]

// One in seven conversations has a common tag, a few of any age have a rare one, and all have another one.
const tags = `
  INSERT INTO conversation_tags (organization_id, conversation_id, tag)
  SELECT '${org}', ${idOf(5, 'n')}, tag
  FROM generate_series(0, ${conversationCount - 1}) n, unnest('{common,rare,other}'::text[]) tag
  WHERE CASE tag WHEN 'common' THEN n % 7 = 0 WHEN 'rare' THEN n % 5000 = 3 AND n % 7 > 0 ELSE true END`

const tables = ['conversations', 'transcripts', 'bucket_conversations', 'conversation_tags']

beforeAll(() => load(tables, [...names, conversations, transcripts, monitors, results, ...buckets, tags]), 180_000)

/** Returns the plans of the statements that `run` sends. */
const watch = async <T>(run: () => Promise<T>) => {
  const { nodes, ...read } = await explain(run)
  return {
    ...read,
    wholeTables: nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']),
    indexes: [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))].sort(),
    sorts: nodes.some((node) => node['Node Type'].includes('Sort')),
  }
}

/** A position within the period, like the cursor of one of its pages. */
const middle = `${startedAt(90_000)} ${id(5, 90_000)}`
const window = { since: startedAt(75_000), until: startedAt(100_000) }
/** A filter that is ready for SQL. */
type Ready = Selection<Similar[]>

const eq = (key: string, value: string): Ready => ({ metadata: [{ key, op: 'eq', value }] })

/** Returns the conversations with these numbers, newest first. */
const numbered = (count: number, includes: (number: number) => boolean, from = conversationCount - 1) => {
  const ids: string[] = []
  for (let number = from; number >= 0 && ids.length < count; number--) if (includes(number)) ids.push(id(5, number))
  return ids
}

const pageSize = 50
const agentOf = (number: number) => (number % 20_000 === 1 ? 49 : number % 49)
/** Returns the number of a conversation's transcript. Only one in five conversations has a transcript. */
const spoken = (number: number) => (number % 5 === 0 ? number / 5 : undefined)

type Case = [name: string, Ready, includes: (number: number) => boolean, index: string, maxPages: number]

/** Pages that are read in index order, which stops as soon as the page is full. */
const ordered: Case[] = [
  ['all', {}, () => true, 'conversations_time_idx', 20],
  ['of an agent', { agentIds: [agent(7)] }, (n) => agentOf(n) === 7, 'conversations_agent_idx', 20],
  ['of an agent with few', { agentIds: [agent(49)] }, (n) => agentOf(n) === 49, 'conversations_agent_idx', 20],
  ['of an agent with none', { agentIds: [agent(55)] }, () => false, 'conversations_agent_idx', 20],
  [
    'of a version',
    { agentVersionIds: [version(71)] },
    (n) => agentOf(n) === 7 && n % 10 === 1,
    'conversations_version_idx',
    20,
  ],
  ['of a company', { companyIds: [company(100)] }, (n) => n % 199 === 100, 'conversations_company_idx', 20],
  ['of a customer', { customerId: 'customer-4711' }, (n) => n % 25_000 === 4_711, 'conversations_customer_idx', 20],
  ['in a window', window, (n) => n >= 75_000 && n < 100_000, 'conversations_time_idx', 20],
  // The index skips these rows without reading them. Up to PostgreSQL 17, workers that scan it backward read each page
  // twice.
  [
    'that nobody made',
    { directions: ['outbound'], minDurationSeconds: 60 },
    () => false,
    'conversations_time_idx',
    5_500,
  ],
  ['that failed', { statuses: ['failed'] }, (n) => n % 30_000 === 3, 'conversations_status_idx', 20],
  ['to be reviewed', { reviewStatus: 'pending' }, (n) => n % 30_000 === 4, 'conversations_review_idx', 20],
]

/** Returns every nth conversation as a result of a search by meaning. */
const similar = (every: number): Similar[] =>
  Array.from({ length: conversationCount / every }, (_, at) => ({
    conversationId: id(5, at * every),
    similarity: 0.7,
    firstTurn: 0,
    lastTurn: 0,
  }))

/** Pages with rows that are among the newest conversations or come from an unordered index. */
const sought: Case[] = [
  ['of a common meaning', { similarTo: similar(25) }, (n) => n % 25 === 0, 'conversations_time_idx', 500],
  ['of a rare meaning', { similarTo: similar(25_000) }, (n) => n % 25_000 === 0, 'conversations_pkey', 500],
  [
    'of two agents',
    { agentIds: [agent(7), agent(8)] },
    (n) => [7, 8].includes(agentOf(n)),
    'conversations_time_idx',
    500,
  ],
  [
    'of two quiet agents',
    { agentIds: [agent(49), agent(55)] },
    (n) => agentOf(n) === 49,
    'conversations_agent_idx',
    500,
  ],
  [
    'of a busy group',
    { agentGroupIds: [group(0)] },
    (n) => agentOf(n) < 49 && agentOf(n) % 2 === 0,
    'conversations_time_idx',
    500,
  ],
  ['of a quiet group', { agentGroupIds: [group(1)] }, (n) => agentOf(n) === 49, 'conversations_agent_idx', 500],
  ['of a silent group', { agentGroupIds: [group(2)] }, () => false, 'conversations_agent_idx', 500],
  ['with a common value', eq('plan', 'gold'), (n) => n % 4 === 1, 'conversations_time_idx', 100],
  ['with a rare value', eq('order', '4711'), (n) => Math.floor(n / 10) === 4_711, 'conversations_metadata_idx', 500],
  ['with a value of none', eq('order', 'lost'), () => false, 'conversations_metadata_idx', 500],
  [
    'with a rare flag',
    { metadata: [{ key: 'vip', op: 'is_true' }] },
    (n) => n % 5_000 === 0,
    'conversations_metadata_idx',
    2_000,
  ],
  [
    'with a value that went out of use',
    { metadata: [{ key: 'pilot', op: 'is_true' }] },
    (n) => n < 25_000,
    'conversations_metadata_idx',
    2_000,
  ],
  ['with a common tag', { tags: ['common'] }, (n) => n % 7 === 0, 'conversations_time_idx', 2_000],
  [
    'with a rare tag',
    { tags: ['rare', 'unknown'] },
    (n) => n % 5_000 === 3 && n % 7 > 0,
    'conversation_tags_tag_idx',
    1_000,
  ],
  ['with a tag of none', { tags: ['unknown'] }, () => false, 'conversation_tags_tag_idx', 500],
  ['with a common word', { text: 'hello' }, (n) => spoken(n) !== undefined, 'conversations_time_idx', 3_000],
  ['with a rare word', { text: 'refund' }, (n) => (spoken(n) ?? 0) % 20_000 === 7, 'transcripts_words_idx', 1_000],
  ['with a word of nobody', { text: 'nobody' }, () => false, 'transcripts_words_idx', 1_000],
  [
    'with a common measure of sound',
    { sound: [{ name: 'responseMs.agent.p95', op: 'gte', value: 1_500 }] },
    (n) => n % 2 === 0 && n % 3_000 >= 1_500,
    'conversations_time_idx',
    2_000,
  ],
  ['with a phrase', { text: '"hello word7"' }, (n) => (spoken(n) ?? 0) % 1_999 === 7, 'transcripts_words_idx', 3_000],
  [
    'with a word that went out of use',
    { text: 'fax' },
    (n) => (spoken(n) ?? 5_000) < 5_000,
    'transcripts_words_idx',
    20_000,
  ],
  [
    'of an agent, with a rare word',
    { agentIds: [agent(15)], text: 'refund' },
    (n) => (spoken(n) ?? 0) % 20_000 === 7 && agentOf(n) === 15,
    'transcripts_words_idx',
    1_000,
  ],
  [
    'with a common result',
    { monitors: [{ id: monitor(0), result: 'affected' }] },
    (n) => n % 4 === 1 && n % 1_000 !== 1,
    'monitor_results_pkey',
    2_000,
  ],
  [
    'with a rare result',
    { monitors: [{ id: monitor(1), result: 'affected' }] },
    (n) => n % 20_000 === 10,
    'monitor_results_affected_idx',
    10_000,
  ],
  [
    'with a result that was taken back nearly everywhere',
    { monitors: [{ id: monitor(2), result: 'affected' }] },
    (n) => n % 20_000 === 10,
    'monitor_results_pkey',
    25_000,
  ],
  [
    'of a common category',
    { categories: { monitorId: monitor(1), any: ['common'] } },
    (n) => n % 5 === 0 && n % 20_000 !== 10,
    'monitor_results_pkey',
    3_000,
  ],
  [
    'of a rare category',
    { categories: { monitorId: monitor(1), any: ['rare', 'unknown'] } },
    (n) => n % 20_000 === 10,
    'monitor_results_categories_idx',
    2_000,
  ],
  [
    'of a category that was reverted nearly everywhere',
    { categories: { monitorId: monitor(2), any: ['reverted'] } },
    () => false,
    'monitor_results_categories_idx',
    30_000,
  ],
  [
    'with a common number in a field',
    { fields: [{ monitorId: monitor(1), field: 'amount', op: 'gte', value: '50' }] },
    (n) => n % 5 === 0 && (n % 100 >= 50 || n % 20_000 === 10),
    'monitor_results_pkey',
    3_000,
  ],
  [
    'with a rare number in a field',
    { fields: [{ monitorId: monitor(1), field: 'amount', op: 'gt', value: '1000' }] },
    (n) => n % 20_000 === 10,
    'monitor_results_fields_idx',
    10_000,
  ],
  [
    'with a rare text in a field',
    { fields: [{ monitorId: monitor(1), field: 'note', op: 'contains', value: 'LONG' }] },
    (n) => n % 1_000 === 10,
    'monitor_results_long_fields_idx',
    10_000,
  ],
  [
    'with an unsupported field',
    { fields: [{ monitorId: monitor(1), field: 'until', op: 'is_unsupported' }] },
    (n) => n % 20_000 === 10,
    'monitor_results_fields_idx',
    10_000,
  ],
  [
    'with a field that was reverted nearly everywhere',
    { fields: [{ monitorId: monitor(2), field: 'amount', op: 'eq', value: '7' }] },
    () => false,
    'monitor_results_fields_idx',
    25_000,
  ],
  ['in a large bucket', { bucketId: bucket(0) }, (n) => n % 4 === 2, 'bucket_conversations_pkey', 2_000],
  ['in a small bucket', { bucketId: bucket(1) }, (n) => n % 20_000 === 11, 'bucket_conversations_pkey', 1_000],
  ['in a bucket of the oldest', { bucketId: bucket(2) }, (n) => n < 1_000, 'bucket_conversations_pkey', 10_000],
  ['in an empty bucket', { bucketId: bucket(3) }, () => false, 'bucket_conversations_pkey', 100],
  [
    'with two results that never meet',
    {
      monitors: [
        { id: monitor(0), result: 'affected' },
        { id: monitor(1), result: 'affected' },
      ],
    },
    () => false,
    'monitor_results_pkey',
    25_000,
  ],
]

describe.each([
  ['the first page', undefined, conversationCount - 1],
  ['a page in the middle', middle, 89_999],
] as const)('%s of conversations', (_, after, from) => {
  const list = (selection: Ready) =>
    watch(() => listSelected(db, org, selection, { limit: pageSize, after })).then(({ answer, ...rest }) => ({
      ids: answer.map((row) => row.id),
      ...rest,
    }))

  it.each(ordered)('%s is read from an index in its order', async (_name, selection, includes, index, maxPages) => {
    const { ids, statements, pages, indexes, sorts } = await list(selection)
    expect(ids).toEqual(numbered(pageSize + 1, includes, from))
    expect({ statements, indexes, sorts }).toEqual({ statements: 1, indexes: [index], sorts: false })
    expect(pages).toBeLessThan(maxPages)
  })

  it.each(ordered.filter(([, selection]) => isReadInIndexOrder(org, selection)))(
    '%s is read with all its columns by one statement',
    async (_name, selection, includes, _, maxPages) => {
      const { answer, statements, pages } = await watch(() =>
        listInOrder(db, org, selection, { limit: pageSize, after }),
      )
      expect(answer.map((row) => row.id)).toEqual(numbered(pageSize + 1, includes, from))
      expect(statements).toBe(1)
      expect(pages).toBeLessThan(maxPages + pageSize)
    },
  )

  it('conversations without a suitable index are read in two steps', () => {
    const passedOver: Ready[] = [{ directions: ['outbound'] }, { text: 'hello' }, { minDurationSeconds: 60 }]
    expect(passedOver.filter((selection) => isReadInIndexOrder(org, selection))).toEqual([])
  })

  it.each(sought)('%s scans no whole table', async (_name, selection, includes, index, maxPages) => {
    const { ids, pages, indexes, wholeTables } = await list(selection)
    expect(ids).toEqual(numbered(pageSize + 1, includes, from))
    expect(indexes).toContain(index)
    expect(wholeTables.filter((table) => table !== 'monitors')).toEqual([])
    expect(pages).toBeLessThan(maxPages)
  })
})

// This excludes common words and the largest bucket. Counting those requires reading all text or all entries, and no
// index would avoid that.
describe('a count in a window', () => {
  it.each([...ordered, ...sought].filter(([, { text, bucketId }]) => text !== 'hello' && bucketId !== bucket(0)))(
    '%s scans no whole table',
    async (_name, selection, includes) => {
      const { answer, wholeTables } = await watch(() => countSelected(db, org, { ...selection, ...window }))
      expect(answer).toBe(numbered(Number.POSITIVE_INFINITY, (n) => n >= 75_000 && includes(n), 99_999).length)
      expect(wholeTables.filter((table) => table !== 'agent_group_members' && table !== 'monitors')).toEqual([])
    },
  )
})

type SortedCase = [
  name: string,
  Sorting,
  Ready,
  value: (number: number) => number | null,
  includes: (number: number) => boolean,
  index: string,
  maxPages: number,
]

const byDuration = { kind: 'durationSeconds' } as const
const byScore = { kind: 'score', monitorId: monitor(1) } as const
const bySilence: Sorting['key'] = { kind: 'signal', path: ['longestSilenceMs'] }
const byResponse: Sorting['key'] = { kind: 'sound', path: ['responseMs', 'agent', 'p95'] }
const scoreOf = (n: number) => (n % 5 === 0 ? n % 1_009 : null)
const everyone = () => true

const sorted: SortedCase[] = [
  [
    'the longest',
    { key: byDuration, direction: 'desc' },
    {},
    (n) => n % 900,
    everyone,
    'conversations_duration_idx',
    200,
  ],
  [
    'the shortest',
    { key: byDuration, direction: 'asc' },
    {},
    (n) => n % 900,
    everyone,
    'conversations_duration_idx',
    200,
  ],
  [
    'the longest of an agent',
    { key: byDuration, direction: 'desc' },
    { agentIds: [agent(7)] },
    (n) => n % 900,
    (n) => agentOf(n) === 7,
    'conversations_agent_idx',
    15_000,
  ],
  [
    'the longest of a customer',
    { key: byDuration, direction: 'desc' },
    { customerId: 'customer-4711' },
    (n) => n % 900,
    (n) => n % 25_000 === 4_711,
    'conversations_customer_idx',
    6_000,
  ],
  [
    'the longest in a window',
    { key: byDuration, direction: 'desc' },
    window,
    (n) => n % 900,
    (n) => n >= 75_000 && n < 100_000,
    'conversations_duration_idx',
    5_000,
  ],
  [
    'the oldest',
    { key: { kind: 'startedAt' }, direction: 'asc' },
    {},
    (n) => n,
    everyone,
    'conversations_time_idx',
    20,
  ],
  [
    'the oldest with a common word',
    { key: { kind: 'startedAt' }, direction: 'asc' },
    { text: 'hello' },
    (n) => n,
    (n) => spoken(n) !== undefined,
    'conversations_time_idx',
    9_000,
  ],
  [
    'the highest scores',
    { key: byScore, direction: 'desc' },
    {},
    scoreOf,
    (n) => n % 5 === 0,
    'monitor_results_score_idx',
    2_000,
  ],
  [
    'the lowest scores',
    { key: byScore, direction: 'asc' },
    {},
    scoreOf,
    (n) => n % 5 === 0,
    'monitor_results_score_idx',
    2_000,
  ],
  [
    'the highest scores of a customer',
    { key: byScore, direction: 'desc' },
    { customerId: 'customer-4710' },
    scoreOf,
    (n) => n % 25_000 === 4_710,
    'conversations_customer_idx',
    20_000,
  ],
  [
    'the longest silence in a window',
    { key: bySilence, direction: 'desc' },
    window,
    (n) => n % 5_000,
    (n) => n >= 75_000 && n < 100_000,
    'conversations_time_idx',
    6_000,
  ],
  [
    'the slowest responses in the recordings of a window',
    { key: byResponse, direction: 'desc' },
    { ...window, sound: [{ name: 'responseMs.agent.p95', op: 'gte', value: 1_500 }] },
    (n) => n % 3_000,
    (n) => n >= 75_000 && n < 100_000 && n % 2 === 0 && n % 3_000 >= 1_500,
    'conversations_time_idx',
    6_000,
  ],
]

describe('a sorted page', () => {
  it.each(sorted)(
    'of %s reads no more than it has to',
    async (_name, sorting, selection, value, includes, index, maxPages) => {
      const sign = sorting.direction === 'asc' ? 1 : -1
      const numbers = Array.from({ length: conversationCount }, (_, n) => n)
        .filter(includes)
        .sort((a, b) => sign * ((value(a) ?? 0) - (value(b) ?? 0) || a - b))
      const read = (after: string | undefined) =>
        watch(() => listSorted(db, org, selection, sorting, { limit: pageSize, after }))
      const first = await read(undefined)
      const last = first.answer[pageSize - 1]
      const second = last && (await read(positionOf(last)))
      for (const [page, from] of [
        [first, 0],
        [second, pageSize],
      ] as const) {
        if (!page) continue
        const wanted = numbers.slice(from, from + pageSize + 1).map((n) => id(5, n))
        expect(page.answer.map((row) => row.id)).toEqual(wanted)
        expect(page.indexes).toContain(index)
        expect(page.wholeTables).toEqual([])
        expect(page.pages).toBeLessThan(maxPages)
      }
    },
  )
})
