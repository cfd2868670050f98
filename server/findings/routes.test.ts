import { describe, expect, it } from 'vitest'
import { makeConversation, makeFinding, makeKey, makeMember, makeOrganization, richText } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'

const server = await testServer()
const { call } = server

describe('a finding that the service created', () => {
  it('describes the increase, the monitor, and its conversations', async () => {
    const { key } = await makeOrganization(server)
    const { id, monitorId, conversationId } = await makeFinding(server, key, 'Refunds rise')
    const { status, body } = await call('GET', `/v1/findings/${id}`, { key })
    expect(status).toBe(200)
    expect(body).toEqual({
      id,
      title: 'Refunds rise',
      status: 'open',
      priority: 'medium',
      tags: [],
      description: {
        type: 'doc',
        content: [{ type: 'paragraph', content: [{ type: 'text', text: 'From one to two in a hundred.' }] }],
      },
      findingType: 1,
      conversationCount: 1,
      commentCount: 0,
      mergedIntoId: null,
      createdByUserId: null,
      source: { kind: 'monitor', id: monitorId },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const attached = await call('GET', `/v1/findings/${id}/conversations`, { key })
    expect(attached.body).toEqual({
      data: [{ findingId: id, conversationId, createdAt: expect.any(String) }],
      nextCursor: null,
    })
    await call('DELETE', `/v1/conversations/${conversationId}`, { key })
    expect((await call('GET', `/v1/findings/${id}`, { key })).body.conversationCount).toBe(0)
  })

  it('is listed by status, priority, and tags, in pages', async () => {
    const { key } = await makeOrganization(server)
    const made: string[] = []
    for (let count = 0; count < 3; count++) made.unshift((await makeFinding(server, key)).id)
    const list = async (query: string) => (await call('GET', `/v1/findings?${query}`, { key })).body
    const ids = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => id)
    expect(await ids('')).toEqual(made)
    expect(await ids('status=open,ignored&priority=low,medium')).toEqual(made)
    expect(await ids('status=resolved')).toEqual([])
    expect(await ids('priority=urgent')).toEqual([])
    expect(await ids('tags=refund')).toEqual([])
    expect(await ids('findingType=0,1')).toEqual(made)
    expect(await ids('findingType=0')).toEqual([])
    const first = await list('limit=2')
    expect(await ids(`limit=2&cursor=${first.nextCursor}`)).toEqual(made.slice(2))
    expect((await call('GET', `/v1/findings?limit=2&status=open&cursor=${first.nextCursor}`, { key })).status).toBe(400)
    for (const [query, path] of [
      ['status=open,closed', 'status'],
      ['priority=', 'priority'],
      ['findingType=-1', 'findingType'],
      ['findingType=1,', 'findingType'],
      ['findingType=0,32768', 'findingType'],
      ['findingType=99999', 'findingType'],
      ['tags=,', 'tags'],
      ['assigneeUserId=me', 'assigneeUserId'],
      ['monitorId=1', 'monitorId'],
      ['conversationId=', 'conversationId'],
      ['assignee=me', 'assignee'],
    ]) {
      const { status, body } = await call('GET', `/v1/findings?${query}`, { key })
      expect([status, body.details.issues[0].path]).toEqual([400, path])
    }
    const { body } = await call('GET', '/v1/findings?status=shut,done&priority=urgent,top&monitorId=1&tags=,', { key })
    const named = body.details.issues.map(({ path, message }: Record<string, string>) => `${path} ${message}`)
    expect(named.sort()).toEqual([
      'monitorId contains “1”, which is not a UUID',
      'priority contains “top”, which is not one of none, low, medium, high, urgent',
      'status contains “done”, which is not one of open, acknowledged, resolved, ignored',
      'status contains “shut”, which is not one of open, acknowledged, resolved, ignored',
      'tags must contain a tag',
    ])
  })

  it('is hidden from other organizations', async () => {
    const [mine, other] = [await makeOrganization(server), await makeOrganization(server)]
    const { id } = await makeFinding(server, mine.key)
    expect((await call('GET', `/v1/findings/${id}`, { key: other.key })).status).toBe(404)
    expect((await call('GET', '/v1/findings', { key: other.key })).body.data).toEqual([])
  })
})

describe('a finding that a person created', () => {
  it('has what was sent, and its author', async () => {
    const { key } = await makeOrganization(server)
    const { member } = (await call('GET', '/v1/me', { key })).body
    const description = richText('Since the new prompt.')
    const body = { title: ' Refunds ', description, priority: 'high', tags: [' Refund ', 'EU'], findingType: 3 }
    const created = await call('POST', '/v1/findings', { key, body: { ...body, assigneeUserId: member.userId } })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/v1/findings/${created.body.id}`)
    expect(created.body).toEqual({
      ...body,
      id: expect.any(String),
      status: 'open',
      tags: ['Refund', 'EU'],
      assigneeUserId: member.userId,
      conversationCount: 0,
      commentCount: 0,
      mergedIntoId: null,
      createdByUserId: member.userId,
      source: { kind: 'manual', id: null },
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
    })
    expect((await call('GET', `/v1/findings/${created.body.id}`, { key })).body).toEqual(created.body)

    const bare = await call('POST', '/v1/findings', { key, body: { title: 'Bare' } })
    expect(bare.body).toMatchObject({ priority: 'none', tags: [], findingType: 0 })
    expect(bare.body).not.toHaveProperty('description')
    expect(bare.body).not.toHaveProperty('assigneeUserId')
  })

  it('is found by each filter and by all together', async () => {
    const { key } = await makeOrganization(server)
    const assignee = await makeMember(server, key, 'viewer')
    const spike = await makeFinding(server, key)
    const create = async (fields: object) =>
      (await call('POST', '/v1/findings', { key, body: { title: 'A', ...fields } })).body.id
    const mine = await create({ tags: ['Straße', 'ÉTÉ'], assigneeUserId: assignee.userId, findingType: 7 })
    const other = await create({ tags: ['straße'] })
    const body = { conversationId: spike.conversationId }
    await call('POST', `/v1/findings/${mine}/conversations`, { key, body })
    const ids = async (query: Record<string, string>) => {
      const { body } = await call('GET', `/v1/findings?${new URLSearchParams(query)}`, { key })
      return body.data.map(({ id }: { id: string }) => id)
    }
    expect(await ids({ tags: 'STRASSE' })).toEqual([])
    expect(await ids({ tags: 'straße' })).toEqual([other, mine])
    expect(await ids({ tags: 'été, STRAßE,' })).toEqual([mine])
    expect(await ids({ assigneeUserId: assignee.userId.toUpperCase() })).toEqual([mine])
    expect(await ids({ findingType: '7, 1' })).toEqual([mine, spike.id])
    expect(await ids({ monitorId: spike.monitorId })).toEqual([spike.id])
    expect(await ids({ conversationId: spike.conversationId })).toEqual([mine, spike.id])
    expect(await ids({ conversationId: spike.conversationId, findingType: '7', status: 'open' })).toEqual([mine])
    expect(await ids({ conversationId: spike.monitorId })).toEqual([])
  })

  it('is changed property by property, and cleared by null', async () => {
    const { key } = await makeOrganization(server)
    const { userId } = await makeMember(server, key, 'viewer')
    const finding = (await call('POST', '/v1/findings', { key, body: { title: 'A' } })).body
    const path = `/v1/findings/${finding.id}`
    server.clock.advance(1_000)
    const updatedAt = server.clock.now().toISOString()
    let expected = { ...finding, updatedAt }
    for (const change of [
      { title: 'B' },
      { description: richText('b') },
      { tags: ['b', 'B c'] },
      { findingType: 32_767 },
      { assigneeUserId: userId },
      { tags: [], title: 'C' },
    ]) {
      expected = { ...expected, ...change }
      expect(await call('PATCH', path, { key, body: change })).toMatchObject({ status: 200, body: expected })
    }
    const cleared = await call('PATCH', path, { key, body: { description: null, assigneeUserId: null } })
    const { description: _, assigneeUserId: __, ...rest } = expected
    expect(cleared.body).toEqual(rest)
    expect((await call('GET', path, { key })).body).toEqual(rest)
  })

  it('stays assigned to a former member, and cannot be assigned to them again', async () => {
    const { key } = await makeOrganization(server)
    const { id, userId } = await makeMember(server, key, 'viewer')
    const body = { title: 'A', assigneeUserId: userId }
    const finding = (await call('POST', '/v1/findings', { key, body })).body
    await call('DELETE', `/v1/members/${id}`, { key })
    const kept = await call('PATCH', `/v1/findings/${finding.id}`, { key, body: { assigneeUserId: userId } })
    expect(kept).toMatchObject({ status: 200, body: { assigneeUserId: userId } })
    expect((await call('POST', '/v1/findings', { key, body })).body.details.issues).toEqual([
      { path: 'assigneeUserId', message: 'must be the userId of a member' },
    ])
  })

  const stranger = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'
  it.each<[object, string]>([
    [{}, ''],
    [{ status: 'resolved' }, 'status'],
    [{ title: 'B', priority: 'high' }, 'priority'],
    [{ title: ' ' }, 'title'],
    [{ title: null }, 'title'],
    [{ title: 'a'.repeat(501) }, 'title'],
    [{ tags: ['a', ' A '] }, 'tags[1]'],
    [{ tags: ['a,b'] }, 'tags[0]'],
    [{ tags: [' '] }, 'tags[0]'],
    [{ tags: ['a'.repeat(51)] }, 'tags[0]'],
    [{ tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }, 'tags'],
    [{ tags: null }, 'tags'],
    [{ findingType: -1 }, 'findingType'],
    [{ findingType: 32_768 }, 'findingType'],
    [{ findingType: '1' }, 'findingType'],
    [{ assigneeUserId: stranger }, 'assigneeUserId'],
    [{ assigneeUserId: 'ada' }, 'assigneeUserId'],
    [{ description: 'words' }, 'description'],
    [{ description: {} }, 'description.type'],
    [{ description: { type: 'doc', content: [{ type: 'an image' }] } }, 'description.content[0].type'],
  ])('is not changed by %j', async (body, path) => {
    const { key } = await makeOrganization(server)
    const finding = (await call('POST', '/v1/findings', { key, body: { title: 'A' } })).body
    const answer = await call('PATCH', `/v1/findings/${finding.id}`, { key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.details.issues[0].path).toBe(path)
    if (path === 'status' || path === 'priority') expect(answer.body.message).toContain('/triage')
    expect((await call('GET', `/v1/findings/${finding.id}`, { key })).body).toEqual(finding)
  })
})

it('findings and their attachments are read by viewers and written by members', async () => {
  const { key } = await makeOrganization(server)
  const [viewer, member] = [await makeKey(server, key, 'viewer'), await makeKey(server, key, 'member')]
  const { id } = await makeFinding(server, key)
  const conversation = await makeConversation(server, key)
  const writes: [string, string, object][] = [
    ['POST', '/v1/findings', { title: 'A' }],
    ['PATCH', `/v1/findings/${id}`, { title: 'A' }],
    ['POST', `/v1/findings/${id}/triage`, { priority: 'low' }],
    ['POST', `/v1/findings/${id}/conversations`, { conversationId: conversation.id }],
    ['POST', `/v1/findings/${id}/comments`, { body: richText('Hm.') }],
  ]
  for (const [method, path, body] of writes) {
    expect((await call(method, path, { key: viewer.key, body })).status, path).toBe(403)
    expect((await call(method, path, { key: member.key, body })).status, path).toBeLessThan(300)
  }
  for (const part of ['', '/conversations', '/comments', '/history']) {
    expect((await call('GET', `/v1/findings/${id}${part}`, { key: viewer.key })).status).toBe(200)
  }
  const actions = (await call('GET', '/v1/audit-events', { key })).body.data.map(
    ({ action }: { action: string }) => action,
  )
  expect(actions.slice(0, 5)).toEqual([
    'findingComment.create',
    'finding.attach',
    'finding.triage',
    'finding.update',
    'finding.create',
  ])
})
