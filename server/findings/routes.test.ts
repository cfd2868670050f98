import { describe, expect, it } from 'vitest'
import { makeFinding, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'

const server = await testServer()
const { call } = server

describe('a finding that the service filed', () => {
  it('tells what rose, of which monitor, and in which conversations', async () => {
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

  it('is listed by status, priority and tags, in pages', async () => {
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
    const first = await list('limit=2')
    expect(await ids(`limit=2&cursor=${first.nextCursor}`)).toEqual(made.slice(2))
    expect((await call('GET', `/v1/findings?limit=2&status=open&cursor=${first.nextCursor}`, { key })).status).toBe(400)
    for (const [query, path] of [
      ['status=open,closed', 'status'],
      ['priority=', 'priority'],
    ]) {
      const { status, body } = await call('GET', `/v1/findings?${query}`, { key })
      expect([status, body.details.issues[0].path]).toEqual([400, path])
    }
  })

  it('is not shown to another organization', async () => {
    const [mine, other] = [await makeOrganization(server), await makeOrganization(server)]
    const { id } = await makeFinding(server, mine.key)
    expect((await call('GET', `/v1/findings/${id}`, { key: other.key })).status).toBe(404)
    expect((await call('GET', '/v1/findings', { key: other.key })).body.data).toEqual([])
  })
})
