import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { makeComment, makeFinding, makeOrganization, makePerson, richText } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { newId } from '../../platform/ids.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, clock } = server

let org: string
let key: string
let path: string
let findingId: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = made.id
  key = made.key
  findingId = (await makeFinding(server, key)).id
  path = `/v1/findings/${findingId}/comments`
})

it('comments are listed oldest first, counted, edited, and deleted', async () => {
  const { member } = (await call('GET', '/v1/me', { key })).body
  const body = { body: richText('Who looks at it?') }
  const created = await call('POST', path, { key, body })
  expect(created.status).toBe(201)
  expect(created.headers.get('location')).toBe(`${path}/${created.body.id}`)
  expect(created.body).toEqual({
    id: expect.any(String),
    findingId,
    authorUserId: member.userId,
    ...body,
    createdAt: clock.now().toISOString(),
    editedAt: null,
  })
  const others = [await makeComment(server, key, findingId), await makeComment(server, key, findingId)]
  const all = (await call('GET', path, { key })).body.data
  expect(all[0]).toEqual(created.body)
  expect(all.map(({ id }: { id: string }) => id)).toEqual([created.body.id, ...others])
  const first = (await call('GET', `${path}?limit=2`, { key })).body
  const next = (await call('GET', `${path}?limit=2&cursor=${first.nextCursor}`, { key })).body
  expect([...first.data, ...next.data]).toEqual(all)
  expect((await call('GET', `/v1/findings/${findingId}`, { key })).body.commentCount).toBe(3)

  clock.advance(1_000)
  const edited = await call('PATCH', `${path}/${created.body.id}`, { key, body: { body: richText('I do.') } })
  const expected = { ...created.body, body: richText('I do.'), editedAt: clock.now().toISOString() }
  expect(edited).toMatchObject({ status: 200, body: expected })
  expect((await call('GET', path, { key })).body.data[0]).toEqual(expected)

  expect((await call('DELETE', `${path}/${created.body.id}`, { key })).status).toBe(204)
  expect((await call('DELETE', `${path}/${created.body.id}`, { key })).status).toBe(404)
  expect((await call('PATCH', `${path}/${created.body.id}`, { key, body })).status).toBe(404)
  expect((await call('GET', `/v1/findings/${findingId}`, { key })).body.commentCount).toBe(2)
})

it('a comment can only be edited by its author, and deleted by them or an admin', async () => {
  const [author, other] = [await makePerson(server, key), await makePerson(server, key)]
  const admin = await makePerson(server, key, 'admin')
  const write = async () =>
    (await call('POST', path, { headers: author.headers, body: { body: richText('Mine.') } })).body
  const [mine, second] = [await write(), await write()]
  expect(mine.authorUserId).toBe(author.userId)
  const edit = ({ headers }: { headers: Record<string, string> }) =>
    call('PATCH', `${path}/${mine.id}`, { headers, body: { body: richText('Not mine.') } })
  const remove = (id: string, { headers }: { headers: Record<string, string> }) =>
    call('DELETE', `${path}/${id}`, { headers })
  for (const person of [other, admin]) expect((await edit(person)).status).toBe(403)
  expect((await remove(mine.id, other)).status).toBe(403)
  expect((await call('GET', path, { key })).body.data).toEqual([mine, second])
  expect((await remove(mine.id, admin)).status).toBe(204)
  expect((await remove(second.id, author)).status).toBe(204)
})

it('a comment belongs to its finding', async () => {
  const id = await makeComment(server, key, findingId)
  const other = (await makeFinding(server, key)).id
  const body = { body: richText('Hm.') }
  for (const elsewhere of [other, randomUUID()]) {
    expect((await call('PATCH', `/v1/findings/${elsewhere}/comments/${id}`, { key, body })).status).toBe(404)
    expect((await call('DELETE', `/v1/findings/${elsewhere}/comments/${id}`, { key })).status).toBe(404)
  }
  expect((await call('POST', `/v1/findings/${randomUUID()}/comments`, { key, body })).status).toBe(404)
  expect((await call('GET', `/v1/findings/${randomUUID()}/comments`, { key })).status).toBe(404)
})

it.each<[object, string]>([
  [{}, 'body'],
  [{ body: 'words' }, 'body'],
  [{ body: null }, 'body'],
  [{ body: { type: 'doc' } }, 'body'],
  [{ body: richText(' ') }, 'body'],
  [{ body: { type: 'doc', content: [{ type: 'horizontalRule' }] } }, 'body'],
  [{ body: { type: 'doc', content: [{ type: 'a b' }] } }, 'body.content[0].type'],
  [{ body: richText('a'.repeat(256 * 1_024)) }, 'body'],
])('a comment of %j is rejected', async (body, at) => {
  const id = await makeComment(server, key, findingId)
  const before = (await call('GET', path, { key })).body
  for (const [method, where] of [
    ['POST', path],
    ['PATCH', `${path}/${id}`],
  ] as const) {
    const answer = await call(method, where, { key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.details.issues[0].path).toBe(at)
  }
  expect((await call('GET', path, { key })).body).toEqual(before)
})

it('a finding can have at most a thousand comments', async () => {
  const { member } = (await call('GET', '/v1/me', { key })).body
  await server.deps.db
    .insertInto('finding_comments')
    .values(
      Array.from({ length: 998 }, () => ({
        organization_id: org,
        id: newId(),
        finding_id: findingId,
        author_user_id: member.userId,
        body: JSON.stringify(richText('Again.')),
        created_at: clock.now(),
      })),
    )
    .execute()
  const body = { body: richText('And again.') }
  const answers = await Promise.all(Array.from({ length: 5 }, () => call('POST', path, { key, body })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409])
  expect((await call('GET', `/v1/findings/${findingId}`, { key })).body.commentCount).toBe(1_000)
})
