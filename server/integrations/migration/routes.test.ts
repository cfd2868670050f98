import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeAgent, makeKey, makeOrganization } from '../../../test/make.ts'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { testServer } from '../../../test/server.ts'
import { shortIdOf } from './short-id.ts'

const server = await testServer()
const { call } = server

const paths = {
  roark: '/v1/integrations/roark/v1/call',
  coval: '/v1/integrations/coval/v1/conversations:submit',
  cekura: '/v1/integrations/cekura/observability/v1/observe/',
  bluejay: '/v1/integrations/bluejay/v1/evaluate',
}
type Platform = keyof typeof paths

let key: string
let org: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  key = made.key
  org = made.id
})

const send = (platform: Platform, body: unknown, as = key) => call('POST', paths[platform], { key: as, body })
const get = async (path: string) => (await call('GET', path, { key })).body

/** Reads the conversation, using the ID in the response that created it. */
const storedBy = async (answer: { headers: Headers }) => {
  const path = answer.headers.get('location') ?? ''
  const conversation = await get(path)
  const { turns } = await get(`${path}/transcript`)
  return { conversation, turns, agent: await get(`/v1/agents/${conversation.agentId}`) }
}

describe('Roark', () => {
  const body = sample('roark_call_create.json')

  it('stores a call with its agent, prompt, turns, tools, end, and recording', async () => {
    const answer = await send('roark', { ...body, externalId: 'r-1' })
    const { conversation, turns, agent } = await storedBy(answer)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        data: {
          id: conversation.id,
          agents: [{ id: agent.id }],
          callDirection: 'INBOUND',
          customers: [{ phoneNumberE164: '+15550100123' }],
          externalId: 'r-1',
          projectId: org,
          startedAt: '2026-02-23T09:00:00.000Z',
          status: 'ENDED',
        },
      },
    })
    expect(agent).toMatchObject({ externalId: 'nora', name: 'nora', channel: 'voice' })
    expect(conversation).toMatchObject({
      externalId: 'r-1',
      channel: 'call',
      direction: 'inbound',
      status: 'completed',
      endReason: 'CUSTOMER_ENDED_CALL',
      customerId: '+15550100123',
      metadata: { company: 'harbor-dental' },
      agentVersionId: expect.any(String),
      recording: { status: 'pending' },
    })
    expect(turns).toMatchObject([
      { role: 'agent', text: 'Hello', startMs: 600, endMs: 1_100 },
      { role: 'customer', text: 'Hi', startMs: 1_500, endMs: 1_700 },
      { kind: 'tool_call', startMs: 2_000, tool: { name: 'find_slot', arguments: { week: 'W09' } } },
      { kind: 'tool_result', startMs: 2_600, tool: { result: { slots: 1 } } },
    ])
  })

  it('finds an agent by custom ID, by Roark’s own, by name, and by ours', async () => {
    const ours = await makeAgent(server, key)
    const roarkId = randomUUID()
    const named = [{ customId: 'nora' }, { roarkId }, { name: 'Nora' }, { name: 'Nora at night', customId: 'night' }]
    const externalIds = ['nora', roarkId, 'Nora', 'night']
    for (const [index, agent] of named.entries()) {
      const answer = await send('roark', { ...body, agent: undefined, agents: [agent], externalId: `r-${index}` })
      expect((await storedBy(answer)).agent).toMatchObject({ externalId: externalIds[index] })
    }
    const byOurs = await send('roark', { ...body, agent: { roarkId: ours.id }, externalId: 'r-ours' })
    expect((await storedBy(byOurs)).agent.id).toBe(ours.id)
    const stranger = await makeOrganization(server)
    const foreign = await makeAgent(server, stranger.key)
    const byForeign = await send('roark', { ...body, agent: { roarkId: foreign.id }, externalId: 'r-foreign' })
    expect((await storedBy(byForeign)).agent).toMatchObject({ externalId: foreign.id })
  })

  it.each([
    ['CUSTOMER_DID_NOT_ANSWER', 'failed', 'call'],
    ['AGENT_ERROR', 'failed', 'call'],
    ['VOICE_MAIL_REACHED', 'completed', 'voicemail'],
    ['SILENCE_TIME_OUT', 'completed', 'call'],
    ['A_STATE_OF_TOMORROW', 'completed', 'call'],
  ])('%s is %s, a %s', async (endedStatus, status, channel) => {
    const { conversation } = await storedBy(await send('roark', { ...body, endedStatus }))
    expect(conversation).toMatchObject({ status, channel, endReason: endedStatus })
  })

  it('stores a call without an ID once, however often its client retries', async () => {
    const [first, second] = [await send('roark', body), await send('roark', body)]
    expect(second.body.data.id).toBe(first.body.data.id)
    expect(first.body.data.externalId).toBeNull()
  })
})

describe('Coval', () => {
  it('stores OpenAI messages with seconds, and returns IDs that its clients accept', async () => {
    const body = sample('coval_conversation_submit.json')
    const answer = await send('coval', body)
    const { conversation, turns, agent } = await storedBy(answer)
    const shortId = shortIdOf(conversation.id)
    expect(shortId).toMatch(/^[2-9A-HJ-NP-Za-km-z]{22}$/)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        conversation: {
          name: `conversations/${shortId}`,
          conversation_id: shortId,
          status: 'PENDING',
          external_conversation_id: 'ext-771',
          occurred_at: '2026-02-23T09:00:00.000Z',
          has_audio: true,
          agent_id: body.agent_id,
          metadata: { campaign: 'q1' },
          tags: ['support'],
        },
      },
    })
    expect(agent.externalId).toBe(body.agent_id)
    expect(conversation).toMatchObject({ channel: 'call', metadata: { campaign: 'q1', tags: ['support'] } })
    expect(turns).toMatchObject([
      { role: 'agent', text: 'Hello', startMs: 600, endMs: 1_100 },
      { role: 'customer', text: 'Hi', startMs: 1_500, endMs: 1_700 },
      { kind: 'tool_call', tool: { callId: 'c1', name: 'lookup' } },
      { kind: 'tool_result', tool: { callId: 'c1' } },
    ])
  })

  it('accepts the other names of text and times, and a chat without times or sound', async () => {
    const transcript = [{ role: 'assistant', message: 'Good day', firstWordStart: 0.5, lastWordEnd: 2.25 }]
    const spoken = await storedBy(await send('coval', { external_conversation_id: 'c-1', transcript }))
    expect(spoken.turns).toMatchObject([{ role: 'agent', text: 'Good day', startMs: 500, endMs: 2_250 }])
    const written = [{ role: 'user', content: 'Hi' }]
    const chat = await storedBy(await send('coval', { external_conversation_id: 'c-2', transcript: written }))
    expect(chat.conversation.channel).toBe('chat')
    expect(chat.agent).toMatchObject({ externalId: 'integration:coval', name: 'Coval' })
  })

  it('stores a conversation without a time as of now, and its repetition as the same', async () => {
    const body = { external_conversation_id: 'c-3', transcript: [{ role: 'user', content: 'Hi' }] }
    const first = await send('coval', body)
    expect(first.body.conversation.occurred_at).toBe(server.clock.now().toISOString())
    server.clock.advance(60_000)
    expect((await send('coval', body)).body).toEqual(first.body)
  })
})

describe('Cekura', () => {
  const body = {
    agent: 123,
    call_id: 'session-1',
    transcript_type: 'cekura',
    transcript_json: [
      { role: 'Main Agent', content: 'Hello', start_time: 0.6, end_time: 1.1 },
      { role: 'Testing Agent', content: 'Hi', start_time: 1.5, end_time: 1.7 },
      { role: 'Function Call', data: { id: 'f1', name: 'lookup', arguments: { q: 1 } }, start_time: 2 },
      { role: 'Function Call Result', data: { id: 'f1', name: 'lookup', result: 'ok' }, start_time: 2.5 },
    ],
    voice_recording_url: 'https://storage.example.com/r.wav',
    customer_number: '+15550100123',
    timestamp: '2026-11-20T09:00:00Z',
    call_ended_reason: 'customer-ended-call',
    metadata: { plan: 'gold', ssn: '000-00-0000' },
    dynamic_variables: { name: 'Ada' },
    redact_fields: ['ssn'],
  }

  it('stores a call with its own names for speakers', async () => {
    const answer = await send('cekura', body)
    const { conversation, turns, agent } = await storedBy(answer)
    expect(answer).toMatchObject({
      status: 201,
      body: { id: conversation.id, call_id: 'session-1', agent: 123, timestamp: '2026-11-20T09:00:00.000Z' },
    })
    expect(agent.externalId).toBe('123')
    expect(conversation).toMatchObject({
      externalId: 'session-1',
      channel: 'call',
      customerId: '+15550100123',
      endReason: 'customer-ended-call',
      metadata: { name: 'Ada', plan: 'gold' },
    })
    expect(conversation.metadata).not.toHaveProperty('ssn')
    expect(turns).toMatchObject([
      { role: 'agent', text: 'Hello', startMs: 600, endMs: 1_100 },
      { role: 'customer', text: 'Hi', startMs: 1_500, endMs: 1_700 },
      { kind: 'tool_call', startMs: 2_000, tool: { callId: 'f1', name: 'lookup', arguments: { q: 1 } } },
      { kind: 'tool_result', startMs: 2_500, tool: { callId: 'f1', result: 'ok' } },
    ])
  })

  it('completes a call with later data', async () => {
    const part = { ...body, transcript_json: body.transcript_json.slice(0, 1), timestamp: undefined }
    const first = await send('cekura', part)
    server.clock.advance(5_000)
    const second = await send('cekura', { ...part, transcript_json: JSON.stringify(body.transcript_json) })
    expect(second.body.id).toBe(first.body.id)
    expect((await storedBy(second)).turns).toHaveLength(4)
  })

  it('reads the transcript of another platform in that format', async () => {
    const { artifact } = sample('vapi_end_of_call_report.json').message
    const answer = await send('cekura', { ...body, transcript_type: 'vapi', transcript_json: artifact.messages })
    expect((await storedBy(answer)).turns.length).toBeGreaterThan(3)
  })
})

describe('Bluejay', () => {
  const body = {
    agent_id: 'nora',
    start_time_utc: '2026-11-20T09:00:00Z',
    participants: [{ role: 'AGENT' }, { role: 'USER', phone_number: '+15550100123' }],
    call_direction: 'OUTBOUND',
    transcript: [
      { speaker: 'AGENT', utterance: 'Hello', start_offset_ms: 600, end_offset_ms: 1_100 },
      { speaker: 'USER', utterance: 'Hi', start_offset_ms: 2_000, end_offset_ms: 2_200 },
    ],
    tool_calls: [{ name: 'lookup', start_offset_ms: 1_200, parameters: { q: 1 }, output: { ok: true } }],
    tags: ['support'],
    metadata: { plan: 'gold' },
    trace_id: 't-1',
    conversation_ended_by: 'USER',
  }

  it.each(['/v1/integrations/bluejay/v1/evaluate', '/v1/integrations/bluejay/v1/evaluate-call'])(
    '%s stores a call',
    async (path) => {
      const answer = await call('POST', path, { key, body })
      const { conversation, turns, agent } = await storedBy(answer)
      expect(answer).toMatchObject({
        status: 200,
        body: { status: 'success', call_id: conversation.id, message: expect.any(String) },
      })
      expect(agent.externalId).toBe('nora')
      expect(conversation).toMatchObject({
        direction: 'outbound',
        customerId: '+15550100123',
        endReason: 'user_ended',
        metadata: { plan: 'gold', tags: ['support'], traceId: 't-1' },
      })
      expect(turns).toMatchObject([
        { role: 'agent', text: 'Hello', startMs: 600, endMs: 1_100 },
        { kind: 'tool_call', startMs: 1_200, tool: { name: 'lookup', arguments: { q: 1 } } },
        { kind: 'tool_result', tool: { result: { ok: true } } },
        { role: 'customer', text: 'Hi', startMs: 2_000, endMs: 2_200 },
      ])
    },
  )
})

const least: Record<Platform, object> = {
  roark: { startedAt: '2026-11-20T09:00:00Z', externalId: 'x' },
  coval: { external_conversation_id: 'x', transcript: [{ role: 'user', content: 'Hi' }] },
  cekura: { call_id: 'x' },
  bluejay: { start_time_utc: '2026-11-20T09:00:00Z' },
}
const keyHeaders: Record<Platform, string> = {
  roark: 'authorization',
  coval: 'x-api-key',
  cekura: 'x-cekura-api-key',
  bluejay: 'x-api-key',
}

describe.each(Object.keys(paths) as Platform[])('%s has the same rules', (platform) => {
  it('its own header can contain the key, with the usual checks', async () => {
    const by = (value: string, header = keyHeaders[platform]) =>
      call('POST', paths[platform], {
        body: least[platform],
        headers: { [header]: header === 'authorization' ? `Bearer ${value}` : value },
      })
    expect((await by(key)).status).toBeLessThan(300)
    expect((await by('ear_nobody')).status).toBe(401)
    const viewer = await makeKey(server, key, 'viewer')
    expect((await by(viewer.key)).status).toBe(403)
    // Each platform has its own header for the key.
    expect((await by(key, 'x-some-api-key')).status).toBe(401)
    expect((await call('GET', '/v1/conversations', { headers: { 'x-api-key': key } })).status).toBe(401)
  })

  it('unknown properties are ignored', async () => {
    const answer = await send(platform, { ...least[platform], a_field_of_tomorrow: { deep: [1, 2, { deeper: null }] } })
    expect(answer.status).toBeLessThan(300)
  })

  it('an invalid call is rejected with the fault', async () => {
    const transcript = platform === 'cekura' ? 'timestamp' : 'transcript'
    const wrong = await send(platform, { ...least[platform], [transcript]: 'soon' })
    expect(wrong).toMatchObject({ status: 400, body: { details: { issues: [{ path: transcript }] } } })
    const recording = {
      roark: 'recordingUrl',
      coval: 'audio_url',
      cekura: 'voice_recording_url',
      bluejay: 'recording_url',
    }[platform]
    const local = await send(platform, { ...least[platform], [recording]: 'file:///etc/passwd' })
    expect(local).toMatchObject({ status: 400, body: { details: { issues: [{ path: recording }] } } })
  })

  it('an erased call is not restored', async () => {
    const answer = await send(platform, least[platform])
    expect((await call('DELETE', answer.headers.get('location') ?? '', { key })).status).toBe(204)
    expect((await send(platform, least[platform])).status).toBe(409)
  })
})

it('a time without an offset is UTC, and an invalid one is rejected', async () => {
  const at = async (start_time_utc: string) => send('bluejay', { ...least.bluejay, start_time_utc })
  for (const time of ['2026-11-20T09:00:00', '2026-11-20 09:00:00.123456', '2026-11-20T10:00:00+01:00']) {
    const { conversation } = await storedBy(await at(time))
    expect(conversation.startedAt).toMatch(/^2026-11-20T09:00:00\.\d{3}Z$/)
  }
  for (const time of ['yesterday', '1999-11-20T09:00:00Z', '2026-11-20', '1763629200']) {
    expect(await at(time)).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'start_time_utc' }] } } })
  }
})

it('data in an unsupported format is rejected instead of lost', async () => {
  const upload = await send('coval', { upload_id: 'upl_01HRAB8N9G7Q4Y3K2J5W6X1ZTC' })
  expect(upload).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'upload_id' }] } } })
  const address = await send('bluejay', { ...least.bluejay, transcript_url: 'https://example.com/t.json' })
  expect(address).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'transcript_url' }] } } })
})

it("a short ID equals the library's for a UUID", () => {
  expect(shortIdOf('00000000-0000-0000-0000-000000000000')).toBe('2'.repeat(22))
  // 57^22 is just above 2^128, so the highest ID has 22 characters.
  expect(shortIdOf('ffffffff-ffff-ffff-ffff-ffffffffffff')).toHaveLength(22)
  expect(shortIdOf('00000000-0000-0000-0000-000000000039')).toBe(`${'2'.repeat(20)}32`)
})
