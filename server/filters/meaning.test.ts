// Tests filters by meaning wherever filters work, with the built-in model.

import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeAlertRule, makeConversations, makeLaunch, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { depsWith } from '../../test/support/deps-with.ts'
import { exportsOf } from '../../test/support/exports/exports.ts'
import { readJsonl } from '../../test/support/exports/file-readers.ts'
import { checkAlertRules } from '../alert-rules/jobs.ts'
import { hourMs, minuteMs } from '../platform/durations.ts'
import { ApiError } from '../platform/errors.ts'
import { orgIdOf } from '../platform/ids.ts'
import { explainFilter } from './explain.ts'
import { type Filter, parseFilter } from './filter.ts'
import { resolve } from './resolve.ts'

const leo = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'

const issuesOf = (filter: Filter) => {
  try {
    parseFilter(filter)
  } catch (error) {
    if (error instanceof ApiError) return error.details?.issues
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a condition on the meaning', () => {
  it('is about either a text, a conversation, or a turn', () => {
    for (const similarTo of [
      { text: 'refund not received' },
      { text: 'refund', minimumSimilarity: 0 },
      { conversationId: leo },
      { conversationId: leo, turn: 0, minimumSimilarity: 1 },
    ]) {
      expect(parseFilter({ similarTo })).toEqual({ similarTo })
    }
    expect(parseFilter({ similarTo: { conversationId: leo.toUpperCase() } })).toEqual({
      similarTo: { conversationId: leo },
    })
    expect(issuesOf({ similarTo: {} })).toEqual([{ path: 'similarTo', message: 'needs either text or conversationId' }])
    expect(issuesOf({ similarTo: { text: 'refund', conversationId: leo } })).toMatchObject([{ path: 'similarTo' }])
    expect(issuesOf({ similarTo: { text: 'refund', turn: 1 } })).toMatchObject([{ path: 'similarTo.turn' }])
    expect(issuesOf({ anyOf: [{ similarTo: { text: '…?' } }] })).toMatchObject([{ path: 'anyOf[0].similarTo.text' }])
  })

  it('occurs at most three times in a filter', () => {
    const similarTo = (text: string) => ({ similarTo: { text } })
    const three: Filter = { ...similarTo('a'), anyOf: [similarTo('b')], exclude: { anyOf: [similarTo('c')] } }
    expect(parseFilter(three)).toEqual({ ...similarTo('a'), anyOf: [similarTo('b')], exclude: similarTo('c') })
    const four: Filter = { ...three, anyOf: [similarTo('b'), similarTo('d')] }
    expect(issuesOf(four)).toMatchObject([{ path: 'similarTo', message: expect.stringContaining('3 times') }])
  })

  it.each<[Filter['similarTo'], string]>([
    [{ text: 'refund not received' }, 'conversations, meaning “refund not received”'],
    [{ conversationId: leo, minimumSimilarity: 0.5 }, `conversations, similar to conversation ${leo} (at least 0.5)`],
    [{ conversationId: leo, turn: 2 }, `conversations, similar to turn 3 of conversation ${leo}`],
  ])('is described: %j', (similarTo, words) => {
    expect(explainFilter(parseFilter({ ...(similarTo && { similarTo }) }), new Map())).toBe(words)
  })
})

const server = await testServer({ EARSHOT_EMBEDDINGS: 'on' })
const { call, clock, deps } = server
const { ask, fetchFile } = exportsOf(server, 'conversation-exports')

const refunds = [
  'You promised me a refund three weeks ago and I still have not received the money.',
  'My refund never arrived.',
  'I am still waiting for my money back.',
]
const others = [
  'I would like to book a dentist appointment for Tuesday morning.',
  'What are your opening hours on Saturday?',
  'The app crashes when I open the map.',
]
const meaning = { text: 'I have not received my refund', minimumSimilarity: 0.4 }

const saying = (text: string, at = 0) => ({
  startedAt: new Date(clock.now().getTime() - (60 - at) * minuteMs).toISOString(),
  transcript: [
    { role: 'agent', text: 'Hello, how can I help you?' },
    { role: 'customer', text },
  ],
})

let key: string
let ids: string[]

beforeAll(async () => {
  key = (await makeOrganization(server)).key
  ids = await makeConversations(server, key, [...refunds, ...others].map(saying))
  await server.drain()
}, 60_000)

const similar = () => ids.slice(0, refunds.length).toSorted()

type Found = { id: string; similarPassage?: { similarity: number; firstTurn: number; lastTurn: number } }
type Page = { data: Found[]; nextCursor: string | null }

const search = (filter: object, more: object = {}, as = key) =>
  call<Page>('POST', '/v1/conversations/search', { key: as, body: { filter, ...more } })

const idsOf = async (filter: object, more: object = {}, as = key) => {
  const { status, text, body } = await search(filter, more, as)
  expect(status, text).toBe(200)
  return body.data.map(({ id }) => id).sort()
}

const countOf = async (filter: object, as = key) => {
  const { body } = await call('POST', '/v1/conversations/count', { key: as, body: { filter } })
  return body.count
}

describe('a list', () => {
  it('contains the conversations in which somebody said something like this', async () => {
    expect(await idsOf({ similarTo: meaning })).toEqual(similar())
    expect(await countOf({ similarTo: meaning })).toBe(refunds.length)
    const { body } = await search({ similarTo: meaning })
    for (const { similarPassage } of body.data) {
      expect(similarPassage).toMatchObject({ firstTurn: 1, lastTurn: 1 })
      expect(similarPassage?.similarity).toBeGreaterThanOrEqual(0.4)
    }
    expect((await search({})).body.data[0]).not.toHaveProperty('similarPassage')
  })

  it('sorts by similarity, page by page', async () => {
    const sort = { by: 'similarity' }
    const all = (await search({ similarTo: meaning }, { sort })).body.data
    const similarities = all.map(({ similarPassage }) => similarPassage?.similarity ?? 0)
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a))
    expect(all.map(({ id }) => id).toSorted()).toEqual(similar())
    const paged: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await search({ similarTo: meaning }, { sort, limit: 1, ...(cursor && { cursor }) })
      paged.push(...page.body.data.map(({ id }) => id))
      cursor = page.body.nextCursor
    }
    expect(paged).toEqual(all.map(({ id }) => id))
    const ascending = await search({ similarTo: meaning }, { sort: { ...sort, direction: 'asc' } })
    expect(ascending.body.data.map(({ id }) => id)).toEqual(paged.toReversed())
    const without = await search({ text: 'refund' }, { sort })
    expect(without.status).toBe(400)
    expect(without.body).toMatchObject({ details: { issues: [{ path: 'sort.by' }] } })
  })

  it('combines the meaning with other conditions', async () => {
    const [first = '', second = '', third = ''] = ids
    expect(await idsOf({ similarTo: meaning, text: 'money' })).toEqual([first, third].sort())
    expect(await idsOf({ similarTo: meaning, text: 'money' }, { sort: { by: 'similarity' } })).toEqual(
      [first, third].sort(),
    )
    expect(await idsOf({ exclude: { similarTo: meaning } })).toEqual(ids.slice(refunds.length).sort())
    const booking = { similarTo: { text: 'Can I make an appointment?', minimumSimilarity: 0.4 } }
    expect(await idsOf({ anyOf: [{ similarTo: meaning }, booking] })).toEqual([...similar(), ids[3]].sort())
    expect(await idsOf({ similarTo: meaning, conversationIds: [second] })).toEqual([second])
  })

  it('finds conversations like another one, and like one of its turns', async () => {
    const [first = '', ...alike] = ids.slice(0, refunds.length)
    const like = { conversationId: first, minimumSimilarity: 0.4 }
    expect(await idsOf({ similarTo: like })).toEqual(alike.toSorted())
    expect(await idsOf({ similarTo: { ...like, turn: 1 } })).toEqual(alike.toSorted())
    for (const similarTo of [{ conversationId: randomUUID() }, { conversationId: first, turn: 99 }]) {
      expect(await idsOf({ similarTo }), JSON.stringify(similarTo)).toEqual([])
    }
  })

  it('belongs to its organization', async () => {
    const stranger = await makeOrganization(server)
    const [own = ''] = await makeConversations(server, stranger.key, [saying('Where is my refund?')])
    await server.drain()
    expect(await idsOf({ similarTo: meaning }, {}, stranger.key)).toEqual([own])
    for (const conversationId of [ids[0], randomUUID()]) {
      const similarTo = { conversationId, minimumSimilarity: 0 }
      expect(await idsOf({ similarTo }, {}, stranger.key)).toEqual([])
      expect(await countOf({ similarTo: { ...similarTo, turn: 1 } }, stranger.key)).toBe(0)
    }
  })
})

it('the nearest conversations are taken from those that the other conditions select', async () => {
  const { id } = (await call('GET', '/v1/organization', { key })).body
  const { findSimilar } = deps.meanings
  // The limit is one conversation, so conditions that are checked after the search would leave none.
  const one = depsWith(deps, {
    meanings: {
      ...deps.meanings,
      findSimilar: (org, about, options) => findSimilar(org, about, { ...options, limit: 1 }),
    },
  })
  const similarTo = { ...meaning, minimumSimilarity: 0 }
  const startOf = async (at: number) => (await call('GET', `/v1/conversations/${ids[at]}`, { key })).body.startedAt
  const [second, third] = [await startOf(1), await startOf(2)]
  const nearestOf = async (filter: Filter, among?: Parameters<typeof resolve>[3]) => {
    const { similarTo: own, anyOf, exclude } = await resolve(one, orgIdOf(id), parseFilter(filter), among)
    const found = own ?? anyOf?.[0]?.similarTo ?? exclude?.similarTo ?? exclude?.anyOf?.[0]?.similarTo
    return found?.map(({ conversationId }) => conversationId)
  }
  const within = { since: second, until: third }
  const conversationIds = ids.slice(4, 5)
  expect(await nearestOf({ similarTo, ...within })).toEqual([ids[1]])
  expect(await nearestOf({ similarTo }, { conversationIds })).toEqual([ids[4]])
  expect(await nearestOf({ ...within, anyOf: [{ similarTo }, { text: 'money' }] })).toEqual([ids[1]])
  expect(await nearestOf({ anyOf: [{ similarTo, conversationIds }, { text: 'money' }] })).toEqual([ids[4]])
  expect(await nearestOf({ ...within, exclude: { similarTo } })).toEqual([ids[1]])
  expect(await nearestOf({ exclude: { similarTo, conversationIds } })).toEqual([ids[4]])
  expect(await nearestOf({ exclude: { conversationIds, anyOf: [{ similarTo }, { text: 'money' }] } })).toEqual([ids[4]])
  // Conditions in other parts of the filter don't narrow the search.
  expect(await nearestOf({ similarTo, exclude: { conversationIds } })).toEqual(await nearestOf({ similarTo }))
})

it('saved views keep the condition, and can sort by similarity only with one', async () => {
  const view = { name: 'Refunds', filter: { similarTo: meaning }, sort: { by: 'similarity' } }
  const { status, body } = await call('POST', '/v1/saved-views', { key, body: view })
  expect(status).toBe(201)
  expect(body).toMatchObject({ filter: { similarTo: meaning }, explanation: expect.stringContaining('meaning “') })
  const path = `/v1/saved-views/${body.id}`
  expect((await call('PATCH', path, { key, body: { filter: {} } })).status).toBe(400)
  expect((await call('GET', path, { key })).body.filter).toEqual({ similarTo: meaning })
  expect((await call('PATCH', path, { key, body: { filter: {}, sort: null } })).status).toBe(200)
})

it('exports contain the similar conversations, in the order of their similarity', async () => {
  const sorted = (await search({ similarTo: meaning }, { sort: { by: 'similarity' } })).body.data.map(({ id }) => id)
  const config = { filter: { similarTo: meaning }, columns: [{ key: 'startedAt' }], sort: { by: 'similarity' } }
  const preview = await call('POST', '/v1/conversation-exports/preview', { key, body: { config } })
  expect(preview.body, preview.text).toMatchObject({ count: refunds.length })
  const asked = await ask(key, { ...config, format: 'jsonl' })
  expect(asked.status, asked.text).toBe(202)
  await server.drain()
  const file = await fetchFile(key, asked.body.id)
  const { names, rows } = readJsonl(Buffer.from(await file.arrayBuffer()))
  const at = names.indexOf('conversation_id')
  // Nearest first: the default direction is descending.
  expect(rows.map((row) => row[at])).toEqual(sorted)
})

it('analytics and comparisons count from the conversations', async () => {
  const query = { measure: { kind: 'volume' }, filter: { similarTo: meaning, period: { last: '1d' } } }
  const { status, text, body } = await call('POST', '/v1/analytics/query', { key, body: query })
  expect(status, text).toBe(200)
  expect(body.groups[0].value).toBe(refunds.length)
  const sides = { a: { similarTo: meaning }, b: { exclude: { similarTo: meaning } } }
  const compared = await call('POST', '/v1/analytics/compare', { key, body: sides })
  expect(compared.body, compared.text).toMatchObject({ a: { conversations: 3 }, b: { conversations: 3 } })
})

it('alert rules count the similar conversations at each check', async () => {
  const condition = { kind: 'volume', direction: 'above', threshold: 2 }
  const rule = (similarTo: object) =>
    makeAlertRule(server, key, { condition, filter: { similarTo }, windowMinutes: 24 * 60, minimumSample: 1 })
  const [met, clear] = [await rule(meaning), await rule({ text: 'The app crashes', minimumSimilarity: 0.5 })]
  await deps.jobs.enqueue(deps.db, checkAlertRules, {})
  await deps.jobs.drain([checkAlertRules], deps)
  const incidents = async ({ id }: { id: string }) =>
    (await call('GET', `/v1/alert-incidents?ruleId=${id}`, { key })).body.data
  expect(await incidents(met)).toMatchObject([{ value: refunds.length }])
  expect(await incidents(clear)).toEqual([])
})

it('bulk actions take the similar conversations', async () => {
  const body = { filter: { similarTo: meaning }, action: { kind: 'tag', add: ['refund-missing'] } }
  const { status, text } = await call('POST', '/v1/conversations/bulk', { key, body })
  expect(status, text).toBe(202)
  await server.drain()
  expect(await idsOf({ tags: ['refund-missing'] })).toEqual(similar())
})

describe('new conversations are compared as they arrive', () => {
  it('by buckets', async () => {
    const own = (await makeOrganization(server)).key
    const bucketOf = async (filters: object) => {
      const body = { name: randomUUID(), type: 'dynamic', filters }
      return (await call('POST', '/v1/buckets', { key: own, body })).body.id as string
    }
    const [like, unlike] = [await bucketOf({ similarTo: meaning }), await bucketOf({ exclude: { similarTo: meaning } })]
    const [refund, other] = await makeConversations(server, own, [saying(refunds[0] ?? ''), saying(others[0] ?? '')])
    await server.drain()
    const inBucket = async (id: string) =>
      (await call('GET', `/v1/buckets/${id}/conversations`, { key: own })).body.data.map(
        ({ conversationId }: { conversationId: string }) => conversationId,
      )
    expect([await inBucket(like), await inBucket(unlike)]).toEqual([[refund], [other]])
  })

  it('by monitors, and by their runs over stored conversations', async () => {
    const own = (await makeOrganization(server)).key
    const make = (name: string) =>
      makeMonitor(server, own, {
        name,
        kind: 'rule',
        definition: { expression: 'true' },
        scope: { similarTo: meaning },
      })
    const monitor = await make('On arrival')
    const [refund] = await makeConversations(server, own, [saying(refunds[1] ?? ''), saying(others[1] ?? '')])
    await server.drain()
    const resultsOf = async (id: string) =>
      (await call('GET', `/v1/monitors/${id}/results`, { key: own })).body.data.map(
        ({ conversationId }: { conversationId: string }) => conversationId,
      )
    expect(await resultsOf(monitor.id)).toEqual([refund])
    const later = await make('Later')
    const window = {
      since: new Date(clock.now().getTime() - 2 * hourMs).toISOString(),
      until: new Date(clock.now().getTime() + hourMs).toISOString(),
    }
    const runs = `/v1/monitors/${later.id}/evaluations`
    const estimate = await call('POST', runs, { key: own, body: { ...window, dryRun: true } })
    expect(estimate.body, estimate.text).toMatchObject({ conversations: 1 })
    expect((await call('POST', runs, { key: own, body: window })).status).toBe(202)
    await server.drain()
    expect(await resultsOf(later.id)).toEqual([refund])
  })
})

it('experiments refuse monitors with a scope that depends on the meaning', async () => {
  const own = (await makeOrganization(server)).key
  const monitor = await makeMonitor(server, own, { scope: { similarTo: meaning } })
  const launch = await makeLaunch(server, own)
  const body = { ...launch, outcomeMetricIds: [monitor.id], primaryMetricId: monitor.id }
  const answer = await call('POST', '/v1/experiments', { key: own, body })
  expect(answer.status).toBe(400)
  expect(answer.body.details.issues).toMatchObject([{ path: 'outcomeMetricIds[0]' }])
})

describe('similar findings', () => {
  const file = async (as: string, title: string) =>
    (await call('POST', '/v1/findings', { key: as, body: { title } })).body.id as string

  const similarTo = async (title: string, as: string, more: object = {}) => {
    const answer = await call('POST', '/v1/findings/similar', { key: as, body: { title, ...more } })
    expect(answer.status, answer.text).toBe(200)
    return answer.body.data.map(({ finding }: { finding: { id: string } }) => finding.id)
  }

  it('are open and mean the same', async () => {
    const own = (await makeOrganization(server)).key
    const refund = await file(own, 'Refunds are promised but never arrive')
    await file(own, 'The app crashes on the map')
    const closed = await file(own, 'Customers do not receive their refunds')
    await call('POST', `/v1/findings/${closed}/triage`, { key: own, body: { status: 'ignored' } })
    expect(await similarTo('Customers wait for refunds that were promised', own)).toEqual([refund])
    expect(await similarTo('Agents speak too fast', own)).toEqual([])
    const stranger = (await makeOrganization(server)).key
    expect(await similarTo('Customers wait for refunds that were promised', stranger)).toEqual([])
  })

  it('are at most five, the most similar first', async () => {
    const own = (await makeOrganization(server)).key
    const titles = ['late', 'too late', 'very late', 'always late', 'much too late', 'late again']
    for (const title of titles) await file(own, `Deliveries are ${title}`)
    const exact = await file(own, 'Deliveries arrive late')
    const found = await similarTo('Deliveries arrive late', own)
    expect(found).toHaveLength(5)
    expect(found[0]).toBe(exact)
  })
})

it('while embeddings are disabled, requests are refused, and arriving conversations have no meaning', async () => {
  const off = await testServer({ EARSHOT_EMBEDDINGS: 'off' })
  const own = (await makeOrganization(off)).key
  const post = (path: string, body: object) => off.call('POST', path, { key: own, body })
  const filter = { exclude: { similarTo: meaning } }
  const refused = [
    await post('/v1/conversations/search', { filter }),
    await post('/v1/conversations/count', { filter }),
    await post('/v1/findings/similar', { title: 'Refunds never arrive' }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([503, 503, 503])
  const bucketOf = async (filters: object) =>
    (await post('/v1/buckets', { name: randomUUID(), type: 'dynamic', filters })).body.id as string
  const buckets = [await bucketOf({ similarTo: meaning }), await bucketOf({ channels: ['call'] })]
  await makeConversations(off, own, [saying(refunds[0] ?? '')])
  await off.drain()
  const sizes = buckets.map(
    async (id) => (await off.call('GET', `/v1/buckets/${id}/conversations`, { key: own })).body.data.length,
  )
  expect(await Promise.all(sizes)).toEqual([0, 1])
})
