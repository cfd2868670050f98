import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeAgent, makeConversations, makeMonitor, makeOrganization } from '../../../test/make.ts'
import { type TestAnswer, testServer } from '../../../test/server.ts'

const server = await testServer()
const { call } = server

type ListedConversation = { id: string; startedAt: string; durationSeconds: number | null }
type Page = { data: ListedConversation[]; nextCursor: string | null }

let key = ''
let monitorId = ''
let agentId = ''
/** The value of each conversation by the name of a sort. */
const values = new Map<string, Map<string, number | null>>()
const starts = new Map<string, string>()

const count = 24

beforeAll(async () => {
  const org = await makeOrganization(server)
  key = org.key
  monitorId = (await makeMonitor(server, key)).id
  agentId = (await makeAgent(server, key)).id
  const other = await makeAgent(server, key)
  const numbers = Array.from({ length: count }, (_, number) => number)
  const startOf = (number: number) => `2026-11-0${1 + (number % 5)}T00:00:00.000Z`
  const ids = await makeConversations(
    server,
    key,
    numbers.map((number) => ({
      agent: undefined,
      agentId: number % 3 === 0 ? other.id : agentId,
      externalId: `call-${number}`,
      startedAt: startOf(number),
      ...(number % 4 > 0 && { durationSeconds: (number % 3) * 60 }),
      transcript: Array.from({ length: 1 + (number % 6) }, () => ({ role: 'customer', text: 'hello' })),
    })),
  )
  const note = (name: string, read: (number: number) => number | null) =>
    values.set(name, new Map(numbers.map((number) => [ids[number] as string, read(number)])))
  for (const number of numbers) starts.set(ids[number] as string, startOf(number))
  note('startedAt', (number) => Date.parse(startOf(number)))
  note('durationSeconds', (number) => (number % 4 > 0 ? (number % 3) * 60 : null))
  note('signal:turns.customer', (number) => 1 + (number % 6))
  note('metric:csat', (number) => (number % 5 < 3 ? (number % 5) / 2 : number % 5 === 3 ? 1 : null))
  const metrics = numbers
    .filter((number) => number % 5 < 4)
    .map((number) => ({
      conversationId: ids[number],
      key: 'csat',
      value: number % 5 === 3 ? true : (number % 5) / 2,
    }))
  metrics.push({ conversationId: ids[4], key: 'csat', value: 'good' as unknown as number })
  await call('POST', '/v1/customer-metrics', { key, body: { metrics } })
  const results = numbers
    .filter((number) => number % 2 === 0)
    .map((number) => ({ monitorId, conversationId: ids[number], result: 'affected', score: (number % 7) - 3 }))
  await call('POST', '/v1/monitor-results', { key, body: { results } })
  // A newer version scores some conversations again and leaves others unscored.
  const again = (number: number) => (number % 8 === 0 ? null : 0.5)
  for (const number of numbers.filter((each) => each % 4 === 0)) {
    await sql`
      INSERT INTO monitor_results (organization_id, monitor_id, conversation_id, call_started_at, evaluated_at,
        monitor_version, status, result, score, evidence, evaluator)
      VALUES (${org.id}, ${monitorId}, ${ids[number]}, ${startOf(number)}, now(), 2,
        ${again(number) === null ? 1 : 0}, ${again(number) === null ? null : 1}, ${again(number)}, '[]', 'test')`.execute(
      server.deps.db,
    )
  }
  note('score', (number) => (number % 2 === 1 ? null : number % 4 === 0 ? again(number) : (number % 7) - 3))
}, 60_000)

const search = (body: object) => call<Page>('POST', '/v1/conversations/search', { key, body: { filter: {}, ...body } })

const readAll = async (body: object) => {
  const found: ListedConversation[] = []
  for (let cursor: string | undefined; ; ) {
    const answer: TestAnswer<Page> = await search({ ...body, ...(cursor && { cursor }) })
    expect(answer.status, answer.text).toBe(200)
    found.push(...answer.body.data)
    if (answer.body.nextCursor === null) return found
    cursor = answer.body.nextCursor
  }
}

const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Returns all conversations in the order of a sort. Conversations with equal values are ordered by start and ID, and
 * those without a value come last.
 */
const expected = (name: string, direction: 'asc' | 'desc', includes: (id: string) => boolean) => {
  const sign = direction === 'asc' ? 1 : -1
  const valueIn = (id: string) => values.get(name)?.get(id) ?? null
  return [...starts.keys()].filter(includes).sort((a, b) => {
    const [one, two] = [valueIn(a), valueIn(b)]
    if (one === null || two === null) {
      if (one !== two) return one === null ? 1 : -1
    } else if (one !== two) return sign * (one - two)
    return sign * (compare(starts.get(a) as string, starts.get(b) as string) || compare(a, b))
  })
}

const window = { since: '2026-11-02T00:00:00Z', until: '2026-11-05T00:00:00Z' }
const inWindow = (id: string) => {
  const start = starts.get(id) as string
  return start >= '2026-11-02' && start < '2026-11-05'
}

describe.each(['startedAt', 'durationSeconds', 'score', 'signal:turns.customer', 'metric:csat'])('by %s', (name) => {
  const by = () => (name === 'score' ? `score:${monitorId.toUpperCase()}` : name)

  it.each(['asc', 'desc'] as const)('%s, page by page', async (direction) => {
    for (const limit of [1, 4, 7, 200]) {
      const found = await readAll({ sort: { by: by(), direction }, limit })
      expect(
        found.map(({ id }) => id),
        `${limit} per page`,
      ).toEqual(expected(name, direction, () => true))
    }
  })

  it.each(['asc', 'desc'] as const)('%s, with filters', async (direction) => {
    const filters: [object, (found: ListedConversation) => boolean][] = [
      [window, ({ id }) => inWindow(id)],
      [{ agentIds: [agentId] }, ({ id }) => byAgent.has(id)],
      [{ text: 'hello', ...window }, ({ id }) => inWindow(id)],
      [{ period: { last: '9999d' } }, () => true],
      [{ minDurationSeconds: 60 }, ({ durationSeconds }) => (durationSeconds ?? 0) >= 60],
      [{ customerId: 'nobody' }, () => false],
    ]
    const all = await readAll({})
    const byAgent = new Set((await readAll({ filter: { agentIds: [agentId] } })).map(({ id }) => id))
    const found = new Map(all.map((row) => [row.id, row]))
    for (const [filter, includes] of filters) {
      const ids = (await readAll({ filter, sort: { by: by(), direction }, limit: 5 })).map(({ id }) => id)
      const wanted = expected(name, direction, (id) => includes(found.get(id) as ListedConversation))
      expect(ids, JSON.stringify(filter)).toEqual(wanted)
    }
  })
})

it('descending is the default', async () => {
  const [first] = (await search({ sort: { by: 'durationSeconds' }, limit: 1 })).body.data
  expect(first?.durationSeconds).toBe(120)
})

it('a cursor belongs to its order', async () => {
  const { nextCursor } = (await search({ sort: { by: 'durationSeconds' }, limit: 1 })).body
  expect((await search({ sort: { by: 'durationSeconds', direction: 'desc' }, cursor: nextCursor })).status).toBe(200)
  for (const sort of [undefined, { by: 'durationSeconds', direction: 'asc' }, { by: 'startedAt' }]) {
    expect((await search({ sort, cursor: nextCursor })).status).toBe(400)
  }
})

it('an unknown order is rejected with its field', async () => {
  const stranger = await makeOrganization(server)
  const foreign = await makeMonitor(server, stranger.key)
  for (const by of [
    'duration',
    'score:',
    'score:leo',
    `score:${randomUUID()}`,
    `score:${foreign.id}`,
    'signal:mood',
    'signal:turns',
    'signal:constructor',
    'metric:',
    `metric:${'x'.repeat(121)}`,
  ]) {
    const { status, body } = await search({ sort: { by } })
    expect(status, by).toBe(400)
    expect((body as unknown as { details: { issues: object[] } }).details.issues).toMatchObject([{ path: 'sort.by' }])
  }
})
