// Tests topics from stored conversations to API responses, with the built-in model.

import { beforeAll, describe, expect, it } from 'vitest'
import { makeConversations, makeKey, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { depsWith } from '../../test/support/deps-with.ts'
import { offerConversations } from '../buckets/arrivals/jobs.ts'
import { embedNew, embedOlder } from '../embeddings/lifecycle.ts'
import { dayMs, hourMs } from '../platform/durations.ts'
import { newId } from '../platform/ids.ts'
import { assignOlder, buildDaily } from './jobs.ts'

const server = await testServer({ EARSHOT_EMBEDDINGS: 'on' })
const { call, clock, deps } = server
const { db, jobs } = deps

const requests = {
  card: [
    'my credit card was stolen, please block it',
    'I lost my credit card and need to block it',
    'please block my stolen card right now',
    'someone has stolen my credit card',
    'I want to block my credit card because I lost it',
  ],
  pizza: [
    'I want to order two large pizzas with extra cheese',
    'can I order a pizza with mushrooms',
    'one large pizza with ham and cheese to go',
    'I would like to order a small pizza with olives',
    'I want to order a pizza for delivery',
  ],
  weather: [
    'what will the weather be like tomorrow in Paris',
    'will it rain tomorrow',
    'tell me the weather forecast for Berlin',
    'is it going to rain in London this weekend',
    'what is the weather forecast for tomorrow',
  ],
  flight: [
    'I need to book a flight to New York on Friday',
    'please book a flight to Tokyo for two people',
    'can you book me a flight from Rome to Madrid',
    'book a cheap flight to Lisbon next week',
    'I want to change my flight to Chicago',
  ],
}
type Name = keyof typeof requests
const names = Object.keys(requests) as Name[]
const endings = ['', ' today', ' as soon as possible', ' for my wife', ' for me and my brother', ' if that is possible']

const saying = (text: string, daysAgo: number) => ({
  startedAt: new Date(clock.now().getTime() - daysAgo * dayMs - hourMs).toISOString(),
  transcript: [
    { role: 'agent', text: 'Hello, how can I help you?' },
    { role: 'customer', text },
  ],
})

/** Returns this many conversations with a request. */
const about = (name: Name, count: number, daysAgo = 1) =>
  Array.from({ length: count }, (_, at) => {
    const texts = requests[name]
    return saying(`${texts[at % texts.length]}${endings[Math.floor(at / texts.length) % endings.length]}`, daysAgo)
  })

const embed = () => jobs.drain([embedNew], deps)

const build = async () => {
  await jobs.enqueue(db, embedOlder, {})
  await jobs.drain([embedOlder], deps)
  await jobs.enqueue(db, buildDaily, {})
  return jobs.drain([buildDaily, assignOlder], deps)
}

type Topic = {
  id: string
  label: string
  terms: string[]
  isGroup: boolean
  groupId: string | null
  conversations: number
  surprise: number | null
  monitors: { id: string; name: string }[]
}

const open = async () => {
  const { id: org, key } = await makeOrganization(server)
  const list = async (query = '') => {
    const { status, text, body } = await call('GET', `/v1/topics${query}`, { key })
    expect(status, text).toBe(200)
    return body as { data: Topic[]; builtAt: string | null; missing: number; conversations: number; outliers: object }
  }
  const find = async (name: Name, query = '') => {
    const term = { card: /card/, pizza: /pizza/, weather: /weather|rain/, flight: /flight/ }[name]
    const found = (await list(query)).data.filter((topic) => !topic.isGroup && term.test(topic.label))
    expect(found.length, name).toBeGreaterThan(0)
    return found.sort((a, b) => b.conversations - a.conversations)[0] as Topic
  }
  const rows = () =>
    db
      .selectFrom('conversation_topics')
      .select(['conversation_id as id', 'topic_id as topicId', 'build'])
      .where('organization_id', '=', org)
      .execute()
  const make = async (...each: object[]) => {
    const ids = await makeConversations(server, key, each)
    await embed()
    return ids
  }
  return { org, key, list, find, rows, make }
}

const filled = async () => {
  const org = await open()
  const ids = new Map<Name, string[]>()
  for (const name of names) ids.set(name, await org.make(...about(name, 60)))
  await build()
  return { ...org, ids }
}

describe('topics', () => {
  let org: Awaited<ReturnType<typeof filled>>
  beforeAll(async () => {
    org = await filled()
  }, 120_000)

  it('are named by their terms, and contain the conversations about them', async () => {
    const { data, conversations, builtAt, missing } = await org.list()
    expect({ conversations, builtAt, missing }).toEqual({
      conversations: 240,
      builtAt: clock.now().toISOString(),
      missing: 0,
    })
    for (const name of names) {
      const { id, label, terms } = await org.find(name)
      expect(label).toBe(terms.join(', '))
      const of = new Set((await org.rows()).filter(({ topicId }) => topicId === id).map((row) => row.id))
      const own = org.ids.get(name)?.filter((one) => of.has(one)).length ?? 0
      // Hardly any conversation about something else is in the topic.
      expect(own / of.size, name).toBeGreaterThan(0.95)
    }
    const counted = data.filter(({ isGroup }) => !isGroup).reduce((sum, topic) => sum + topic.conversations, 0)
    expect(counted).toBeGreaterThan(220)
  })

  it('list their conversations, most typical first, page by page', async () => {
    const { id, conversations } = await org.find('pizza')
    const found: { conversationId: string; similarity: number }[] = []
    for (let cursor = ''; ; ) {
      const { status, body } = await call('GET', `/v1/topics/${id}/conversations?limit=7${cursor}`, { key: org.key })
      expect(status).toBe(200)
      found.push(...body.data)
      if (body.nextCursor === null) break
      cursor = `&cursor=${body.nextCursor}`
    }
    expect(new Set(found.map(({ conversationId }) => conversationId)).size).toBe(conversations)
    const similarities = found.map(({ similarity }) => similarity)
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a))
  })

  it('say what happens in their conversations', async () => {
    const { id } = await org.find('pizza')
    const get = (query: string) => call('GET', `/v1/topics/${id}/conversations?limit=5${query}`, { key: org.key })
    expect((await get('')).body.data[0]).not.toHaveProperty('facets')
    const { data } = (await get('&facets=true')).body
    expect(data).toHaveLength(5)
    for (const { facets } of data) {
      expect(facets).toMatchObject({ request: { turn: 1, text: expect.stringMatching(/pizza/) }, toolFailures: [] })
      expect(facets.unanswered).toEqual([facets.request])
    }
  })

  it('contain new conversations as soon as they are embedded', async () => {
    const { id } = await org.find('card')
    const [first, second] = await org.make(
      saying('somebody stole my credit card, block it', 0),
      saying('the quick brown fox jumps over a lazy dog made of purple granite', 0),
    )
    const rows = new Map((await org.rows()).map((row) => [row.id, row.topicId]))
    expect(rows.get(first as string)).toBe(id)
    expect(rows.get(second as string)).toBeNull()
    const { outliers } = await org.list()
    expect(outliers).toMatchObject({ conversations: expect.any(Number), share: { value: expect.any(Number) } })
  })

  it('select conversations in filters, also those of a group', async () => {
    const { data } = await org.list()
    const count = async (filter: object) =>
      (await call('POST', '/v1/conversations/count', { key: org.key, body: { filter } })).body.count
    for (const { id, conversations } of data) expect(await count({ topicIds: [id] })).toBe(conversations)
    expect(await count({ topicIds: [org.org] })).toBe(0)
    expect(await count({ exclude: { topicIds: data.map(({ id }) => id) } })).toBe(
      (await org.rows()).filter(({ topicId }) => topicId === null).length,
    )
    const { id, label } = await org.find('pizza')
    const filter = { topicIds: [id] }
    const bucket = { name: 'Pizzas', type: 'dynamic', filters: filter }
    const created = await call('POST', '/v1/buckets', { key: org.key, body: bucket })
    expect(created.status, created.text).toBe(201)
    const [added] = await org.make(...about('pizza', 1, 0), ...about('card', 1, 0))
    await jobs.drain([offerConversations], deps)
    const { body } = await call('GET', `/v1/buckets/${created.body.id}/conversations`, { key: org.key })
    expect(body.data.map((item: { conversationId: string }) => item.conversationId)).toEqual([added])
    expect(label).toContain('pizza')
  })

  it('follow changed transcripts, and lose erased conversations', async () => {
    const { id } = await org.find('weather')
    const [changed, erased] = await org.make(...about('pizza', 2))
    const body = { transcript: saying('is it going to rain tomorrow', 0).transcript }
    await call('PATCH', `/v1/conversations/${changed}`, { key: org.key, body })
    expect((await org.rows()).map((row) => row.id)).not.toContain(changed)
    await embed()
    expect((await org.rows()).find((row) => row.id === changed)?.topicId).toBe(id)
    expect((await call('DELETE', `/v1/conversations/${erased}`, { key: org.key })).status).toBe(204)
    expect((await org.rows()).map((row) => row.id)).not.toContain(erased)
  })

  it('keep their IDs, names, and visibility when they are built again', async () => {
    const [card, flight] = [await org.find('card'), await org.find('flight')]
    const renamed = await call('PATCH', `/v1/topics/${card.id}`, { key: org.key, body: { label: 'Lost cards' } })
    expect(renamed.body).toMatchObject({ id: card.id, label: 'Lost cards', hasOwnLabel: true })
    await call('PATCH', `/v1/topics/${flight.id}`, { key: org.key, body: { hidden: true } })
    clock.advance(dayMs)
    await build()
    const { data, builtAt } = await org.list()
    expect(builtAt).toBe(clock.now().toISOString())
    expect(data).toContainEqual(expect.objectContaining({ id: card.id, label: 'Lost cards' }))
    expect(data.map(({ id }) => id)).not.toContain(flight.id)
    expect((await org.list('?hidden=true')).data.map(({ id }) => id)).toContain(flight.id)
    expect(new Set((await org.rows()).map((row) => row.build))).toEqual(new Set([2]))
    const { body } = await call('GET', `/v1/topics/${card.id}`, { key: org.key })
    expect(body.history.at(-1)).toMatchObject({ kind: 'created', topicIds: [] })
    const restored = await call('PATCH', `/v1/topics/${card.id}`, { key: org.key, body: { label: null } })
    expect(restored.body).toMatchObject({ label: restored.body.terms.join(', '), hasOwnLabel: false })
  })

  it('are built once a day', async () => {
    const before = (await org.list()).builtAt
    clock.advance(hourMs)
    await build()
    expect((await org.list()).builtAt).toBe(before)
  })

  it('count together after they are merged, also after the next build', async () => {
    const [card, pizza] = [await org.find('card'), await org.find('pizza')]
    const merge = (id: string, into: string | null) =>
      call('POST', `/v1/topics/${id}/merge`, { key: org.key, body: { into } })
    const merged = await merge(card.id, pizza.id)
    expect(merged.body, merged.text).toMatchObject({ id: card.id, mergedIntoId: pizza.id, endedAt: null })
    const total = card.conversations + pizza.conversations
    const expectTogether = async () => {
      const topics = new Map((await org.list()).data.map((topic) => [topic.id, topic]))
      expect(topics.has(card.id)).toBe(false)
      expect(topics.get(pizza.id)?.conversations).toBe(total)
      const count = (topicIds: string[]) =>
        call('POST', '/v1/conversations/count', { key: org.key, body: { filter: { topicIds } } })
      expect((await count([pizza.id])).body.count).toBe(total)
      expect((await count([card.id])).body.count).toBe(card.conversations)
    }
    await expectTogether()
    const { body } = await call('GET', `/v1/topics/${pizza.id}`, { key: org.key })
    expect(body.merged).toEqual([{ id: card.id, label: card.label }])
    clock.advance(dayMs)
    await build()
    await expectTogether()
    expect((await merge(pizza.id, card.id)).status).toBe(409)
    expect((await merge(pizza.id, pizza.id)).status).toBe(409)
    expect((await merge(card.id, null)).body).toMatchObject({ mergedIntoId: null })
    expect((await org.find('card')).conversations).toBe(card.conversations)
  })

  it('are covered by monitors that are affected in most of their conversations', async () => {
    const [card, pizza] = [await org.find('card'), await org.find('pizza')]
    const draft = async (kind: string, status = 200) => {
      const answer = await call('POST', `/v1/topics/${card.id}/monitor`, { key: org.key, body: { kind } })
      expect(answer.status, answer.text).toBe(status)
      return answer.body
    }
    const { examples, ...judge } = await draft('judge')
    expect(judge).toMatchObject({ kind: 'judge', name: card.label, definition: { output: { type: 'boolean' } } })
    expect(judge.definition.criteria).toContain(card.label)
    const said = (of: { text: string }[]) => of.map(({ text }) => text).join('\n')
    expect(examples.affected).toHaveLength(5)
    for (const { text } of examples.affected) expect(text).toMatch(/card/)
    expect(examples.notAffected.length).toBeGreaterThan(0)
    expect(said(examples.notAffected)).not.toMatch(/card/)
    const { examples: same, ...rule } = await draft('rule')
    expect(same).toEqual(examples)
    const saved = await call('POST', '/v1/monitors', { key: org.key, body: rule })
    expect(saved.status, saved.text).toBe(201)
    const body = { conversationIds: (await org.rows()).map(({ id }) => id), dryRun: false }
    const run = await call('POST', `/v1/monitors/${saved.body.id}/evaluations`, { key: org.key, body })
    expect(run.status, run.text).toBe(202)
    await server.drain()
    const topics = new Map((await org.list()).data.map((topic) => [topic.id, topic]))
    expect(topics.get(card.id)?.monitors).toEqual([{ id: saved.body.id, name: card.label }])
    expect(topics.get(pizza.id)?.monitors).toEqual([])
    const uncovered = (await call('GET', '/v1/topics/uncovered', { key: org.key })).body
    const ids = uncovered.data.map(({ id }: Topic) => id)
    expect(ids).toContain(pizza.id)
    expect(ids).not.toContain(card.id)
    const sum = uncovered.data.reduce((all: number, topic: Topic) => all + topic.conversations, 0)
    expect(uncovered.uncovered.conversations).toBe(sum)
    expect(uncovered.uncovered.share.value).toBeCloseTo(sum / uncovered.conversations)
    await call('PATCH', `/v1/monitors/${saved.body.id}`, { key: org.key, body: { enabled: false } })
    expect((await org.find('card')).monitors).toEqual([])
  })

  it('without terms can’t become a rule', async () => {
    const id = newId()
    await db
      .insertInto('topics')
      .values({ organization_id: org.org, id, is_group: false, terms: [], label: 'Cards', created_at: clock.now() })
      .execute()
    const draft = (kind: string) => call('POST', `/v1/topics/${id}/monitor`, { key: org.key, body: { kind } })
    expect((await draft('rule')).status).toBe(409)
    expect((await draft('judge')).body).toMatchObject({ name: 'Cards', examples: { affected: [], notAffected: [] } })
  })

  it('are not visible to other organizations', async () => {
    const other = await makeOrganization(server)
    const { id } = await org.find('card')
    for (const path of [`/v1/topics/${id}`, `/v1/topics/${id}/conversations`]) {
      expect((await call('GET', path, { key: other.key })).status).toBe(404)
    }
    expect((await call('PATCH', `/v1/topics/${id}`, { key: other.key, body: { hidden: true } })).status).toBe(404)
    expect((await call('GET', '/v1/topics', { key: other.key })).body).toMatchObject({ data: [], conversations: 0 })
    const viewer = await makeKey(server, org.key, 'viewer')
    expect((await call('GET', `/v1/topics/${id}`, { key: viewer.key })).status).toBe(200)
    expect((await call('PATCH', `/v1/topics/${id}`, { key: viewer.key, body: { hidden: true } })).status).toBe(403)
  })

  it('are sorted by their change or their size', async () => {
    await org.make(...about('weather', 10, 1), ...about('pizza', 50, 1), ...about('card', 40, 1))
    await org.make(...about('weather', 80, 0), ...about('pizza', 10, 0), ...about('card', 40, 0))
    const since = new Date(clock.now().getTime() - dayMs).toISOString()
    expect((await org.find('weather', `?since=${since}`)).surprise).toBeGreaterThan(3)
    expect((await org.find('pizza', `?since=${since}`)).surprise).toBeLessThan(-3)
    const changes = (await org.list(`?since=${since}`)).data.map(({ surprise }) => Math.abs(surprise ?? 0))
    expect(changes).toEqual(changes.toSorted((a, b) => b - a))
    const sizes = (await org.list('?sort=size')).data.map(({ conversations }) => conversations)
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
  })
})

describe('a build', () => {
  it('waits for enough conversations', async () => {
    const org = await open()
    await org.make(...about('card', 30))
    await build()
    expect(await org.list()).toMatchObject({ builtAt: null, missing: 170, data: [] })
    expect(await org.rows()).toEqual([])
  })

  it('starts by itself soon after enough conversations are embedded', async () => {
    const org = await open()
    for (const name of names) await org.make(...about(name, 55))
    const waiting = await db
      .selectFrom('jobs')
      .select(['name', 'state'])
      .where('organization_id', '=', org.org)
      .where('name', '=', buildDaily.name)
      .execute()
    expect(waiting).toEqual([{ name: buildDaily.name, state: 'delayed' }])
    await jobs.drain([buildDaily, assignOlder], deps, { delayed: true })
    expect((await org.list()).data.length).toBeGreaterThanOrEqual(4)
  }, 60_000)

  it('that fails changes nothing', async () => {
    const org = await open()
    for (const name of names) await org.make(...about(name, 55))
    const failing = depsWith(deps, {
      jobs: {
        ...jobs,
        enqueue: async (...given) => {
          if (given[1].name === assignOlder.name) throw new Error('the process died')
          return jobs.enqueue(...given)
        },
      },
    })
    for (const job of [embedOlder, buildDaily]) await jobs.enqueue(db, job, {})
    await jobs.drain([embedOlder], deps)
    await jobs.drain([buildDaily, assignOlder], failing, { allowFailures: true })
    expect(await org.list()).toMatchObject({ builtAt: null, data: [] })
    await jobs.drain([buildDaily, assignOlder], deps, { delayed: true })
    expect((await org.list()).data.length).toBeGreaterThanOrEqual(4)
    expect((await org.rows()).length).toBe(220)
  }, 60_000)
})
