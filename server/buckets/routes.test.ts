import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeAgent, makeBucket, makeConversation, makeMember, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { countWaiting } from '../../test/support/count-waiting.ts'

const server = await testServer()
const { call } = server

let org: string
let key: string
beforeEach(async () => {
  const organization = await makeOrganization(server)
  org = organization.id
  key = organization.key
})

const post = (body: object) => call('POST', '/v1/buckets', { key, body })
const patch = (id: string, body: object) => call('PATCH', `/v1/buckets/${id}`, { key, body })

type Answer = { status: number; body: { details?: { issues?: { path: string }[] } } }
const pathsOf = ({ status, body }: Answer) => [status, ...(body.details?.issues ?? []).map(({ path }) => path)]

describe('a bucket', () => {
  it('has the published fields first, then additional ones', async () => {
    const { status, body } = await post({ name: 'By hand', type: 'static' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      organizationId: org,
      name: 'By hand',
      type: 'static',
      filters: {},
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      share: null,
      perWeek: null,
      reviewerUserIds: [],
      reviewsPerConversation: 1,
      monitorIds: [],
      blind: false,
      noteOnDisagreement: false,
    })
    const { id: agentId } = await makeAgent(server, key)
    const { userId } = await makeMember(server, key, 'member')
    const { id: monitorId } = await makeMonitor(server, key)
    const settings = { agentId, reviewerUserIds: [userId], monitorIds: [monitorId], blind: true }
    const changed = await patch(body.id, settings)
    expect(changed.body).toMatchObject({ ...settings, name: 'By hand' })
    expect((await call('GET', `/v1/buckets/${body.id}`, { key })).body).toEqual(changed.body)
    expect((await patch(body.id, { agentId: null })).body).not.toHaveProperty('agentId')
    expect((await call('GET', '/v1/buckets', { key })).body.data).toHaveLength(1)
    expect((await post({ name: 'By hand', type: 'static' })).status).toBe(409)
  })

  it('is rejected with all faults of its settings', async () => {
    const { userId: viewer } = await makeMember(server, key, 'viewer')
    const unknown = crypto.randomUUID()
    const dynamic = { name: 'D', type: 'dynamic' }
    const sampled = { name: 'S', type: 'sampled' }
    const refused: [object, ...string[]][] = [
      [{ name: 'S', type: 'static', filters: { channels: ['call'] } }, 'filters'],
      [{ ...dynamic, filters: { bucketId: unknown } }, 'filters.bucketId'],
      [{ ...dynamic, share: 5, agentId: unknown, filters: { agentIds: [unknown] } }, 'filters.agentIds', 'share'],
      [{ ...dynamic, filters: { text: '!' } }, 'filters.text'],
      [sampled, 'share'],
      [{ ...sampled, share: 5, perWeek: 5 }, 'share'],
      [{ ...sampled, share: 0 }, 'share'],
      [{ ...sampled, perWeek: 10_001 }, 'perWeek'],
      [{ ...dynamic, reviewsPerConversation: 6 }, 'reviewsPerConversation'],
      [
        { ...dynamic, reviewerUserIds: [viewer, unknown], monitorIds: [unknown] },
        'reviewerUserIds[0]',
        'reviewerUserIds[1]',
        'monitorIds[0]',
      ],
      [{ ...dynamic, agentId: unknown }, 'agentId'],
      [{ ...dynamic, type: 'queue' }, 'type'],
    ]
    for (const [body, ...paths] of refused) {
      expect(pathsOf(await post(body)), JSON.stringify(body)).toEqual([400, ...paths])
    }
    const { body } = await post({ ...sampled, share: 5 })
    expect(pathsOf(await patch(body.id, { perWeek: 5 }))).toEqual([400, 'share'])
    expect((await patch(body.id, { perWeek: 5, share: null })).body).toMatchObject({ perWeek: 5, share: null })
    expect(pathsOf(await patch(body.id, { type: 'static' }))).toEqual([400, 'type'])
    expect((await call('GET', '/v1/buckets', { key })).body.data).toHaveLength(1)
  })

  it('contains conversations added by hand, and filters find them', async () => {
    const { id, conversationId } = await makeBucket(server, key, { reviewsPerConversation: 2 })
    const other = await makeConversation(server, key)
    const put = (conversationIds: string[]) =>
      call('POST', `/v1/buckets/${id}/conversations`, { key, body: { conversationIds } })
    const ids = [other.id, crypto.randomUUID(), conversationId.toUpperCase(), other.id]
    const statuses = (await put(ids)).body.data.map(({ status }: { status: string }) => status)
    expect(statuses).toEqual(['created', 'rejected', 'unchanged', 'unchanged'])
    const { data } = (await call('GET', `/v1/buckets/${id}/conversations`, { key })).body
    const waiting = { status: 'waiting', reviewsWanted: 2, reviewsCompleted: 0, addedAt: expect.any(String) }
    expect(data).toEqual([other.id, conversationId].map((one) => ({ conversationId: one, ...waiting })))
    const page = (await call('GET', `/v1/buckets/${id}/conversations?limit=1`, { key })).body
    const next = await call('GET', `/v1/buckets/${id}/conversations?limit=1&cursor=${page.nextCursor}`, { key })
    expect([...page.data, ...next.body.data]).toEqual(data)

    await makeConversation(server, key)
    const filter = { bucketId: id }
    const found = async (path: string, body?: object) =>
      (await call(body ? 'POST' : 'GET', path, { key, body })).body.data.map((one: { id: string }) => one.id).sort()
    const both = [conversationId, other.id].sort()
    expect(await found('/v1/conversations/search', { filter })).toEqual(both)
    expect(await found(`/v1/conversations?bucketId=${id}&reviewStatus=pending`)).toEqual(both)
    const counted = await call('POST', '/v1/conversations/count', { key, body: { filter } })
    expect(counted.body).toMatchObject({
      count: 2,
      explanation: expect.stringMatching(/^conversations, in bucket Bucket/),
    })
    expect(await found('/v1/conversations/search', { filter: { bucketId: crypto.randomUUID() } })).toEqual([])
  })

  it('counts all reviews, even of more people than it lists', async () => {
    const { db } = server.deps
    const { id, conversationId } = await makeBucket(server, key)
    expect((await call('GET', `/v1/buckets/${id}/progress`, { key })).body).toMatchObject({
      reviews: { waiting: 1, claimed: 0, completed: 0, skipped: 0 },
      reviewers: [],
    })
    await sql`
      WITH people AS (
        INSERT INTO users (id, email, name)
        SELECT gen_random_uuid(), 'rita' || n || '@example.com', 'Rita' FROM generate_series(1, 510) n RETURNING id)
      INSERT INTO reviews (organization_id, id, conversation_id, bucket_id, reviewer_user_id, status)
      SELECT ${org}::uuid, gen_random_uuid(), ${conversationId}::uuid, ${id}::uuid, id, 'skipped' FROM people`.execute(
      db,
    )
    const { reviews, reviewers } = (await call('GET', `/v1/buckets/${id}/progress`, { key })).body
    expect([reviews.skipped, reviewers.length]).toEqual([510, 500])
  })

  it('is deleted but keeps finished reviews', async () => {
    const { id, conversationId } = await makeBucket(server, key, { reviewsPerConversation: 2 })
    const { id: unfinished } = await makeConversation(server, key)
    await call('POST', `/v1/buckets/${id}/conversations`, { key, body: { conversationIds: [unfinished] } })
    const [first, second] = [
      (await call('POST', `/v1/buckets/${id}/claim`, { key })).body,
      (await call('POST', `/v1/buckets/${id}/claim`, { key })).body,
    ]
    await call('PATCH', `/v1/reviews/${first.id}`, { key, body: { status: 'completed', rating: 5 } })
    expect((await call('DELETE', `/v1/buckets/${id}`, { key })).status).toBe(204)
    expect((await call('GET', `/v1/buckets/${id}`, { key })).status).toBe(404)
    expect((await call('GET', `/v1/reviews/${first.id}`, { key })).body).toMatchObject({ bucketId: null, rating: 5 })
    expect((await call('GET', `/v1/reviews/${second.id}`, { key })).status).toBe(404)
    const statusOf = async (one: string) => (await call('GET', `/v1/conversations/${one}`, { key })).body.reviewStatus
    expect([await statusOf(conversationId), await statusOf(unfinished)]).toEqual(['completed', 'none'])
  })

  it('is deleted while one of its conversations is erased', async () => {
    const { db } = server.deps
    const { id, conversationId } = await makeBucket(server, key)
    await call('POST', `/v1/buckets/${id}/claim`, { key })
    const erasing = await db.startTransaction().execute()
    const conversation = sql`conversations WHERE organization_id = ${org}::uuid AND id = ${conversationId}::uuid`
    await sql`SELECT FROM ${conversation} FOR UPDATE`.execute(erasing)
    const going = call('DELETE', `/v1/buckets/${id}`, { key })
    await expect.poll(() => countWaiting(db, ''), { interval: 5 }).toBe(1)
    await sql`DELETE FROM ${conversation}`.execute(erasing)
    await erasing.commit().execute()
    expect((await going).status).toBe(204)
  })
})
