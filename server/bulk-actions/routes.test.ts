import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import {
  makeBucket,
  makeBulkAction,
  makeConversation,
  makeConversations,
  makeFinding,
  makeKey,
  makeOrganization,
  makePerson,
} from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { dayMs } from '../platform/durations.ts'
import { runBulkAction, sweepBulkActions } from './lifecycle.ts'

const server = await testServer()
const { call, deps } = server

const run = () => deps.jobs.drain([runBulkAction], deps)

const start = (key: string, body: object) => call('POST', '/v1/conversations/bulk', { key, body })

const get = async (key: string, id: string) => (await call('GET', `/v1/conversations/bulk/${id}`, { key })).body

/** Starts an action, runs it, and returns its final state. */
const act = async (key: string, body: object) => {
  const { status, text, body: started } = await start(key, body)
  expect(status, text).toBe(202)
  await run()
  return get(key, started.id)
}

const undo = async (key: string, id: string) => {
  const { status, text, body } = await call('POST', `/v1/conversations/bulk/${id}/undo`, { key })
  expect(status, text).toBe(202)
  await run()
  return get(key, body.id)
}

const tagsOf = async (key: string, id: string) => (await call('GET', `/v1/conversations/${id}/tags`, { key })).body.tags

const setUp = async (count: number) => {
  const { id, key } = await makeOrganization(server)
  const ids = await makeConversations(
    server,
    key,
    Array.from({ length: count }, (_, at) => ({ channel: at % 2 === 0 ? 'call' : 'chat' })),
  )
  return { org: id, key, ids }
}

describe('an action', () => {
  it('acts on the conversations that matched when it was created', async () => {
    const { key, ids } = await setUp(4)
    const action = { kind: 'tag', add: ['Refund'] }
    const { status, headers, body } = await start(key, { filter: { channels: ['call'] }, action })
    expect(status).toBe(202)
    expect(headers.get('location')).toBe(`/v1/conversations/bulk/${body.id}`)
    const person = (await call('GET', '/v1/me', { key })).body.member.userId
    expect(body).toEqual({
      id: expect.any(String),
      status: 'queued',
      total: 2,
      done: 0,
      failed: 0,
      changed: 0,
      action: { kind: 'tag', add: ['refund'], remove: [] },
      filter: { channels: ['call'] },
      failure: null,
      canUndo: false,
      undoesId: null,
      undoneById: null,
      createdByUserId: person,
      createdAt: expect.any(String),
      startedAt: null,
      finishedAt: null,
    })
    const late = await makeConversation(server, key)
    await run()
    expect(await get(key, body.id)).toMatchObject({ status: 'completed', total: 2, done: 2, changed: 2, canUndo: true })
    expect(await Promise.all([...ids, late.id].map((id) => tagsOf(key, id)))).toEqual([
      ['refund'],
      [],
      ['refund'],
      [],
      [],
    ])
    const list = await call('GET', '/v1/conversations/bulk?limit=1', { key })
    expect(list.body).toEqual({ data: [await get(key, body.id)], nextCursor: null })
  })

  it('rejects conversations, buckets, findings, and people that do not exist here', async () => {
    const { key, ids } = await setUp(1)
    const stranger = await makeOrganization(server)
    const foreign = (await makeConversation(server, stranger.key)).id
    const bucket = (await makeBucket(server, stranger.key)).id
    const finding = (await makeFinding(server, stranger.key)).id
    const person = (await makePerson(server, stranger.key)).userId
    const tag = { kind: 'tag', add: ['a'] }
    const pathsOf = async (body: object) => {
      const answer = await start(key, body)
      expect(answer.status, answer.text).toBe(400)
      return answer.body.details.issues.map(({ path }: { path: string }) => path)
    }
    expect(await pathsOf({ ids: [ids[0], foreign, randomUUID()], action: tag })).toEqual(['ids[1]', 'ids[2]'])
    for (const id of [bucket, randomUUID()]) {
      expect(await pathsOf({ ids, action: { kind: 'add_to_bucket', bucketId: id } })).toEqual(['action.bucketId'])
    }
    for (const id of [finding, randomUUID()]) {
      expect(await pathsOf({ ids, action: { kind: 'attach_to_finding', findingId: id } })).toEqual(['action.findingId'])
    }
    for (const id of [person, randomUUID()]) {
      expect(await pathsOf({ ids, action: { kind: 'assign_reviewer', userId: id } })).toEqual(['action.userId'])
    }
    expect(await pathsOf({ filter: { text: 'nothing' }, action: tag })).toEqual(['filter'])
    expect(await pathsOf({ action: tag })).toEqual(['filter'])
    expect(await pathsOf({ ids, filter: {}, action: tag })).toEqual(['filter'])
    expect(await pathsOf({ ids, action: { kind: 'tag' } })).toEqual(['action.add'])
    expect(await pathsOf({ ids, action: { kind: 'tag', add: ['a'], remove: ['A'] } })).toEqual(['action.remove'])
    expect(await pathsOf({ ids, action: { kind: 'archive' } })).toEqual(['action'])
  })

  it('only starts if as many conversations are selected as expected', async () => {
    const { key } = await setUp(3)
    const body = { filter: {}, action: { kind: 'tag', add: ['a'] } }
    expect((await start(key, { ...body, expectedTotal: 2 })).status).toBe(409)
    expect((await start(key, { ...body, expectedTotal: 3 })).status).toBe(202)
  })

  it('cannot start while many others are unfinished', async () => {
    const { key } = await makeOrganization(server)
    for (let started = 0; started < 10; started++) await makeBulkAction(server, key)
    const { status, body } = await start(key, { filter: {}, action: { kind: 'tag', add: ['a'] } })
    expect([status, body.message]).toEqual([409, '10 bulk actions are in progress. Wait until one has finished.'])
    await run()
    await makeBulkAction(server, key)
  })

  it('stops when it is cancelled, and can be undone then', async () => {
    const { org, key } = await setUp(800)
    const { body } = await start(key, { filter: {}, action: { kind: 'tag', add: ['a'] } })
    const cancel = () => call('POST', `/v1/conversations/bulk/${body.id}/cancel`, { key })
    await runSlices(1)
    expect(await get(key, body.id)).toMatchObject({ status: 'running', total: 800, done: 500, canUndo: false })
    const cancelled = await cancel()
    expect(cancelled.body).toMatchObject({ status: 'cancelled', total: 800, done: 500, changed: 500, canUndo: true })
    await deps.jobs.drain([runBulkAction], deps, { delayed: true })
    expect(await countTags(org)).toBe(500)
    expect((await cancel()).status).toBe(409)
    expect(await undo(key, body.id)).toMatchObject({ status: 'completed', total: 500, changed: 500, undoesId: body.id })
    expect(await countTags(org)).toBe(0)
  })

  it('can be undone again if undoing it was cancelled', async () => {
    const { org, key } = await setUp(600)
    const { id } = await act(key, { filter: {}, action: { kind: 'tag', add: ['a'] } })
    const { body } = await call('POST', `/v1/conversations/bulk/${id}/undo`, { key })
    expect(await get(key, id)).toMatchObject({ canUndo: false, undoneById: body.id })
    await runSlices(1)
    await call('POST', `/v1/conversations/bulk/${body.id}/cancel`, { key })
    expect(await countTags(org)).toBe(100)
    expect(await get(key, id)).toMatchObject({ canUndo: true, undoneById: null })
    expect(await undo(key, id)).toMatchObject({ status: 'completed', total: 600, done: 600, changed: 100 })
    expect(await countTags(org)).toBe(0)
  })

  it('fails if its creator no longer has permission', async () => {
    const { key } = await setUp(2)
    const person = await makePerson(server, key, 'admin')
    const erase = { filter: {}, action: { kind: 'erase' } }
    const { body } = await call('POST', '/v1/conversations/bulk', { headers: person.headers, body: erase })
    const demoted = await call('PATCH', `/v1/members/${person.id}`, { key, body: { role: 'member' } })
    expect(demoted.status, demoted.text).toBe(200)
    await run()
    expect(await get(key, body.id)).toMatchObject({
      status: 'failed',
      done: 0,
      failure: 'The person who started it no longer has the required role.',
    })
  })
})

const countTags = async (org: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM conversation_tags WHERE organization_id = ${org}`.execute(deps.db)
  return rows[0]?.count ?? 0
}

/** Runs the job until it has tagged this many slices, and then makes the next one fail. */
const runSlices = async (slices: number) => {
  let done = 0
  const conversationsTagged: typeof deps.reactions.conversationsTagged = async (...args) => {
    if (done === slices) throw new Error('The worker stops here.')
    await deps.reactions.conversationsTagged(...args)
    done++
  }
  const reactions = { ...deps.reactions, conversationsTagged }
  await deps.jobs.drain([runBulkAction], { ...deps, reactions }, { allowFailures: true })
}

describe('tagging', () => {
  it('adds and removes tags, and undoing only takes back what has changed', async () => {
    const { key, ids } = await setUp(3)
    const [first = '', second = '', third = ''] = ids
    await call('PUT', `/v1/conversations/${first}/tags`, { key, body: { tags: ['new', 'old'] } })
    await call('PUT', `/v1/conversations/${second}/tags`, { key, body: { tags: ['old', 'kept'] } })
    const action = await act(key, { ids, action: { kind: 'tag', add: ['new'], remove: ['old'] } })
    expect(action).toMatchObject({ done: 3, changed: 3, failed: 0, filter: null })
    expect(await Promise.all(ids.map((id) => tagsOf(key, id)))).toEqual([['new'], ['kept', 'new'], ['new']])
    await call('PUT', `/v1/conversations/${third}/tags`, { key, body: { tags: ['new', 'later'] } })
    expect(await undo(key, action.id)).toMatchObject({ status: 'completed', total: 3, changed: 3 })
    expect(await Promise.all(ids.map((id) => tagsOf(key, id)))).toEqual([['new', 'old'], ['kept', 'old'], ['later']])
    expect(await get(key, action.id)).toMatchObject({ canUndo: false, undoneById: expect.any(String) })
    expect((await call('POST', `/v1/conversations/bulk/${action.id}/undo`, { key })).status).toBe(409)
  })

  it('counts conversations that would have too many tags as failed', async () => {
    const { key, ids } = await setUp(2)
    const tags = Array.from({ length: 20 }, (_, at) => `tag ${at}`)
    await call('PUT', `/v1/conversations/${ids[0]}/tags`, { key, body: { tags } })
    const action = await act(key, { ids, action: { kind: 'tag', add: ['new'] } })
    expect(action).toMatchObject({ status: 'completed', total: 2, done: 1, changed: 1, failed: 1 })
    expect(action.failure).toBe('Some conversations would have more than 20 tags.')
    expect(await tagsOf(key, ids[0] ?? '')).toHaveLength(20)
  })
})

it('adds conversations to a bucket, and removes them again unless somebody reviews them', async () => {
  const { key, ids } = await setUp(3)
  const { id: bucketId } = await makeBucket(server, key)
  const listed = async () =>
    (await call('GET', `/v1/buckets/${bucketId}/conversations`, { key })).body.data.map(
      (item: { conversationId: string }) => item.conversationId,
    )
  await call('POST', `/v1/buckets/${bucketId}/conversations`, { key, body: { conversationIds: ids.slice(0, 1) } })
  const action = await act(key, { ids, action: { kind: 'add_to_bucket', bucketId } })
  expect(action).toMatchObject({ done: 3, changed: 2 })
  expect(await listed()).toEqual(expect.arrayContaining(ids))
  // Claims return the first conversations: one that was added manually, and one that the action added.
  for (let claims = 0; claims < 2; claims++) {
    const { headers } = await makePerson(server, key)
    await call('POST', `/v1/buckets/${bucketId}/claim`, { headers })
  }
  expect(await undo(key, action.id)).toMatchObject({ done: 2, changed: 1 })
  expect(await listed()).toHaveLength(3)
  const sampled = await call('POST', '/v1/buckets', {
    key,
    body: { name: 'Sample', type: 'sampled', filters: {}, share: 5 },
  })
  const refused = await start(key, { ids, action: { kind: 'add_to_bucket', bucketId: sampled.body.id } })
  expect(refused.status, refused.text).toBe(409)
})

it('fails if the bucket is deleted before the action runs', async () => {
  const { key, ids } = await setUp(1)
  const { id: bucketId } = await makeBucket(server, key)
  const { body } = await start(key, { ids, action: { kind: 'add_to_bucket', bucketId } })
  await call('DELETE', `/v1/buckets/${bucketId}`, { key })
  await run()
  expect(await get(key, body.id)).toMatchObject({
    status: 'failed',
    failure: 'The bucket was deleted.',
    canUndo: false,
  })
})

it('attaches conversations to a finding, and detaches them again', async () => {
  const { key, ids } = await setUp(2)
  const { id: findingId } = await makeFinding(server, key)
  await call('POST', `/v1/findings/${findingId}/conversations`, { key, body: { conversationId: ids[0] } })
  const countOf = async () => (await call('GET', `/v1/findings/${findingId}`, { key })).body.conversationCount
  const action = await act(key, { ids, action: { kind: 'attach_to_finding', findingId } })
  expect(action).toMatchObject({ done: 2, changed: 1, failed: 0 })
  expect(await countOf()).toBe(3)
  expect(await undo(key, action.id)).toMatchObject({ changed: 1 })
  expect(await countOf()).toBe(2)
})

it('assigns a reviewer, who can submit the reviews, and takes back those not started', async () => {
  const { key, ids } = await setUp(3)
  const person = await makePerson(server, key)
  const action = await act(key, { ids, action: { kind: 'assign_reviewer', userId: person.userId } })
  expect(action).toMatchObject({ done: 3, changed: 3 })
  const { body: inbox } = await call('GET', '/v1/notifications', { headers: person.headers })
  expect(inbox.data).toMatchObject([
    {
      kind: 'review_request',
      subject: { type: 'bulkAction', id: action.id, name: '3 conversations' },
      text: 'Olga Owner asked you to review 3 conversations.',
      url: expect.stringMatching(/\/review$/),
    },
  ])
  const again = await act(key, { ids, action: { kind: 'assign_reviewer', userId: person.userId } })
  expect(again).toMatchObject({ done: 3, changed: 0, canUndo: false })
  const reviewsOf = async () =>
    (await call('GET', `/v1/reviews?reviewerUserId=${person.userId}`, { headers: person.headers })).body.data
  const [review] = await reviewsOf()
  expect(review).toMatchObject({ status: 'pending', bucketId: null, leaseExpiresAt: null, judgments: [] })
  const conversation = async () => (await call('GET', `/v1/conversations/${review.conversationId}`, { key })).body
  expect((await conversation()).reviewStatus).toBe('pending')
  const body = { status: 'completed', rating: 4 }
  const completed = await call('PATCH', `/v1/reviews/${review.id}`, { headers: person.headers, body })
  expect(completed.status, completed.text).toBe(200)
  expect((await conversation()).reviewStatus).toBe('completed')
  expect(await undo(key, action.id)).toMatchObject({ done: 3, changed: 2 })
  expect(await reviewsOf()).toMatchObject([{ id: review.id, status: 'completed' }])
})

describe('erasing', () => {
  it('needs the role admin, erases for good, and records each conversation', async () => {
    const { org, key, ids } = await setUp(3)
    const member = await makeKey(server, key, 'member')
    const erase = { filter: { channels: ['call'] }, action: { kind: 'erase' } }
    expect((await start(member.key, erase)).status).toBe(403)
    const action = await act(key, { ...erase, expectedTotal: 2 })
    expect(action).toMatchObject({ status: 'completed', total: 2, done: 2, changed: 2, canUndo: false })
    const statuses = await Promise.all(
      ids.map(async (id) => (await call('GET', `/v1/conversations/${id}`, { key })).status),
    )
    expect(statuses).toEqual([404, 200, 404])
    expect((await call('POST', `/v1/conversations/bulk/${action.id}/undo`, { key })).status).toBe(409)
    const { rows } = await sql<{ targets: { id: string }[] }>`
      SELECT targets FROM audit_events WHERE organization_id = ${org} AND action = 'conversation.erase'`.execute(
      deps.db,
    )
    expect(rows.flatMap(({ targets }) => targets.map(({ id }) => id)).sort()).toEqual([ids[0], ids[2]].sort())
  })

  it('removes the conversation from other actions', async () => {
    const { key, ids } = await setUp(3)
    const waiting = (await start(key, { ids, action: { kind: 'tag', add: ['a'] } })).body
    const { id: bucketId } = await makeBucket(server, key)
    await call('DELETE', `/v1/conversations/${ids[1]}`, { key })
    await run()
    expect(await get(key, waiting.id)).toMatchObject({ status: 'completed', total: 2, done: 2 })
    const later = await act(key, { ids: [ids[0], ids[2]], action: { kind: 'add_to_bucket', bucketId } })
    await call('DELETE', `/v1/conversations/${ids[0]}`, { key })
    expect(await undo(key, later.id)).toMatchObject({ status: 'completed', total: 1, changed: 1 })
  })
})

it('is deleted some time after it has finished', async () => {
  const { key } = await makeOrganization(server)
  const { id } = await makeBulkAction(server, key)
  await run()
  await server.deps.jobs.enqueue(deps.db, sweepBulkActions, {})
  await server.deps.jobs.drain([sweepBulkActions], deps)
  expect((await get(key, id)).id).toBe(id)
  server.clock.advance(31 * dayMs)
  await server.deps.jobs.enqueue(deps.db, sweepBulkActions, {})
  await server.deps.jobs.drain([sweepBulkActions], deps)
  expect((await call('GET', `/v1/conversations/bulk/${id}`, { key })).status).toBe(404)
  const { rows } = await sql`SELECT 1 FROM bulk_action_conversations WHERE action_id = ${id}`.execute(deps.db)
  expect(rows).toEqual([])
})
