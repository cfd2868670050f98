import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { makeBucket, makeConversation, makeConversations, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { offerConversations } from '../../buckets/arrivals/jobs.ts'

const server = await testServer()
const { call, deps } = server

const put = (key: string, id: string, tags: string[]) =>
  call('PUT', `/v1/conversations/${id}/tags`, { key, body: { tags } })

const search = async (key: string, body: object): Promise<{ id: string; tags?: string[] }[]> =>
  (await call('POST', '/v1/conversations/search', { key, body })).body.data

it('replaces the tags of a conversation, in lower case and each once', async () => {
  const { key } = await makeOrganization(server)
  const { id } = await makeConversation(server, key)
  const path = `/v1/conversations/${id}/tags`
  expect((await call('GET', path, { key })).body).toEqual({ tags: [] })
  expect((await put(key, id, ['Refund', ' escalated ', 'refund'])).body).toEqual({ tags: ['escalated', 'refund'] })
  expect((await put(key, id.toUpperCase(), ['refund', 'É-Shop'])).body).toEqual({ tags: ['refund', 'é-shop'] })
  expect((await call('GET', path, { key })).body).toEqual({ tags: ['refund', 'é-shop'] })
  expect((await put(key, id, [])).body).toEqual({ tags: [] })
})

it('rejects too many, too long, and blank tags, and tags with commas', async () => {
  const { key } = await makeOrganization(server)
  const { id } = await makeConversation(server, key)
  const many = Array.from({ length: 21 }, (_, at) => `tag ${at}`)
  for (const tags of [many, ['x'.repeat(51)], [' '], [''], ['a,b']]) {
    expect((await put(key, id, tags)).status, String(tags)).toBe(400)
  }
  expect((await put(key, id, many.slice(1))).body.tags).toHaveLength(20)
  expect((await put(key, randomUUID(), ['a'])).status).toBe(404)
})

it('filters by any of several tags, and includes tags in a search', async () => {
  const { key } = await makeOrganization(server)
  const ids = await makeConversations(server, key, [{}, {}, {}])
  const [first = '', second = '', third = ''] = ids
  await put(key, first, ['vip', 'refund'])
  await put(key, second, ['refund'])
  const found = async (filter: object) => (await search(key, { filter })).map(({ id }) => id).sort()
  expect(await found({ tags: ['VIP'] })).toEqual([first])
  expect(await found({ tags: ['vip', 'refund'] })).toEqual([first, second].sort())
  expect(await found({ exclude: { tags: ['vip'] } })).toEqual([second, third].sort())
  expect(await found({ tags: ['unknown'] })).toEqual([])
  const list = await call('GET', '/v1/conversations?tag=vip,other', { key })
  expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([first])
  const counted = await call('POST', '/v1/conversations/count', { key, body: { filter: { tags: ['b', 'A'] } } })
  expect(counted.body).toEqual({ count: 0, explanation: 'conversations, tagged “a” or “b”' })
  const rows = await search(key, { filter: {}, include: ['tags'] })
  expect(new Map(rows.map(({ id, tags }) => [id, tags]))).toEqual(
    new Map([
      [first, ['refund', 'vip']],
      [second, ['refund']],
      [third, []],
    ]),
  )
})

it('suggests known tags by frequency, with a prefix in any case', async () => {
  const { key } = await makeOrganization(server)
  const stranger = await makeOrganization(server)
  const ids = await makeConversations(server, key, [{}, {}, {}])
  const tags = [
    ['escalated', 'refund'],
    ['refund', 'escape'],
    ['refund', '100%'],
  ]
  for (const [at, id] of ids.entries()) await put(key, id, tags[at] ?? [])
  await put(stranger.key, (await makeConversation(server, stranger.key)).id, ['escort'])
  const suggest = async (prefix?: string) => {
    const query = prefix === undefined ? '' : `?prefix=${encodeURIComponent(prefix)}`
    const { status, text, body } = await call('GET', `/v1/conversation-tags${query}`, { key })
    expect(status, text).toBe(200)
    return body.data.map(({ tag, count }: { tag: string; count: number }) => [tag, count])
  }
  expect(await suggest()).toEqual([
    ['refund', 3],
    ['100%', 1],
    ['escalated', 1],
    ['escape', 1],
  ])
  expect(await suggest('ESC')).toEqual([
    ['escalated', 1],
    ['escape', 1],
  ])
  expect(await suggest('100%')).toEqual([['100%', 1]])
  expect(await suggest('z')).toEqual([])
})

it('erases tags with their conversation', async () => {
  const { key } = await makeOrganization(server)
  const { id } = await makeConversation(server, key)
  await put(key, id, ['refund'])
  expect((await call('DELETE', `/v1/conversations/${id}`, { key })).status).toBe(204)
  const { rows } = await sql`SELECT 1 FROM conversation_tags WHERE conversation_id = ${id}`.execute(deps.db)
  expect(rows).toEqual([])
})

it('offers tagged conversations to dynamic buckets with their tag', async () => {
  const { key } = await makeOrganization(server)
  const { id: bucketId } = await makeBucket(server, key, { type: 'dynamic', filters: { tags: ['Legal'] } })
  const { id } = await makeConversation(server, key)
  await put(key, id, ['legal'])
  await deps.jobs.drain([offerConversations], deps)
  const { body } = await call('GET', `/v1/buckets/${bucketId}/conversations`, { key })
  expect(body.data.map((each: { conversationId: string }) => each.conversationId)).toContain(id)
})
