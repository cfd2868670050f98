import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { makeAgent, makeConversation, makeOrganization, wav } from '../../../../test/make.ts'
import { testServer } from '../../../../test/server.ts'
import { evaluateConversations } from '../../../evaluations/lifecycle.ts'
import { dayMs } from '../../../platform/durations.ts'
import { deleteExpired } from './jobs.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })
const { call } = server
const { db, blobs, jobs } = server.deps

let downloads = 0
const outside = createServer((_request, response) => {
  downloads++
  response.end(wav())
})
await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve))
afterAll(() => new Promise((resolve) => outside.close(resolve)))
const recordingUrl = `http://127.0.0.1:${(outside.address() as AddressInfo).port}/call.wav`

let org: Awaited<ReturnType<typeof makeOrganization>>
let key: string
beforeEach(async () => {
  org = await makeOrganization(server)
  key = org.key
  downloads = 0
})

const ago = (days: number) => new Date(server.clock.now().getTime() - days * dayMs).toISOString()

const makeCall = (agentId: string, fields: object = {}) =>
  makeConversation(server, key, {
    agent: undefined,
    agentId,
    transcript: [{ role: 'agent', text: 'Hello.' }],
    ...fields,
  })

const upload = (id: string) =>
  call('PUT', `/v1/conversations/${id}/recording`, { key, raw: wav(), headers: { 'content-type': 'audio/wav' } })

const policy = async (agentId: string, recordings: object) => {
  const { status, text } = await call('PATCH', `/v1/agents/${agentId}`, { key, body: { recordings } })
  expect(status, text).toBe(200)
}

const expire = async () => {
  await jobs.enqueue(db, deleteExpired, {})
  await server.drain()
}

const files = async () => {
  const keys: string[] = []
  for await (const file of blobs.list(`${org.id}/recordings/`)) keys.push(file.key)
  return keys
}

const statusOf = async (id: string) =>
  (await call('GET', `/v1/conversations/${id}`, { key })).body.recording?.status ?? null

const soundOf = async (id: string) => (await call('GET', `/v1/conversations/${id}/sound`, { key })).body

const linkTo = async (id: string) =>
  (await call('GET', `/v1/conversations/${id}/recording`, { key })).headers.get('location') ?? ''

describe('recordings for some days', () => {
  it('are deleted afterwards, with their links, and keep their measures', async () => {
    const { id: agentId } = await makeAgent(server, key, { recordings: { keep: 'days', days: 30 } })
    const [old, recent] = [
      await makeCall(agentId, { startedAt: ago(29) }),
      await makeCall(agentId, { startedAt: ago(1) }),
    ]
    for (const { id } of [old, recent]) expect((await upload(id)).status).toBe(200)
    await expire()
    expect(await files()).toHaveLength(2)
    server.clock.advance(2 * dayMs)
    const link = await linkTo(old.id)
    expect((await fetch(link)).status).toBe(200)
    await expire()
    expect(await statusOf(old.id)).toBe('deleted')
    expect(await statusOf(recent.id)).toBe('stored')
    expect(await files()).toHaveLength(1)
    expect((await fetch(link)).status).toBe(404)
    const answer = await call('GET', `/v1/conversations/${old.id}/recording`, { key })
    expect(answer).toMatchObject({ status: 409, body: { message: expect.stringContaining('was deleted') } })
    expect((await soundOf(old.id)).status).toBe('measured')
    const { data } = (await call('GET', '/v1/audit-events?action=conversation.deleteRecording', { key })).body
    expect(data).toMatchObject([{ actor: { kind: 'service' }, targets: [{ id: old.id }] }])
  })

  it('keep no rule waiting that reads their sound', async () => {
    const monitor = { name: 'Measured', kind: 'rule', definition: { expression: 'has(sound.dropouts)' } }
    expect((await call('POST', '/v1/monitors', { key, body: monitor })).status).toBe(201)
    const { id: agentId } = await makeAgent(server, key, { recordings: { keep: 'days', days: 1 } })
    const { id } = await makeCall(agentId, { startedAt: ago(2) })
    await upload(id)
    const results = async () => (await call('GET', `/v1/conversations/${id}/results`, { key })).body.data
    await jobs.drain([evaluateConversations], server.deps)
    expect(await results()).toEqual([])
    await jobs.enqueue(db, deleteExpired, {})
    await jobs.drain([deleteExpired], server.deps)
    await jobs.drain([evaluateConversations], server.deps)
    expect(await results()).toHaveLength(1)
  })

  it('can be uploaded again', async () => {
    const { id: agentId } = await makeAgent(server, key, { recordings: { keep: 'days', days: 1 } })
    const { id } = await makeCall(agentId, { startedAt: ago(2) })
    await upload(id)
    await expire()
    expect(await statusOf(id)).toBe('deleted')
    await upload(id)
    expect(await statusOf(id)).toBe('stored')
    await expire()
    expect(await files()).toEqual([])
  })
})

describe('a transcript only', () => {
  it('means that recordings are measured, never served, and deleted', async () => {
    const { id: agentId } = await makeAgent(server, key, { recordings: { keep: 'transcript_only' } })
    const { id } = await makeCall(agentId, { recordingUrl })
    await server.drain()
    expect(downloads).toBe(1)
    expect(await statusOf(id)).toBe('deleted')
    expect((await soundOf(id)).status).toBe('measured')
    expect(await files()).toEqual([])
    const { data } = (await call('GET', '/v1/audit-events?action=conversation.deleteRecording', { key })).body
    expect(data).toMatchObject([{ actor: { kind: 'service' }, targets: [{ id }] }])
    // The recording doesn't come back when the provider sends the conversation again.
    await call('PATCH', `/v1/conversations/${id}`, { key, body: { recordingUrl } })
    await server.drain()
    expect(downloads).toBe(1)
  })

  it('serves nothing before', async () => {
    const { id: agentId } = await makeAgent(server, key, { recordings: { keep: 'transcript_only' } })
    const { id } = await makeCall(agentId)
    expect((await upload(id)).body.status).toBe('processing')
    expect((await call('GET', `/v1/conversations/${id}/recording`, { key })).status).toBe(409)
  })
})

describe('nothing', () => {
  it('is downloaded or stored', async () => {
    const { id: agentId } = await makeAgent(server, key, { recordings: { keep: 'nothing' } })
    const { id } = await makeCall(agentId, { recordingUrl })
    await call('PATCH', `/v1/conversations/${id}`, { key, body: { recordingUrl } })
    await server.drain()
    expect(downloads).toBe(0)
    expect(await statusOf(id)).toBeNull()
    expect(await upload(id)).toMatchObject({
      status: 409,
      body: { message: 'The conversation’s agent keeps no recordings.' },
    })
    expect(await files()).toEqual([])
  })
})

describe('another policy', () => {
  it.each(['transcript_only', 'nothing'])('also deletes existing recordings: %s', async (keep) => {
    const { id: agentId } = await makeAgent(server, key)
    const other = await makeAgent(server, key)
    const [ours, theirs] = [await makeCall(agentId), await makeCall(other.id)]
    for (const { id } of [ours, theirs]) await upload(id)
    await server.drain()
    await policy(agentId, { keep })
    await server.drain()
    server.clock.advance(1)
    await expire()
    expect(await statusOf(ours.id)).toBe('deleted')
    expect(await statusOf(theirs.id)).toBe('stored')
    expect(await files()).toHaveLength(1)
  })

  it('keeps recordings that have not been deleted yet', async () => {
    const { id: agentId } = await makeAgent(server, key, { recordings: { keep: 'days', days: 1 } })
    const { id } = await makeCall(agentId, { startedAt: ago(2) })
    await upload(id)
    await policy(agentId, { keep: 'days', days: 5 })
    await server.drain()
    await expire()
    expect(await statusOf(id)).toBe('stored')
    await policy(agentId, { keep: 'all' })
    await server.drain()
    server.clock.advance(400 * dayMs)
    await expire()
    expect(await statusOf(id)).toBe('stored')
  })
})

it('redacts the recordings of an agent, whatever the organization does with others', async () => {
  const { id: agentId } = await makeAgent(server, key, { recordings: { keep: 'all', redaction: 'mute' } })
  const other = await makeAgent(server, key)
  const [ours, theirs] = [await makeCall(agentId), await makeCall(other.id)]
  expect((await upload(ours.id)).body.status).toBe('processing')
  expect((await upload(theirs.id)).body.status).toBe('stored')
  await server.drain()
  expect(await statusOf(ours.id)).toBe('stored')
  expect((await soundOf(ours.id)).redacted).toEqual([])
  expect((await soundOf(theirs.id)).redacted).toBeNull()
})
