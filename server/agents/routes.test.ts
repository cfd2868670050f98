import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeAgent, makeAgentGroup, makeAgentVersion, makeCompany, makeKey, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'

const server = await testServer()
const { call } = server

let key: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
})

const idsOf = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map(({ id }) => id)

describe('an agent', () => {
  it('is created with company and groups, and returns every field', async () => {
    const company = await makeCompany(server, key)
    const group = await makeAgentGroup(server, key)
    const body = { externalId: 'agent-7', name: 'Leo', channel: 'text', companyId: company.id, groupIds: [group.id] }
    const answer = await call('POST', '/v1/agents', { key, body })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toBe(`/v1/agents/${answer.body.id}`)
    expect(answer.body).toEqual({
      ...body,
      id: expect.any(String),
      currentVersionId: null,
      transcriptionModel: null,
      agentChannel: null,
      recordings: { keep: 'all', days: null, redaction: null },
      archivedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect((await makeAgent(server, key)).externalId).toBeNull()
  })

  it('has an external ID that is unique in its organization', async () => {
    await makeAgent(server, key, { externalId: 'agent-7' })
    const again = await call('POST', '/v1/agents', {
      key,
      body: { name: 'X', channel: 'voice', externalId: 'agent-7' },
    })
    expect(again.status).toBe(409)
    const elsewhere = await makeOrganization(server)
    expect((await makeAgent(server, elsewhere.key, { externalId: 'agent-7' })).externalId).toBe('agent-7')
  })

  it('rejects a company or group of another organization and creates nothing', async () => {
    const other = await makeOrganization(server)
    const company = await makeCompany(server, other.key)
    const group = await makeAgentGroup(server, other.key)
    for (const [field, value] of [
      ['companyId', company.id],
      ['companyId', randomUUID()],
      ['groupIds', [group.id]],
    ]) {
      const body = { name: 'Leo', channel: 'voice', [field]: value }
      const answer = await call('POST', '/v1/agents', { key, body })
      expect(answer.status).toBe(400)
      expect(answer.body.details.issues[0].path).toBe(field)
    }
    expect((await call('GET', '/v1/agents', { key })).body.data).toEqual([])
  })

  it('replaces all its groups at once', async () => {
    const [first, second] = [await makeAgentGroup(server, key), await makeAgentGroup(server, key)]
    const agent = await makeAgent(server, key, { groupIds: [first.id] })
    const path = `/v1/agents/${agent.id}`
    const moved = await call('PATCH', path, { key, body: { groupIds: [second.id] } })
    expect(moved.body.groupIds).toEqual([second.id])
    expect(idsOf(await call('GET', `/v1/agents?groupId=${second.id}`, { key }))).toEqual([agent.id])
    expect(idsOf(await call('GET', `/v1/agents?groupId=${first.id}`, { key }))).toEqual([])
    await call('DELETE', `/v1/agent-groups/${second.id}`, { key })
    expect((await call('GET', path, { key })).body.groupIds).toEqual([])
  })

  it('can be archived and restored, and keeps its versions', async () => {
    const agent = await makeAgent(server, key)
    const version = await makeAgentVersion(server, key, agent.id)
    const path = `/v1/agents/${agent.id}`
    expect((await call('DELETE', path, { key })).status).toBe(204)
    const archived = (await call('GET', path, { key })).body
    expect(archived.archivedAt).toBe(server.clock.now().toISOString())
    server.clock.advance(60_000)
    await call('DELETE', path, { key })
    expect((await call('GET', path, { key })).body.archivedAt).toBe(archived.archivedAt)
    expect(idsOf(await call('GET', '/v1/agents', { key }))).toEqual([])
    expect(idsOf(await call('GET', '/v1/agents?archived=true', { key }))).toEqual([agent.id])
    expect((await call('GET', `${path}/versions/${version.id}`, { key })).body).toEqual(version)
    const back = await call('PATCH', path, { key, body: { archived: false } })
    expect(back.body.archivedAt).toBeNull()
    expect(idsOf(await call('GET', '/v1/agents', { key }))).toEqual([agent.id])
  })

  it('has a policy for its recordings, which only admins set', async () => {
    const agent = await makeAgent(server, key)
    const change = (recordings: object, by = key) =>
      call('PATCH', `/v1/agents/${agent.id}`, { key: by, body: { recordings } })
    const kept = await change({ keep: 'days', days: 30, redaction: 'beep' })
    expect(kept.body.recordings).toEqual({ keep: 'days', days: 30, redaction: 'beep' })
    await call('PATCH', `/v1/agents/${agent.id}`, { key, body: { name: 'Renamed' } })
    expect((await call('GET', `/v1/agents/${agent.id}`, { key })).body.recordings).toEqual(kept.body.recordings)
    expect((await change({ keep: 'nothing' })).body.recordings).toEqual({
      keep: 'nothing',
      days: null,
      redaction: 'beep',
    })
    expect((await change({ redaction: null })).body.recordings).toEqual({
      keep: 'nothing',
      days: null,
      redaction: null,
    })
    for (const wrong of [{ keep: 'days' }, { keep: 'all', days: 3 }, { keep: 'days', days: 0 }, { days: 3 }]) {
      expect((await change(wrong)).status, JSON.stringify(wrong)).toBe(400)
    }
    const member = await makeKey(server, key, 'member')
    expect((await change({ keep: 'all' }, member.key)).status).toBe(403)
    const body = { name: 'Mia', channel: 'voice', recordings: { keep: 'transcript_only' } }
    expect((await call('POST', '/v1/agents', { key: member.key, body })).status).toBe(403)
    expect((await call('POST', '/v1/agents', { key, body })).body.recordings.keep).toBe('transcript_only')
  })

  it('keeps its company from being deleted', async () => {
    const company = await makeCompany(server, key)
    const agent = await makeAgent(server, key, { companyId: company.id })
    expect((await call('DELETE', `/v1/companies/${company.id}`, { key })).status).toBe(409)
    await call('PATCH', `/v1/agents/${agent.id}`, { key, body: { companyId: null } })
    expect((await call('DELETE', `/v1/companies/${company.id}`, { key })).status).toBe(204)
  })

  it('is listed by company, channel, and external ID, with cursors for one filter', async () => {
    const company = await makeCompany(server, key)
    const a = await makeAgent(server, key, { companyId: company.id, externalId: 'a' })
    const b = await makeAgent(server, key, { companyId: company.id, channel: 'text' })
    await makeAgent(server, key)
    const byCompany = await call('GET', `/v1/agents?companyId=${company.id}&limit=1`, { key })
    expect(idsOf(byCompany)).toEqual([b.id])
    const { nextCursor } = byCompany.body
    expect(
      idsOf(await call('GET', `/v1/agents?companyId=${company.id}&limit=1&cursor=${nextCursor}`, { key })),
    ).toEqual([a.id])
    expect((await call('GET', `/v1/agents?limit=1&cursor=${nextCursor}`, { key })).status).toBe(400)
    expect(idsOf(await call('GET', '/v1/agents?channel=text', { key }))).toEqual([b.id])
    expect(idsOf(await call('GET', '/v1/agents?externalId=a', { key }))).toEqual([a.id])
  })
})

describe('a version', () => {
  const make = (agentId: string, body: object) => call('POST', `/v1/agents/${agentId}/versions`, { key, body })

  it('is numbered from 1 and becomes the current one', async () => {
    const agent = await makeAgent(server, key)
    const first = await make(agent.id, { systemPrompt: 'One', config: { model: 'large' }, label: 'v1' })
    expect(first.status).toBe(201)
    expect(first.body).toEqual({
      id: expect.any(String),
      agentId: agent.id,
      number: 1,
      label: 'v1',
      systemPrompt: 'One',
      config: { model: 'large' },
      createdAt: expect.any(String),
    })
    const second = await make(agent.id, { systemPrompt: 'Two' })
    expect(second.body).toMatchObject({ number: 2, label: null, config: {} })
    expect((await call('GET', `/v1/agents/${agent.id}`, { key })).body.currentVersionId).toBe(second.body.id)
    const list = await call('GET', `/v1/agents/${agent.id}/versions?limit=1`, { key })
    expect(idsOf(list)).toEqual([second.body.id])
    const rest = await call('GET', `/v1/agents/${agent.id}/versions?limit=1&cursor=${list.body.nextCursor}`, { key })
    expect(rest.body).toEqual({ data: [first.body], nextCursor: null })
  })

  it('is the same for the same prompt and configuration, whatever their spelling', async () => {
    const agent = await makeAgent(server, key)
    const made = await make(agent.id, { systemPrompt: 'One', config: { a: 1, b: { c: [1, 2], d: null } } })
    const again = await make(agent.id, { systemPrompt: 'One', config: { b: { d: null, c: [1, 2] }, a: 1 }, label: 'x' })
    expect(again.status).toBe(200)
    expect(again.body).toEqual(made.body)
    for (const config of [
      { a: 1, b: { c: [2, 1], d: null } },
      {
        a: 1,
        b: [
          ['c', [1, 2]],
          ['d', null],
        ],
      },
      { a: '1', b: { c: [1, 2], d: null } },
      [['a', 1]],
    ]) {
      const other = await make(agent.id, { systemPrompt: 'One', config })
      expect(other.status).toBe(Array.isArray(config) ? 400 : 201)
    }
  })

  it('is created once by many concurrent requests', async () => {
    const agent = await makeAgent(server, key)
    const prompts = Array.from({ length: 24 }, (_, index) => `Prompt ${index % 3}`)
    const made = await Promise.all(prompts.map((systemPrompt) => make(agent.id, { systemPrompt })))
    expect(made.filter(({ status }) => status === 201)).toHaveLength(3)
    expect(new Set(made.map(({ body }) => body.number))).toEqual(new Set([1, 2, 3]))
  })

  it('has a label that is unique for the agent', async () => {
    const agent = await makeAgent(server, key)
    await make(agent.id, { systemPrompt: 'One', label: 'live' })
    expect((await make(agent.id, { systemPrompt: 'Two', label: 'live' })).status).toBe(409)
    const other = await makeAgent(server, key)
    expect((await make(other.id, { systemPrompt: 'Two', label: 'live' })).status).toBe(201)
  })

  it('is not found under another agent', async () => {
    const [agent, other] = [await makeAgent(server, key), await makeAgent(server, key)]
    const version = await makeAgentVersion(server, key, agent.id)
    expect((await call('GET', `/v1/agents/${other.id}/versions/${version.id}`, { key })).status).toBe(404)
  })
})

describe('an agent group', () => {
  it('is created, renamed, and deleted, with a unique name', async () => {
    const group = await makeAgentGroup(server, key, 'Night')
    const again = await call('POST', '/v1/agent-groups', { key, body: { name: 'Night' } })
    expect(again.status).toBe(409)
    const path = `/v1/agent-groups/${group.id}`
    expect((await call('PATCH', path, { key, body: { name: 'Day' } })).body.name).toBe('Day')
    expect(idsOf(await call('GET', '/v1/agent-groups', { key }))).toEqual([group.id])
    expect((await call('DELETE', path, { key })).status).toBe(204)
    expect((await call('GET', path, { key })).status).toBe(404)
  })
})
