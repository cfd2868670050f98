import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { makeConversation, makeMonitor, makeOrganization, wav } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { speak, speechRate, toMp3, toWav } from '../../test/support/recordings.ts'
import { offerConversations } from '../buckets/arrivals/jobs.ts'
import { eraseConversations } from '../conversations/erasure/erase.ts'
import { evaluateConversations } from '../evaluations/lifecycle.ts'
import { orgIdOf } from '../platform/ids.ts'
import { jobList } from '../worker.ts'
import { deriveMeasures, measureOlder, measureSound } from './jobs.ts'

const server = await testServer()
const { db, jobs } = server.deps

const call = speak([
  { channel: 0, text: 'Hello, this is the clinic, how can I help you today?', startMs: 500 },
  { channel: 1, text: 'I would like to move my appointment to next Friday please.', startMs: 5_000 },
  { channel: 0, text: 'I can offer you ten thirty in the morning.', startMs: 9_700 },
])

const transcriptOf = (agentChannel: 0 | 1) => ({
  turns: call.lines.map(({ channel, text, startMs, endMs }) => ({
    role: channel === agentChannel ? 'agent' : 'customer',
    text,
    startMs: Math.round(startMs),
    endMs: Math.round(endMs),
  })),
})

const open = async (fields: object = {}, switches: Parameters<typeof makeOrganization>[1] = {}) => {
  const { id: organizationId, key } = await makeOrganization(server, switches)
  const { id } = await makeConversation(server, key, fields)
  const upload = async (content: Buffer, type = 'audio/wav', to = id) => {
    const { status, text } = await server.call('PUT', `/v1/conversations/${to}/recording`, {
      key,
      raw: Uint8Array.from(content),
      headers: { 'content-type': type },
    })
    expect(status, text).toBe(200)
  }
  const measure = () => jobs.drain([measureSound, deriveMeasures], server.deps)
  const measureLater = async () => {
    await jobs.enqueue(db, measureOlder, {})
    await jobs.drain([measureOlder], server.deps)
  }
  const read = async () => {
    const { status, text, body } = await server.call('GET', `/v1/conversations/${id}/sound`, { key })
    expect(status, text).toBe(200)
    return body
  }
  const search = async (request: object = {}) => {
    const body = { filter: {}, include: ['sound'], ...request }
    const { status, text, body: page } = await server.call('POST', '/v1/conversations/search', { key, body })
    expect(status, text).toBe(200)
    return page.data
  }
  return { org: orgIdOf(organizationId), id, key, upload, measure, measureLater, read, search }
}

it('measures an uploaded recording', async () => {
  const { upload, measure, read } = await open({ transcript: transcriptOf(0) })
  expect(await read()).toMatchObject({ status: 'none', measures: null, segments: [] })
  await upload(await toMp3(call.channels), 'audio/mpeg')
  expect(await read()).toMatchObject({ status: 'pending', measures: null })
  await measure()
  const sound = await read()
  expect(sound).toMatchObject({
    status: 'measured',
    channels: 2,
    sampleRate: 22_050,
    speakers: { agent: 0, customer: 1, by: 'transcript' },
    unmeasured: {},
    talkOver: [],
  })
  expect(sound.waveform.map((parts: number[]) => parts.length)).toEqual([500, 500])
  // Nobody speaks in the first 500 ms, and the loudest part is somewhere else.
  expect(Math.max(...sound.waveform[0].slice(0, 15))).toBeLessThan(0.01)
  expect(Math.max(...sound.waveform[0])).toBeGreaterThan(0.1)
  expect(sound.gaps.map(({ channel }: { channel: number }) => channel)).toEqual([1, 0])
  const [, customer, agent] = call.lines
  const truth = (agent?.startMs ?? 0) - (customer?.endMs ?? 0)
  expect(Math.abs(sound.measures.responseMs.agent.p50 - truth)).toBeLessThan(150)
  expect(sound.measures.responseMs.agent.count).toBe(1)
  expect(Math.abs(sound.measures.firstSpeechMs.agent - 500)).toBeLessThan(100)
  expect(sound.measures.talkRatio).toBeGreaterThan(0.5)
  const { loudnessLufs, loudnessDifferenceLu, overallLoudnessLufs } = sound.measures
  expect(loudnessDifferenceLu).toBeCloseTo(loudnessLufs.agent - loudnessLufs.customer, 0)
  expect(overallLoudnessLufs).toBeGreaterThan(loudnessLufs.customer - 3)
  // The transcript reports the times at which the recording was generated.
  expect(Math.abs(sound.comparison.differenceMs)).toBeLessThan(150)
})

describe('who speaks on which channel', () => {
  it('follows the transcript, even if it arrives later', async () => {
    const { id, key, upload, measure, read, search } = await open()
    await upload(toWav(call.channels))
    await measure()
    const before = await read()
    expect(before.speakers).toEqual({ agent: null, customer: null, by: 'unknown' })
    expect(before.measures.responseMs).toEqual({ agent: null, customer: null })
    expect(before.unmeasured.responseMs).toBe('It is not known who speaks on which channel.')
    expect(before.gaps).toHaveLength(2)
    const { status } = await server.call('PATCH', `/v1/conversations/${id}`, {
      key,
      body: { transcript: transcriptOf(1) },
    })
    expect(status).toBe(200)
    expect((await read()).speakers).toEqual({ agent: 1, customer: 0, by: 'transcript' })
    const interrupted = { sound: [{ name: 'responseMs.agent.count', op: 'gte', value: 1 }] }
    expect(await search({ filter: interrupted })).toEqual([])
    await measure()
    const [found] = await search({ filter: interrupted })
    expect(found.sound).toEqual((await read()).measures)
  })

  it('is unknown if the transcript has no times', async () => {
    const turns = call.lines.map(({ text }) => ({ role: 'agent', text }))
    const { upload, measure, read } = await open({ transcript: { turns } })
    await upload(toWav(call.channels))
    await measure()
    expect((await read()).speakers.by).toBe('unknown')
  })
})

describe('searches', () => {
  it('filter and sort by measures, and include them', async () => {
    const { id, key, upload, measure, read, search } = await open({ transcript: transcriptOf(0) })
    const other = await makeConversation(server, key)
    await upload(toWav(call.channels))
    const slow = { sound: [{ name: 'responseMs.agent.p95', op: 'gt', value: 100 }] }
    expect(await search({ filter: slow })).toEqual([])
    expect((await search()).map(({ sound }: { sound: unknown }) => sound)).toEqual([null, null])
    await measure()
    const [found, ...others] = await search({ filter: slow })
    expect(others).toEqual([])
    expect(found).toMatchObject({ id, sound: (await read()).measures })
    expect(await search({ filter: { sound: [{ name: 'responseMs.agent.p95', op: 'lte', value: 100 }] } })).toEqual([])
    const sorted = await search({ sort: { by: 'sound:talkRatio', direction: 'asc' } })
    expect(sorted.map((row: { id: string }) => row.id)).toEqual([id, other.id])
    const { body } = await server.call('POST', '/v1/conversations/count', { key, body: { filter: slow } })
    expect(body).toEqual({ count: 1, explanation: 'conversations, where sound responseMs.agent.p95 is more than 100' })
  })

  it('reject unknown measures', async () => {
    const { key } = await open()
    const pathsOf = async (body: object) => {
      const { body: fault } = await server.call('POST', '/v1/conversations/search', { key, body })
      return fault.details.issues.map(({ path }: { path: string }) => path)
    }
    const condition = { name: 'responseMs', op: 'gt', value: 1 }
    expect(await pathsOf({ filter: { sound: [condition] } })).toEqual(['filter.sound[0].name'])
    expect(await pathsOf({ filter: {}, sort: { by: 'sound:mood' } })).toEqual(['sort.by'])
  })

  it('include nothing of recordings that cannot be measured', async () => {
    const { upload, measure, search } = await open()
    await upload(Buffer.concat([wav(44), Buffer.from('nothing')]))
    await measure()
    expect(await search()).toMatchObject([{ sound: null }])
    expect(await search({ filter: { sound: [{ name: 'dropouts', op: 'gte', value: 0 }] } })).toEqual([])
  })
})

describe('a rule that reads the sound', () => {
  const expression = 'sound.responseMs.agent.p95 > 100'
  const makeRules = async (key: string) => {
    const rule = await makeMonitor(server, key, { name: 'Slow', kind: 'rule', definition: { expression } })
    const guarded = { expression: 'has(sound.dropouts)' }
    const other = await makeMonitor(server, key, { name: 'Measured', kind: 'rule', definition: guarded })
    return { rule, other }
  }
  const resultsOf = async (key: string, id: string) => {
    const { body } = await server.call('GET', `/v1/conversations/${id}/results`, { key })
    return Object.fromEntries(
      body.data.map(({ monitorId, result, reasoning }: Record<string, string>) => [monitorId, result ?? reasoning]),
    )
  }

  it('waits until it has been measured', async () => {
    const { key, upload } = await open()
    const { rule, other } = await makeRules(key)
    const { id } = await makeConversation(server, key, { status: 'in_progress' })
    await upload(toWav(call.channels), 'audio/wav', id)
    const changes = { status: 'completed', transcript: transcriptOf(0) }
    expect((await server.call('PATCH', `/v1/conversations/${id}`, { key, body: changes })).status).toBe(200)
    await jobs.drain([evaluateConversations], server.deps)
    expect(await resultsOf(key, id)).toEqual({})
    await server.drain()
    expect(await resultsOf(key, id)).toEqual({ [rule.id]: 'affected', [other.id]: 'affected' })
  })

  it('follows the recording and the transcript', async () => {
    const { key, upload } = await open()
    const { rule, other } = await makeRules(key)
    const { id } = await makeConversation(server, key)
    await server.drain()
    const missing = 'sound.responseMs is not known'
    expect(await resultsOf(key, id)).toEqual({ [rule.id]: missing, [other.id]: 'not_affected' })
    await upload(toWav(call.channels), 'audio/wav', id)
    await server.drain()
    expect(await resultsOf(key, id)).toEqual({
      [rule.id]: `sound.responseMs.agent is not known`,
      [other.id]: 'affected',
    })
    await server.call('PATCH', `/v1/conversations/${id}`, { key, body: { transcript: transcriptOf(0) } })
    await server.drain()
    expect(await resultsOf(key, id)).toEqual({ [rule.id]: 'affected', [other.id]: 'affected' })
  })

  it('is evaluated if the recording cannot be stored or measured', async () => {
    const { key, upload } = await open()
    const { rule, other } = await makeRules(key)
    const unreadable = await makeConversation(server, key)
    await upload(Buffer.concat([wav(44), Buffer.from('nothing')]), 'audio/wav', unreadable.id)
    const lost = await makeConversation(server, key, { recordingUrl: 'http://127.0.0.1:9/lost.wav' })
    await jobs.drain(jobList, server.deps, { allowFailures: true })
    const absent = { [rule.id]: 'sound.responseMs is not known', [other.id]: 'not_affected' }
    expect(await resultsOf(key, unreadable.id)).toEqual(absent)
    expect(await resultsOf(key, lost.id)).toEqual(absent)
  })
})

it('fills a bucket once the sound is measured', async () => {
  const { key, upload, measure } = await open()
  const filters = { sound: [{ name: 'responseMs.agent.p95', op: 'gt', value: 100 }] }
  const { body: bucket } = await server.call('POST', '/v1/buckets', {
    key,
    body: { name: 'Slow', type: 'dynamic', filters },
  })
  const { id } = await makeConversation(server, key, { transcript: transcriptOf(0) })
  await upload(toWav(call.channels), 'audio/wav', id)
  await measure()
  await jobs.drain([offerConversations], server.deps)
  const { body } = await server.call('GET', `/v1/buckets/${bucket.id}/conversations`, { key })
  expect(body.data.map(({ conversationId }: { conversationId: string }) => conversationId)).toEqual([id])
})

it('says which measures a recording with one channel lacks', async () => {
  const { upload, measure, read } = await open({ transcript: transcriptOf(0) })
  await upload(toWav(call.channels.slice(0, 1)))
  await measure()
  const sound = await read()
  expect(sound).toMatchObject({ channels: 1, gaps: [], measures: { talkOverMs: null, talkRatio: null } })
  expect(sound.unmeasured.talkRatio).toBe('The recording has one channel.')
  expect(sound.measures.silenceMs).toBeGreaterThan(3_000)
})

/** The tone of key 5, between silences. */
const withKey = Float32Array.from({ length: 3 * speechRate }, (_, at) => {
  const seconds = at / speechRate
  const wave = (frequency: number) => 0.2 * Math.sin(2 * Math.PI * frequency * seconds)
  return seconds > 1 && seconds < 1.2 ? wave(770) + wave(1_336) : 0
})

it('keeps digits only if the organization does not redact', async () => {
  for (const [phiMode, digits] of [
    [false, '5'],
    [true, null],
  ] as const) {
    const { key, upload, measure, read } = await open({}, { features: { phiMode } })
    if (phiMode) await server.call('PATCH', '/v1/organization', { key, body: { redaction: true } })
    await upload(toWav([withKey]))
    await measure()
    const sound = await read()
    expect(sound.marks).toMatchObject([{ kind: 'dtmf', digits, confidence: null }])
    expect(sound.measures).toMatchObject({ dtmfDigits: 1, tones: 0, cutOffEnds: 0 })
    expect(sound.confidence).toEqual({})
  }
})

it('says why a recording cannot be measured', async () => {
  const { upload, measure, read } = await open()
  await upload(Buffer.concat([wav(44), Buffer.from('nothing')]))
  await measure()
  expect(await read()).toMatchObject({ status: 'unmeasurable', reason: 'The file has no audio.', measures: null })
})

it('measures recordings later if measuring them failed', async () => {
  const { org, upload, measureLater, read } = await open()
  await upload(toWav(call.channels))
  const { blob_key: blobKey } = await db
    .selectFrom('recordings')
    .select('blob_key')
    .where('organization_id', '=', org)
    .executeTakeFirstOrThrow()
  const key = blobKey ?? ''
  const stored = await server.deps.blobs.get(key)
  expect(stored).toBeDefined()
  const content = await buffer((stored as NonNullable<typeof stored>).stream)
  await server.deps.blobs.delete(key)
  const outcomes = await jobs.drain([measureSound], server.deps, { allowFailures: true })
  expect(outcomes.map(({ result }) => result)).toEqual(['retried'])
  await server.deps.blobs.put(key, [content], { contentType: 'audio/wav' })
  await measureLater()
  // The recording has its own job.
  expect(await read()).toMatchObject({ status: 'pending' })
  const longAgo = new Date(Date.now() - 3_600_000)
  await db.updateTable('recordings').set({ updated_at: longAgo }).where('organization_id', '=', org).execute()
  await measureLater()
  expect(await read()).toMatchObject({ status: 'measured' })
})

it('measures a replaced recording again', async () => {
  const { upload, measure, read } = await open()
  await upload(toWav(call.channels))
  await measure()
  await upload(toWav(call.channels.slice(0, 1)))
  expect(await read()).toMatchObject({ status: 'pending' })
  await measure()
  expect(await read()).toMatchObject({ status: 'measured', channels: 1 })
})

it('keeps nothing of an erased conversation', async () => {
  const { org, id, upload, measure } = await open()
  await upload(toWav(call.channels))
  await measure()
  const rows = () =>
    db.selectFrom('recording_sounds').select('conversation_id').where('organization_id', '=', org).execute()
  expect(await rows()).toEqual([{ conversation_id: id }])
  await db.transaction().execute((trx) => eraseConversations(server.deps, trx, org, [id]))
  expect(await rows()).toEqual([])
  // A job that was waiting has nothing left to measure.
  await measure()
  expect(await rows()).toEqual([])
})
