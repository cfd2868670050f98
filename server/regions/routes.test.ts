import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversation, makeOrganization, makePerson, makeRecording } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { newId } from '../platform/ids.ts'
import { mostRegions } from './schema.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, clock } = server

let org: string
let key: string
let id: string
let path: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = made.id
  key = made.key
  id = (await makeRecording(server, key)).id
  path = `/v1/conversations/${id}/regions`
})

const region = { startMs: 200, endMs: 700, note: 'The agent talks over the customer.' }
const list = async (headers = {}) => (await call('GET', path, { key, headers })).body.data

type Person = Awaited<ReturnType<typeof makePerson>>
const mark = ({ headers }: Pick<Person, 'headers'>) => call('POST', path, { headers, body: region })

it('a region is marked, listed, and deleted', async () => {
  const { member } = (await call('GET', '/v1/me', { key })).body
  const body = { ...region, note: ' The agent talks over the customer. ', channel: 1 }
  const created = await call('POST', path, { key, body })
  expect(created.status).toBe(201)
  expect(created.headers.get('location')).toBe(`${path}/${created.body.id}`)
  expect(created.body).toEqual({
    id: expect.any(String),
    conversationId: id,
    ...region,
    channel: 1,
    authorUserId: member.userId,
    findingId: null,
    createdAt: clock.now().toISOString(),
  })
  const second = (await call('POST', path, { key, body: region })).body
  expect(second.channel).toBeNull()
  expect(await list()).toEqual([created.body, second])
  const page = (await call('GET', `${path}?limit=1`, { key })).body
  const rest = (await call('GET', `${path}?limit=1&cursor=${page.nextCursor}`, { key })).body
  expect([...page.data, ...rest.data]).toEqual([created.body, second])
  expect((await call('GET', `${path}/${second.id}`, { key })).body).toEqual(second)

  expect((await call('DELETE', `${path}/${created.body.id}`, { key })).status).toBe(204)
  expect((await call('DELETE', `${path}/${created.body.id}`, { key })).status).toBe(404)
  expect(await list()).toEqual([second])
})

it('a region can only be deleted by its author or an admin', async () => {
  const [author, other] = [await makePerson(server, key), await makePerson(server, key)]
  const admin = await makePerson(server, key, 'admin')
  const [first, second] = [(await mark(author)).body, (await mark(author)).body]
  const remove = (regionId: string, { headers }: Person) => call('DELETE', `${path}/${regionId}`, { headers })
  expect((await remove(first.id, other)).status).toBe(403)
  expect((await remove(first.id, author)).status).toBe(204)
  expect((await remove(second.id, admin)).status).toBe(204)
})

it.each<[object, string]>([
  [{ endMs: 200 }, 'endMs'],
  [{ endMs: 100 }, 'endMs'],
  [{ startMs: -1 }, 'startMs'],
  [{ startMs: 0.5 }, 'startMs'],
  [{ endMs: 1e9 }, 'endMs'],
  [{ channel: 2 }, 'channel'],
  [{ note: ' ' }, 'note'],
  [{ note: 'a'.repeat(2_001) }, 'note'],
  [{ note: undefined }, 'note'],
])('a region with %j is rejected', async (change, at) => {
  const answer = await call('POST', path, { key, body: { ...region, ...change } })
  expect(answer.status).toBe(400)
  expect(answer.body.details.issues[0].path).toBe(at)
  expect(await list()).toEqual([])
})

it('needs a stored recording', async () => {
  const other = await makeConversation(server, key)
  expect((await call('POST', `/v1/conversations/${other.id}/regions`, { key, body: region })).status).toBe(409)
  const marked = (await call('POST', path, { key, body: region })).body
  expect((await call('GET', `/v1/conversations/${other.id}/regions/${marked.id}`, { key })).status).toBe(404)
})

it('a conversation can have at most five hundred regions', async () => {
  const { member } = (await call('GET', '/v1/me', { key })).body
  await server.deps.db
    .insertInto('conversation_regions')
    .values(
      Array.from({ length: mostRegions - 2 }, () => ({
        organization_id: org,
        id: newId(),
        conversation_id: id,
        start_ms: 0,
        end_ms: 1,
        note: 'Again.',
        author_user_id: member.userId,
        created_at: clock.now(),
      })),
    )
    .execute()
  const answers = await Promise.all(Array.from({ length: 4 }, () => call('POST', path, { key, body: region })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409])
})

it('is erased with its conversation', async () => {
  await call('POST', path, { key, body: region })
  expect((await call('DELETE', `/v1/conversations/${id}`, { key })).status).toBe(204)
  const rows = await server.deps.db
    .selectFrom('conversation_regions')
    .select('id')
    .where('organization_id', '=', org)
    .execute()
  expect(rows).toEqual([])
  expect((await call('GET', path, { key })).status).toBe(404)
})

it('shows a finding that the conversation is attached to, also after a merge', async () => {
  const makeFinding = async () => (await call('POST', '/v1/findings', { key, body: { title: 'Overlaps' } })).body.id
  const [finding, into] = [await makeFinding(), await makeFinding()]
  const body = { ...region, findingId: finding }
  const early = await call('POST', path, { key, body })
  expect(early.status).toBe(400)
  expect(early.body.details.issues[0].path).toBe('findingId')
  await call('POST', `/v1/findings/${finding}/conversations`, { key, body: { conversationId: id } })
  const marked = await call('POST', path, { key, body })
  expect(marked).toMatchObject({ status: 201, body: { findingId: finding } })
  await call('POST', `/v1/findings/${finding}/merge`, { key, body: { intoId: into } })
  expect(await list()).toMatchObject([{ findingId: into }])
  const regionsOf = async (of: string) => (await call('GET', `/v1/findings/${of}/regions`, { key })).body.data
  expect(await regionsOf(into)).toEqual(await list())
  await call('DELETE', `/v1/findings/${into}/conversations/${id}`, { key })
  expect(await list()).toMatchObject([{ findingId: null }])
  expect(await regionsOf(into)).toEqual([])
})

describe('a blind review', () => {
  it('hides other people’s regions until it is completed', async () => {
    const [reviewer, other] = [await makePerson(server, key), await makePerson(server, key)]
    const settings = { name: 'Blind', type: 'static', blind: true }
    const bucket = (await call('POST', '/v1/buckets', { key, body: settings })).body.id
    await call('POST', `/v1/buckets/${bucket}/conversations`, { key, body: { conversationIds: [id] } })
    const theirs = (await mark(other)).body
    const { headers } = reviewer
    const review = (await call('POST', `/v1/buckets/${bucket}/claim`, { headers })).body
    const own = (await mark(reviewer)).body
    const seen = async () => (await call('GET', path, { headers })).body.data.map((each: { id: string }) => each.id)
    expect(await seen()).toEqual([own.id])
    expect((await call('GET', `${path}/${theirs.id}`, { headers })).status).toBe(404)
    const finding = (await call('POST', '/v1/findings', { key, body: { title: 'Overlaps' } })).body.id
    const body = { ...region, findingId: finding }
    expect((await call('POST', path, { headers, body })).status).toBe(403)
    await call('POST', `/v1/findings/${finding}/conversations`, { key, body: { conversationId: id } })
    const shown = (await call('POST', path, { headers: other.headers, body })).body
    const seenInFinding = async () => (await call('GET', `/v1/findings/${finding}/regions`, { headers })).body.data
    expect(await seenInFinding()).toEqual([])
    expect(await list()).toHaveLength(3)

    const done = await call('PATCH', `/v1/reviews/${review.id}`, { headers, body: { status: 'skipped' } })
    expect(done.status, done.text).toBe(200)
    expect(await seen()).toEqual([theirs.id, own.id, shown.id])
    expect(await seenInFinding()).toEqual([shown])
  })
})
