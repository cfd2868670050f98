import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeAgent, makeAgentVersion, makeCompany, makeConversation, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { countWaiting } from '../../test/support/count-waiting.ts'

const server = await testServer()

const unknownId = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'

const startedAt = '2026-11-20T09:00:00.000Z'
const leo = { externalId: 'leo', name: 'Leo', channel: 'voice' }
const minimal = { agent: leo, channel: 'call', startedAt }

const transcript = [
  { role: 'agent', text: 'Acme Dental, how can I help?', startMs: 0, endMs: 2_000 },
  { role: 'customer', text: 'I want to move my appointment.', startMs: 2_500, endMs: 4_500 },
  { role: 'agent', text: 'Of course.', startMs: 5_300, endMs: 6_000 },
]

describe('creating a conversation', () => {
  it('stores and returns all of its properties', async () => {
    const { key } = await makeOrganization(server)
    const company = await makeCompany(server, key)
    const body = {
      externalId: 'call-1',
      agent: leo,
      systemPrompt: 'You are Leo.',
      companyId: company.id,
      channel: 'call',
      direction: 'inbound',
      startedAt: '2026-11-20T10:00:00+01:00',
      endedAt: '2026-11-20T09:03:04.400Z',
      endReason: 'customer-ended-call',
      customerId: 'customer-4711',
      metadata: { plan: 'gold', nested: { deep: [1, null, 'two'] } },
      transcript,
      metrics: [{ key: 'csat', value: 4 }],
    }
    const made = await server.call('POST', '/v1/conversations', { key, body })
    expect(made.status).toBe(201)
    const { id, agentId, agentVersionId } = made.body
    expect(made.headers.get('location')).toBe(`/v1/conversations/${id}`)
    expect(made.body).toEqual({
      id,
      externalId: 'call-1',
      agentId,
      agentVersionId,
      companyId: company.id,
      channel: 'call',
      direction: 'inbound',
      status: 'completed',
      startedAt,
      endedAt: '2026-11-20T09:03:04.400Z',
      durationSeconds: 184,
      endReason: 'customer-ended-call',
      customerId: 'customer-4711',
      metadata: body.metadata,
      signals: expect.objectContaining({
        turns: { agent: 2, customer: 1 },
        responseLatencyMs: { p50: 800, p95: 800, max: 800 },
        firstWordMs: 0,
        toolCalls: 0,
      }),
      recording: null,
      reviewStatus: 'none',
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    })
    expect((await server.call('GET', `/v1/conversations/${id}`, { key })).body).toEqual(made.body)
    const agent = await server.call('GET', `/v1/agents/${agentId}`, { key })
    expect(agent.body).toMatchObject({ externalId: 'leo', name: 'Leo', currentVersionId: agentVersionId })
    const shown = await server.call('GET', `/v1/conversations/${id}/transcript`, { key })
    expect(shown.body).toEqual({
      conversationId: id,
      createdAt: expect.any(String),
      durationSeconds: 184,
      content: transcript,
      systemPrompt: 'You are Leo.',
      turns: transcript.map((turn, index) => expect.objectContaining({ index, kind: 'message', ...turn })),
      unreadable: null,
      transcribedBy: null,
      transcription: null,
    })
    const metrics = await server.call('GET', `/v1/conversations/${id}/metrics`, { key })
    expect(metrics.body.data).toMatchObject([{ key: 'csat', value: 4 }])
  })

  it('omits missing values from the transcript, and has no signals', async () => {
    const { key } = await makeOrganization(server)
    const { body } = await server.call('POST', '/v1/conversations', { key, body: minimal })
    expect(body.signals.turns).toEqual({ agent: null, customer: null })
    const shown = await server.call('GET', `/v1/conversations/${body.id}/transcript`, { key })
    expect(shown.body).toEqual({
      conversationId: body.id,
      createdAt: expect.any(String),
      content: null,
      turns: [],
      unreadable: null,
      transcribedBy: null,
      transcription: null,
    })
  })

  it('stores an unreadable transcript, and says why', async () => {
    const { key } = await makeOrganization(server)
    const odd = { shape: ['of', { nothing: 'known' }] }
    const { body } = await server.call('POST', '/v1/conversations', { key, body: { ...minimal, transcript: odd } })
    const shown = await server.call('GET', `/v1/conversations/${body.id}/transcript`, { key })
    expect(shown.body).toMatchObject({ content: odd, turns: [], unreadable: expect.stringContaining('format') })
  })

  it('finds agents and versions by each of their identifiers', async () => {
    const { key } = await makeOrganization(server)
    const company = await makeCompany(server, key)
    const agent = await makeAgent(server, key, { externalId: 'leo', companyId: company.id })
    const version = await makeAgentVersion(server, key, agent.id, 'You are Leo.')
    const path = `/v1/agents/${agent.id}/versions`
    const labelled = await server.call('POST', path, { key, body: { systemPrompt: 'Two', label: 'two' } })
    const take = async (fields: object) => {
      const { status, body } = await server.call('POST', '/v1/conversations', {
        key,
        body: { channel: 'call', startedAt, ...fields },
      })
      expect(status).toBe(201)
      expect(body).toMatchObject({ agentId: agent.id, companyId: company.id })
      return body.agentVersionId
    }
    expect(await take({ agentId: agent.id.toUpperCase() })).toBeNull()
    expect(await take({ agentExternalId: 'leo', agentVersionId: version.id })).toBe(version.id)
    expect(await take({ agent: leo, agentVersionLabel: 'two' })).toBe(labelled.body.id)
    expect(await take({ agentId: agent.id, systemPrompt: 'You are Leo.' })).toBe(version.id)
    const third = await take({ agentId: agent.id, systemPrompt: 'Three' })
    expect(await take({ agentId: agent.id, systemPrompt: 'Three' })).toBe(third)
    const versions = await server.call('GET', path, { key })
    expect(versions.body.data.map(({ number }: { number: number }) => number)).toEqual([3, 2, 1])
  })

  it('rejects an invalid request with every fault, and creates nothing', async () => {
    const { key } = await makeOrganization(server)
    const faults = async (fields: object) => {
      const { status, body } = await server.call('POST', '/v1/conversations', { key, body: { ...minimal, ...fields } })
      expect(status).toBe(400)
      return body.details.issues.map(({ path }: { path: string }) => path)
    }
    const ahead = new Date(server.clock.now().getTime() + 301_000).toISOString()
    expect(await faults({ agentId: unknownId, agentVersionLabel: 'a', systemPrompt: 'b', startedAt: ahead })).toEqual([
      'agentId',
      'agentVersionId',
      'startedAt',
    ])
    expect(await faults({ endedAt: '2026-11-20T08:59:59Z', metadata: { big: 'x'.repeat(70_000) } })).toEqual([
      'endedAt',
      'metadata',
    ])
    expect(await faults({ agent: undefined })).toEqual(['agentId'])
    expect(await faults({ agent: undefined, agentId: unknownId })).toEqual(['agentId'])
    expect(await faults({ agent: undefined, agentExternalId: 'nobody' })).toEqual(['agentExternalId'])
    expect(await faults({ companyId: unknownId })).toEqual(['companyId'])
    expect(await faults({ agentVersionId: unknownId })).toEqual(['agentVersionId'])
    expect(await faults({ agentVersionLabel: 'nothing' })).toEqual(['agentVersionLabel'])
    expect(await faults({ metadata: { ['k'.repeat(121)]: 1 } })).toContain('metadata')
    expect(await faults({ recordingUrl: 'ftp://example.com/a.wav' })).toEqual(['recordingUrl'])
    expect(await faults({ colour: 'red' })).toEqual(['colour'])
    expect((await server.call('GET', '/v1/agents', { key })).body.data).toEqual([])
    expect((await server.call('GET', '/v1/conversations', { key })).body.data).toEqual([])
  })

  it("accepts a sender's clock that is five minutes ahead", async () => {
    const { key } = await makeOrganization(server)
    const ahead = new Date(server.clock.now().getTime() + 299_000).toISOString()
    const { status } = await server.call('POST', '/v1/conversations', { key, body: { ...minimal, startedAt: ahead } })
    expect(status).toBe(201)
  })

  it('only accepts metrics from organizations with the entitlement', async () => {
    const { key } = await makeOrganization(server, { entitlements: { metrics: false } })
    const body = { ...minimal, metrics: [{ key: 'csat', value: 1 }] }
    expect((await server.call('POST', '/v1/conversations', { key, body })).status).toBe(403)
    expect((await server.call('POST', '/v1/conversations', { key, body: minimal })).status).toBe(201)
  })
})

describe('a second part', () => {
  it('completes the first, and an equal part changes nothing', async () => {
    const { key } = await makeOrganization(server)
    const post = (fields: object) =>
      server.call('POST', '/v1/conversations', { key, body: { ...minimal, externalId: 'call-1', ...fields } })
    const first = await post({ metadata: { plan: 'gold' }, customerId: 'x' })
    const second = await post({ transcript, metadata: { attempt: 2 }, customerId: null })
    expect([first.status, second.status]).toEqual([201, 200])
    expect(second.headers.get('location')).toBeNull()
    expect(second.body).toMatchObject({
      id: first.body.id,
      metadata: { plan: 'gold', attempt: 2 },
      customerId: 'x',
      signals: { turns: { agent: 2, customer: 1 } },
    })
    const again = await post({ transcript, metadata: { attempt: 2 } })
    expect(again.body).toEqual(second.body)
    const fewer = await post({ transcript: transcript.slice(0, 1) })
    expect(fewer.body).toEqual(second.body)
  })

  it('computes signals again when only the duration is new', async () => {
    const { key } = await makeOrganization(server)
    const post = (fields: object) =>
      server.call('POST', '/v1/conversations', { key, body: { ...minimal, externalId: 'call-1', ...fields } })
    const first = await post({ transcript })
    const second = await post({ durationSeconds: 60 })
    expect(second.body.signals.longestSilenceMs).toBe(54_000)
    expect(second.body.signals.longestSilenceMs).not.toBe(first.body.signals.longestSilenceMs)
  })

  it('finds agents by ID and external ID, whatever these look like', async () => {
    const { key } = await makeOrganization(server)
    const first = await makeAgent(server, key)
    const second = await makeAgent(server, key, { externalId: `id ${first.id}` })
    const items = [{ agentId: first.id }, { agentExternalId: `id ${first.id}` }]
    const conversations = items.map((agent, at) => ({ ...agent, externalId: `call-${at}`, channel: 'call', startedAt }))
    await server.call('POST', '/v1/conversations/batch', { key, body: { conversations } })
    const { body } = await server.call('GET', '/v1/conversations', { key })
    const agentOf = Object.fromEntries(body.data.map((one: Record<string, string>) => [one.externalId, one.agentId]))
    expect(agentOf).toEqual({ 'call-0': first.id, 'call-1': second.id })
  })

  it('with another agent or start is a conflict, and creates nothing', async () => {
    const { key } = await makeOrganization(server)
    const { body } = await server.call('POST', '/v1/conversations', { key, body: { ...minimal, externalId: 'call-1' } })
    for (const fields of [{ startedAt: '2026-11-20T09:00:01Z' }, { agent: { ...leo, externalId: 'mia' } }]) {
      const other = { ...minimal, externalId: 'call-1', customerId: 'other', ...fields }
      const answer = await server.call('POST', '/v1/conversations', { key, body: other })
      expect(answer.status).toBe(409)
      expect(answer.body.details.conversationId).toBe(body.id)
    }
    expect((await server.call('GET', '/v1/agents', { key })).body.data).toHaveLength(1)
    expect((await server.call('GET', `/v1/conversations/${body.id}`, { key })).body).toEqual(body)
  })
})

describe('changing a conversation', () => {
  it('replaces given values, clears nulls, and computes signals again', async () => {
    const { key } = await makeOrganization(server)
    const company = await makeCompany(server, key)
    const made = await makeConversation(server, key, {
      transcript,
      metadata: { plan: 'gold', old: 1 },
      customerId: 'x',
    })
    const version = await makeAgentVersion(server, key, made.agentId)
    const change = {
      agentVersionId: version.id,
      companyId: company.id,
      direction: 'outbound',
      status: 'failed',
      endedAt: '2026-11-20T09:01:00Z',
      endReason: 'error',
      customerId: null,
      metadata: { old: null, fresh: true },
      transcript: transcript.slice(0, 1),
    }
    const answer = await server.call('PATCH', `/v1/conversations/${made.id}`, { key, body: change })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      agentVersionId: version.id,
      companyId: company.id,
      direction: 'outbound',
      status: 'failed',
      durationSeconds: 60,
      endReason: 'error',
      customerId: null,
      metadata: { plan: 'gold', fresh: true },
      signals: { turns: { agent: 1, customer: 0 } },
    })
    expect(answer.body.metadata).not.toHaveProperty('old')
    const shown = await server.call('GET', `/v1/conversations/${made.id}/transcript`, { key })
    expect(shown.body.content).toEqual(transcript.slice(0, 1))
  })

  it('rejects unknown references and invalid values, and changes nothing', async () => {
    const { key } = await makeOrganization(server)
    const other = await makeOrganization(server)
    const made = await makeConversation(server, key)
    const foreign = await makeCompany(server, other.key)
    const bodies = [
      { companyId: foreign.id },
      { agentVersionId: unknownId },
      { endedAt: '2026-11-01T00:00:00Z' },
      { startedAt },
      { metadata: { big: 'x'.repeat(70_000) } },
      { transcript: null },
      {},
    ]
    for (const body of bodies) {
      expect((await server.call('PATCH', `/v1/conversations/${made.id}`, { key, body })).status).toBe(400)
    }
    expect((await server.call('GET', `/v1/conversations/${made.id}`, { key })).body).toEqual(made)
  })
})

describe('limits of storage', () => {
  it('an end beyond the maximum duration leaves the duration unknown', async () => {
    const { key } = await makeOrganization(server)
    const endless = { ...minimal, endedAt: '9999-12-31T23:59:59Z' }
    const made = await server.call('POST', '/v1/conversations', { key, body: endless })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ endedAt: '9999-12-31T23:59:59.000Z', durationSeconds: null })
    const path = `/v1/conversations/${made.body.id}`
    const bounded = await server.call('PATCH', path, { key, body: { endedAt: '2026-11-20T09:01:00Z' } })
    expect(bounded.body.durationSeconds).toBe(60)
    const again = await server.call('PATCH', path, { key, body: { endedAt: '2199-01-01T00:00:00Z' } })
    expect(again.body.durationSeconds).toBeNull()
  })

  it('zero is zero, and a number out of range is rejected with its path', async () => {
    const { key } = await makeOrganization(server)
    const post = (more: string) => {
      const raw = JSON.stringify({ ...minimal, externalId: 'zero' }).replace(/}$/, `,${more}}`)
      return server.call('POST', '/v1/conversations', { key, raw, headers: { 'content-type': 'application/json' } })
    }
    const zero = '"durationSeconds":-0,"metadata":{"x":-0,"y":[ -0.0,"-0"]}'
    const first = await post(zero)
    expect(first.body).toMatchObject({ durationSeconds: 0, metadata: { x: 0, y: [0, '-0'] } })
    expect((await post(zero)).body.updatedAt).toBe(first.body.updatedAt)
    for (const number of ['1e400', '-1E+999', '9'.repeat(400)]) {
      const answer = await post(`"metadata":{"a":{"b":[${number}]}}`)
      expect(answer.status).toBe(400)
      expect(answer.body.details.issues[0].path).toBe('metadata.a.b[0]')
    }
    expect((await post('"metadata":{"text":"1e400","small":1e-400,"large":1e300}')).status).toBe(200)
  })

  it('a large integer keeps its digits or is rejected with its path', async () => {
    const { key } = await makeOrganization(server)
    const post = (metadata: string) => {
      const raw = JSON.stringify({ ...minimal, externalId: 'digits' }).replace(/}$/, `,"metadata":${metadata}}`)
      return server.call('POST', '/v1/conversations', { key, raw, headers: { 'content-type': 'application/json' } })
    }
    const kept = await post(
      '{"a":9007199254740991,"b":-9007199254740992,"c":300000000000000000000,"d":"9007199254740993"}',
    )
    expect(kept.status).toBe(201)
    expect(kept.body.metadata).toEqual({
      a: 9_007_199_254_740_991,
      b: -9_007_199_254_740_992,
      c: 3e20,
      d: '9007199254740993',
    })
    for (const digits of ['9007199254740993', '-9007199254740993', '12345678901234567890', '1'.repeat(30)]) {
      const refused = await post(`{"a":{"b":[1,${digits}]}}`)
      expect(refused.status).toBe(400)
      expect(refused.body.details.issues).toMatchObject([{ path: 'metadata.a.b[1]' }])
    }
    expect((await server.call('GET', `/v1/conversations/${kept.body.id}`, { key })).body.metadata).toEqual(
      kept.body.metadata,
    )
    const id = kept.body.id
    const headers = { 'content-type': 'application/json' }
    const metric = (raw: string) => server.call('PUT', `/v1/conversations/${id}/metrics/score`, { key, raw, headers })
    expect((await metric('{"value":9007199254740993}')).body.details.issues).toMatchObject([{ path: 'value' }])
    expect((await metric('{"value":300000000000000000000}')).body.value).toBe(3e20)
  })

  it('an object with a duplicate name is rejected with it', async () => {
    const { key } = await makeOrganization(server)
    const headers = { 'content-type': 'application/json' }
    const post = (raw: string) => server.call('POST', '/v1/conversations', { key, raw, headers })
    const start = JSON.stringify({ ...minimal, externalId: 'twice' }).slice(0, -1)
    for (const [more, path] of [
      ['"channel":"chat"', 'channel'],
      ['"metadata":{"a":[{"b":1,"c":2,"b":1}]}', 'metadata.a[0].b'],
      [String.raw`"metadata":{"a":1,"\u0061":2}`, 'metadata.a'],
    ]) {
      const refused = await post(`${start},${more}}`)
      expect(refused.status).toBe(400)
      expect(refused.body.details.issues).toMatchObject([{ path, message: 'is repeated' }])
    }
    expect((await post(`${start},"metadata":{"a":{"a":1},"b":{"a":1}}}`)).status).toBe(201)
  })

  it('parts in total have no more metadata than a single one', async () => {
    const { key } = await makeOrganization(server)
    const post = (from: number) =>
      server.call('POST', '/v1/conversations', {
        key,
        body: {
          ...minimal,
          externalId: 'many',
          metadata: Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`k${from + at}`, 1])),
        },
      })
    expect((await post(0)).status).toBe(201)
    expect((await post(400)).status).toBe(200)
    const refused = await post(500)
    expect(refused.status).toBe(400)
    expect(refused.body.details.issues[0].path).toBe('metadata')
  })

  it('metadata that redaction made longer can be sent again, and does not block changes', async () => {
    const { key } = await makeOrganization(server, { features: { phiMode: true } })
    await server.call('PATCH', '/v1/organization', { key, body: { redaction: true } })
    const body = { ...minimal, externalId: 'grows', metadata: { contacts: Array(7_000).fill('a@b.co') } }
    const first = await server.call('POST', '/v1/conversations', { key, body })
    expect(first.status).toBe(201)
    expect(JSON.stringify(first.body.metadata).length).toBeGreaterThan(65_536)
    expect((await server.call('POST', '/v1/conversations', { key, body })).status).toBe(200)
    const path = `/v1/conversations/${first.body.id}`
    expect((await server.call('PATCH', path, { key, body: { customerId: 'x' } })).status).toBe(200)
  })
})

it('a company that is deleted just before a commit is a fault with its path, not an internal error', async () => {
  const { key, id: org } = await makeOrganization(server)
  const company = await makeCompany(server, key)
  const made = await makeConversation(server, key)
  const { db } = server.deps
  const answer = await db.transaction().execute(async (trx) => {
    await sql`DELETE FROM companies WHERE organization_id = ${org} AND id = ${company.id}`.execute(trx)
    const asked = server.call('PATCH', `/v1/conversations/${made.id}`, { key, body: { companyId: company.id } })
    await expect.poll(() => countWaiting(db, 'update conversations'), { interval: 5 }).toBe(1)
    // The object prevents the request from being awaited before the commit.
    return { asked }
  })
  const { status, body } = await answer.asked
  expect(status).toBe(400)
  expect(body.details.issues[0].path).toBe('companyId')
})

it('a company with conversations cannot be deleted', async () => {
  const { key } = await makeOrganization(server)
  const company = await makeCompany(server, key)
  await makeConversation(server, key, { companyId: company.id })
  const answer = await server.call('DELETE', `/v1/companies/${company.id}`, { key })
  expect(answer.status).toBe(409)
})
