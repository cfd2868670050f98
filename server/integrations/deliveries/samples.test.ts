import { expect, it } from 'vitest'
import { testServer } from '../../../test/server.ts'
import { makeCalled, post, sampleOf } from '../../../test/support/integrations/signed-webhooks.ts'

/** Checks how each provider's call becomes a conversation, property by property. */

const server = await testServer()
const { call } = server

const receive = async (provider: string) => {
  const { key, integration } = await makeCalled(server, provider)
  const answer = await post(server, integration, sampleOf(provider))
  expect(answer).toMatchObject({ status: 200, body: { status: 'applied', conversationId: expect.any(String) } })
  const { conversationId } = answer.body
  const get = async (path: string) => (await call('GET', path, { key })).body
  const conversation = await get(`/v1/conversations/${conversationId}`)
  const transcript = await get(`/v1/conversations/${conversationId}/transcript`)
  const agent = await get(`/v1/agents/${conversation.agentId}`)
  const version = conversation.agentVersionId
    ? await get(`/v1/agents/${conversation.agentId}/versions/${conversation.agentVersionId}`)
    : null
  const metrics = (await get(`/v1/conversations/${conversationId}/metrics`)).data
  const values = Object.fromEntries(metrics.map((one: { key: string; value: unknown }) => [one.key, one.value]))
  return { conversation, transcript, agent, version, values, integration, key, turns: turnsOf(transcript.turns) }
}

type Turn = {
  role: string
  kind: string
  text: string | null
  startMs: number | null
  tool: { name: string; callId: string; arguments: unknown; result: unknown } | null
}

/** Returns the speaker, text, and tool of each turn as one line. */
const turnsOf = (turns: Turn[]) =>
  turns.map(({ role, kind, text, startMs, tool }) =>
    [role, kind, startMs, tool ? `${tool.name} ${JSON.stringify(tool.arguments ?? tool.result)}` : text].join(' | '),
  )

it('Vapi', async () => {
  const { conversation, agent, version, turns, values, transcript } = await receive('vapi')
  expect(conversation).toMatchObject({
    externalId: '0d4f9c1e-7c63-4b2a-8a39-5f2f0f7b6a11',
    channel: 'call',
    direction: 'inbound',
    status: 'completed',
    startedAt: '2026-02-23T09:00:00.000Z',
    endedAt: '2026-02-23T09:01:13.400Z',
    durationSeconds: 73,
    endReason: 'customer-ended-call',
    customerId: '+15550100123',
    metadata: {
      companyId: 'harbor-dental',
      clinic: 'Harbor Dental',
      prompt_version: 'v17',
      recordingConsent: { type: 'stay-on-line', grantedAt: '2026-02-23T09:00:02.000Z' },
    },
    recording: { status: 'pending' },
  })
  expect(agent).toMatchObject({ externalId: '6b0f7a52-3f0e-4c0b-9f55-1d1a6e2f90c1', name: 'Nora', channel: 'voice' })
  const prompt = 'You are Nora, receptionist for Harbor Dental. Verify date of birth before any change.'
  expect(version).toMatchObject({ number: 1, systemPrompt: prompt })
  expect(transcript.systemPrompt).toBe(prompt)
  expect(turns).toEqual([
    `system | message | 0 | ${prompt}`,
    'agent | message | 900 | Harbor Dental, this is Nora. How can I help?',
    'customer | message | 4600 | Hi, I need to move my cleaning on Tuesday.',
    'agent | message | 8300 | Sure. What is your date of birth?',
    'customer | message | 11100 | April ninth, nineteen eighty four.',
    'agent | tool_call | 14200 | find_slot {"dob":"1984-04-09","week":"2026-W09"}',
    'tool | tool_result | 15800 | find_slot {"slots":["2026-02-26T15:00:00-05:00"]}',
    'agent | message | 17400 | I have Thursday the twenty-sixth at three. Does that work?',
    'customer | message | 21900 | Thursday at three is great, thanks.',
    'agent | message | 25000 | You are all set. Goodbye!',
  ])
  expect(values).toMatchObject({ 'vapi.success': 'true', 'vapi.output.Rescheduled': true, 'vapi.cost': 0.1284 })
})

it('Retell', async () => {
  const { conversation, agent, version, turns, values } = await receive('retell')
  expect(conversation).toMatchObject({
    externalId: 'call_7c1d0b5b0f4f4f7ea3e6d2a9',
    channel: 'call',
    direction: 'inbound',
    status: 'completed',
    startedAt: '2026-02-24T09:00:00.000Z',
    endedAt: '2026-02-24T09:00:52.300Z',
    durationSeconds: 52,
    endReason: 'call_transfer',
    customerId: '+15550100777',
    metadata: {
      'X-Tenant': 'bright',
      customer_name: 'Ana',
      account: 'A-2207',
      company: 'bright-energy',
      tier: 'gold',
      retries: 2,
      agentTag: 'production',
      twilioCallSid: 'CA00000000000000000000000000000002',
    },
    recording: { status: 'pending' },
  })
  expect(agent).toMatchObject({ externalId: 'agent_5e0b3c9d1f', name: 'Leo billing', channel: 'voice' })
  expect(version).toMatchObject({ number: 1, label: '12' })
  expect(turns.map((line) => line.replace(/ \| (\d+|) \| /, ' | '))).toEqual([
    'agent | message | Bright Energy, Leo speaking.',
    'customer | message | My bill looks doubled this month.',
    'agent | tool_call | get_bill {"account":"A-2207"}',
    'tool | tool_result | get_bill {"error":"timeout"}',
    expect.stringMatching(/^system \| event \| /),
    'agent | message | I could not load the bill, let me transfer you.',
    expect.stringMatching(/^customer \| event \| /),
  ])
  expect(turns[0]).toContain(' | 600 | ')
  expect(values).toMatchObject({ 'retell.latency.e2e.p50Ms': 820, 'retell.costCents': 9.6 })
})

it('ElevenLabs', async () => {
  const { conversation, agent, version, turns, values } = await receive('elevenlabs')
  expect(conversation).toMatchObject({
    externalId: 'conv_01hx9b2',
    channel: 'call',
    direction: 'inbound',
    status: 'completed',
    startedAt: '2026-02-25T09:00:30.000Z',
    endedAt: '2026-02-25T09:01:14.000Z',
    durationSeconds: 44,
    endReason: 'end_call tool was called',
    customerId: 'guest-4471',
    metadata: { company_id: 'sol-hotels', branchId: 'agtbrch_b', callSid: 'CA00000000000000000000000000000003' },
    recording: null,
  })
  expect(agent).toMatchObject({ externalId: 'agent_01hx9a7', name: 'Sol hotel desk', channel: 'voice' })
  expect(version).toMatchObject({ label: 'agtvrsn_0007' })
  expect(turns).toEqual([
    'agent | message | 0 | Sol Hotel, how may I help?',
    'customer | message | 3000 | Is late checkout possible tomorrow?',
    'agent | tool_call | 5000 | late_checkout {"room":"512"}',
    'tool | tool_result | 6000 | late_checkout {"until":"14:00","fee":25}',
    'agent | message | 8000 | Yes, until two in the afternoon for twenty five euros.',
    'customer | message | 12000 | Please do.',
  ])
  expect(values).toMatchObject({ 'elevenlabs.criteria.polite': 'success', 'elevenlabs.data.room': '512' })
})

it('LiveKit', async () => {
  const { conversation, agent, version, turns, integration } = await receive('livekit')
  expect(conversation).toMatchObject({
    externalId: 'RM_81ff',
    channel: 'call',
    direction: null,
    status: 'completed',
    startedAt: '2026-02-27T09:00:00.000Z',
    endedAt: '2026-02-27T09:00:41.000Z',
    durationSeconds: 41,
    endReason: 'participant_disconnected',
    metadata: { room: 'support-20260227-01' },
  })
  // The report doesn't name an agent, so the integration's own agent is used.
  expect(agent).toMatchObject({ externalId: `integration:${integration.id}`, name: 'Our livekit', channel: 'voice' })
  expect(version).toMatchObject({ systemPrompt: 'You are a parcel support agent.' })
  expect(turns.filter((line) => !line.includes('| event |'))).toEqual([
    expect.stringContaining('system | message | '),
    'agent | message | 900 | Hi, parcel support. How can I help?',
    'customer | message | 3600 | Where is my parcel?',
    'agent | tool_call | 6000 | track_order {"order":"P-31"}',
    'tool | tool_result | 6700 | track_order {"eta":"tomorrow"}',
    'agent | message | 7600 | It arrives tomorrow.',
  ])
})
