import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { makeConversation, makeFinding, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
const { call, clock } = server

let org: string
let key: string
let path: string
let id: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = made.id
  key = made.key
  id = (await call('POST', '/v1/findings', { key, body: { title: 'A' } })).body.id
  path = `/v1/findings/${id}/conversations`
})

const attach = (conversationId: string) => call('POST', path, { key, body: { conversationId } })
const listed = async () => (await call('GET', path, { key })).body.data
const findingsOf = async (conversationId: string, query = '') =>
  (await call('GET', `/v1/conversations/${conversationId}/findings${query}`, { key })).body

it('a conversation is attached once, visible from both sides, and detached', async () => {
  const conversation = (await makeConversation(server, key)).id
  const attached = await attach(conversation)
  const expected = { findingId: id, conversationId: conversation, createdAt: clock.now().toISOString() }
  expect(attached).toMatchObject({ status: 201, body: { ...expected, alreadyExisted: false } })
  expect(attached.headers.get('location')).toBe(`${path}/${conversation}`)
  clock.advance(1_000)
  const again = await attach(conversation.toUpperCase())
  expect(again).toMatchObject({ status: 200, body: { ...expected, alreadyExisted: true } })
  expect(again.headers.get('location')).toBeNull()
  expect(await listed()).toEqual([expected])

  const finding = (await call('GET', `/v1/findings/${id}`, { key })).body
  expect(finding.conversationCount).toBe(1)
  expect(await findingsOf(conversation)).toEqual({ data: [finding], nextCursor: null })

  expect((await call('DELETE', `${path}/${conversation}`, { key })).status).toBe(204)
  expect((await call('DELETE', `${path}/${conversation}`, { key })).status).toBe(404)
  expect([await listed(), (await findingsOf(conversation)).data]).toEqual([[], []])
})

it('a conversation’s findings are paged, newest first', async () => {
  const { id: first, conversationId } = await makeFinding(server, key)
  await attach(conversationId)
  const body = { conversationId }
  const third = (await makeFinding(server, key)).id
  await call('POST', `/v1/findings/${third}/conversations`, { key, body })
  const page = await findingsOf(conversationId, '?limit=2')
  const rest = await findingsOf(conversationId, `?limit=2&cursor=${page.nextCursor}`)
  expect([...page.data, ...rest.data].map((finding: { id: string }) => finding.id)).toEqual([third, first, id])
  const other = (await makeConversation(server, key)).id
  expect((await call('GET', `/v1/conversations/${other}/findings?cursor=${page.nextCursor}`, { key })).status).toBe(400)
})

it('an unknown resource returns 404, as does another organization’s', async () => {
  const stranger = await makeOrganization(server)
  const foreign = (await makeConversation(server, stranger.key)).id
  const answers = [await attach(foreign), await attach(randomUUID())]
  for (const { status, body } of answers) expect([status, body]).toEqual([404, answers[0]?.body])
  expect((await call('GET', `/v1/conversations/${foreign}/findings`, { key })).status).toBe(404)
  expect((await call('POST', path, { key, body: {} })).status).toBe(400)
  expect(await listed()).toEqual([])
})

it('many concurrent requests attach it once', async () => {
  const conversation = (await makeConversation(server, key)).id
  const answers = await Promise.all(Array.from({ length: 8 }, () => attach(conversation)))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 201])
  expect(answers.filter(({ body }) => !body.alreadyExisted)).toHaveLength(1)
})

it('erasing a conversation detaches it from all findings, even while it is being attached', async () => {
  const conversation = (await makeConversation(server, key)).id
  const [, erased] = await Promise.all([
    attach(conversation),
    call('DELETE', `/v1/conversations/${conversation}`, { key }),
  ])
  expect(erased?.status).toBe(204)
  expect(await listed()).toEqual([])
  expect((await attach(conversation)).status).toBe(404)
})

it('a finding can have at most ten thousand conversations', async () => {
  const template = await makeConversation(server, key)
  const { rows } = await sql<{ columns: string }>`
    SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = 'conversations' AND column_name NOT IN ('id', 'external_id')
      AND is_generated = 'NEVER'`.execute(server.deps.db)
  const columns = sql.raw(rows[0]?.columns ?? '')
  await sql`
    WITH made AS (
      INSERT INTO conversations (id, external_id, ${columns})
      SELECT gen_random_uuid(), 'copy-' || n, ${columns}
      FROM conversations, generate_series(1, 9999) n WHERE organization_id = ${org} AND id = ${template.id}
      RETURNING id)
    INSERT INTO finding_conversations (organization_id, finding_id, conversation_id)
    SELECT ${org}::uuid, ${id}::uuid, id FROM made`.execute(server.deps.db)
  const [first, second] = [(await makeConversation(server, key)).id, (await makeConversation(server, key)).id]
  const answers = await Promise.all([attach(first), attach(second)])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  expect((await attach(answers[0]?.status === 201 ? first : second)).status).toBe(200)

  // The limit also applies to merges.
  const { id: other } = await makeFinding(server, key)
  const merged = await call('POST', `/v1/findings/${other}/merge`, { key, body: { intoId: id } })
  expect(merged).toMatchObject({ status: 409, body: { message: expect.stringContaining('10001') } })
  expect((await call('GET', `/v1/findings/${other}`, { key })).body.status).toBe('open')
})
