import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeAgent, makeConversation, makeConversations, makeMonitor, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { dayMs, hourMs } from '../../platform/durations.ts'
import { orgIdOf } from '../../platform/ids.ts'
import { jobList } from '../../worker.ts'
import { weekOf } from '../week.ts'
import { drawQuotas, offerConversations } from './jobs.ts'

const server = await testServer()
const { call, clock } = server
const { db, jobs } = server.deps

let org: string
let key: string
beforeEach(async () => {
  const organization = await makeOrganization(server)
  org = organization.id
  key = organization.key
})

const makeBucket = async (fields: object) => {
  const body = { name: crypto.randomUUID(), type: 'dynamic', ...fields }
  const answer = await call('POST', '/v1/buckets', { key, body })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.id as string
}

const inBucket = async (id: string): Promise<string[]> => {
  const { data } = (await call('GET', `/v1/buckets/${id}/conversations?limit=200`, { key })).body
  return data.map(({ conversationId }: { conversationId: string }) => conversationId).sort()
}

/** Creates conversations and returns each one with its hash, a number from 0 to 100. */
const makeMany = async (count: number, startedAt: string) => {
  const each = Array.from({ length: count }, () => ({ startedAt }))
  const ids = await makeConversations(server, key, each)
  const positionOf = (id: string) =>
    (Number.parseInt(createHash('md5').update(id).digest('hex').slice(0, 8), 16) / 2 ** 32) * 100
  return ids.map((id) => ({ id, position: positionOf(id) })).sort((a, b) => a.position - b.position)
}

const idsOf = (some: { id: string }[]) => some.map(({ id }) => id).sort()

describe('a dynamic bucket', () => {
  it('adds matching conversations once as they arrive, and no earlier ones', async () => {
    const { id: agentId } = await makeAgent(server, key)
    const chat = (metadata: object) => makeConversation(server, key, { channel: 'chat', metadata })
    await chat({ plan: 'gold' })
    const gold = { metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] }
    const id = await makeBucket({ filters: { channels: ['chat'], ...gold } })
    const ofAgent = await makeBucket({ agentId })
    const [taken, later] = [await chat({ plan: 'gold' }), await chat({ plan: 'silver' })]
    await makeConversation(server, key, { metadata: { plan: 'gold' } })
    const begun = await makeConversation(server, key, {
      channel: 'chat',
      status: 'in_progress',
      metadata: { plan: 'gold' },
    })
    await server.drain()
    expect(await inBucket(id)).toEqual([taken.id])
    expect(await inBucket(ofAgent)).toEqual([])
    expect((await call('GET', `/v1/conversations/${taken.id}`, { key })).body.reviewStatus).toBe('pending')

    await call('PATCH', `/v1/conversations/${later.id}`, { key, body: { metadata: { plan: 'gold' } } })
    await call('PATCH', `/v1/conversations/${begun.id}`, { key, body: { status: 'completed' } })
    await server.drain()
    const three = [taken.id, later.id, begun.id].sort()
    expect(await inBucket(id)).toEqual(three)
    await jobs.enqueue(db, offerConversations, { organizationId: orgIdOf(org), conversationIds: three })
    await server.drain()
    expect(await inBucket(id)).toEqual(three)

    await call('PATCH', `/v1/buckets/${id}`, { key, body: { filters: {} } })
    const any = await makeConversation(server, key)
    await server.drain()
    expect(await inBucket(id)).toEqual([...three, any.id].sort())
  })

  it('with monitor conditions adds a conversation when the result arrives', async () => {
    const { id: monitorId } = await makeMonitor(server, key)
    const rule = await makeMonitor(server, key, { kind: 'rule', definition: { expression: 'true' } })
    const found = (id: string) => ({ filters: { monitors: [{ id, result: 'affected' }] } })
    const [posted, evaluated] = [await makeBucket(found(monitorId)), await makeBucket(found(rule.id))]
    const named = await makeBucket({ filters: { exclude: { categories: { monitorId, any: ['other'] } } } })
    const billing = await makeBucket({ filters: { categories: { monitorId, any: ['billing'] } } })
    const large = await makeBucket({ filters: { fields: [{ monitorId, field: 'amount', op: 'gt', value: '100' }] } })
    const { id: conversationId } = await makeConversation(server, key, {
      transcript: [{ role: 'agent', text: 'Hello' }],
    })
    await server.drain()
    expect([await inBucket(posted), await inBucket(evaluated)]).toEqual([[], [conversationId]])
    expect([await inBucket(named), await inBucket(billing)]).toEqual([[conversationId], []])
    const fields = { amount: 250 }
    const results = [{ monitorId, conversationId, result: 'affected', categories: ['billing'], fields }]
    await call('POST', '/v1/monitor-results', { key, body: { results } })
    await server.drain()
    const arrived = [await inBucket(posted), await inBucket(billing), await inBucket(large)]
    expect(arrived).toEqual([[conversationId], [conversationId], [conversationId]])
  })
})

describe('a sampled bucket', () => {
  it('with a share adds conversations below the threshold, and none by hand', async () => {
    const id = await makeBucket({ type: 'sampled', share: 20 })
    const many = await makeMany(300, clock.now().toISOString())
    await server.drain()
    const below = many.filter(({ position }) => position < 20)
    expect(await inBucket(id)).toEqual(idsOf(below))
    expect(below.length).toBeGreaterThan(30)
    expect(below.length).toBeLessThan(95)
    const path = `/v1/buckets/${id}/conversations`
    const body = { conversationIds: [many[299]?.id] }
    expect((await call('POST', path, { key, body })).status).toBe(409)
    expect((await call('DELETE', `${path}/${below[0]?.id}`, { key })).status).toBe(409)
  })

  it('with a quota adds the first by hash of each week, six hours after it ended', async () => {
    const id = await makeBucket({ type: 'sampled', perWeek: 5, filters: { channels: ['call'] } })
    const { start, end } = weekOf(clock.now())
    const at = (instant: Date, ms: number) => new Date(instant.getTime() + ms)
    const first = await makeMany(40, start.toISOString())
    const draw = async () => {
      await jobs.enqueue(db, drawQuotas, {})
      await jobs.drain(jobList, server.deps)
      return inBucket(id)
    }
    const moveTo = (instant: Date) => clock.advance(instant.getTime() - clock.now().getTime())
    moveTo(at(end, 6 * hourMs - 1))
    expect(await draw()).toEqual([])
    const second = await makeMany(40, end.toISOString())
    moveTo(at(end, 6 * hourMs))
    expect(await draw()).toEqual(idsOf(first.slice(0, 5)))
    // Each week is sampled once.
    await makeMany(40, start.toISOString())
    expect(await draw()).toHaveLength(5)
    moveTo(at(end, 21 * dayMs))
    expect(await draw()).toEqual(idsOf([...first.slice(0, 5), ...second.slice(0, 5)]))
  })
})

it('a week is an ISO week in UTC', () => {
  const week = { start: new Date('2026-11-16T00:00:00Z'), end: new Date('2026-11-23T00:00:00Z') }
  for (const instant of ['2026-11-16T00:00:00.000Z', '2026-11-21T12:00:00Z', '2026-11-22T23:59:59.999Z']) {
    expect(weekOf(new Date(instant))).toEqual(week)
  }
  expect(weekOf(new Date('1969-12-31T00:00:00Z')).start).toEqual(new Date('1969-12-29T00:00:00Z'))
})
