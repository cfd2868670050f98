import { describe, expect, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { readCall } from './read-call.ts'

const ended = sample('retell_call_ended.json')
const callWith = (changes: Record<string, unknown>, event = 'call_ended') => ({
  event,
  call: { ...ended.call, ...changes },
})

describe('Retell', () => {
  test('reads a call that ended', () => {
    expect(readCall('retell', ended)).toEqual({
      externalId: 'call_7c1d0b5b0f4f4f7ea3e6d2a9',
      agentExternalId: 'agent_5e0b3c9d1f',
      agentName: 'Leo billing',
      versionLabel: '12',
      systemPrompt: null,
      channel: 'call',
      direction: 'inbound',
      status: 'completed',
      startedAt: new Date(1_771_923_600_000),
      endedAt: new Date(1_771_923_652_300),
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
      transcript: ended.call.transcript_with_tool_calls,
      recordingUrl: 'https://storage.example.com/retell/call_7c1d/recording_multi.wav',
      metrics: [
        { key: 'retell.latency.e2e.p50Ms', value: 820 },
        { key: 'retell.latency.e2e.p95Ms', value: 1_450 },
        { key: 'retell.latency.asr.p50Ms', value: 120 },
        { key: 'retell.latency.asr.p95Ms', value: 200 },
        { key: 'retell.latency.llm.p50Ms', value: 410 },
        { key: 'retell.latency.llm.p95Ms', value: 820 },
        { key: 'retell.latency.tts.p50Ms', value: 190 },
        { key: 'retell.latency.tts.p95Ms', value: 300 },
        { key: 'retell.costCents', value: 9.6 },
      ],
    })
  })

  test('reads the analysis of the same call, which may arrive first', () => {
    const call_analysis = {
      call_summary: 'A doubled bill.',
      user_sentiment: 'Negative',
      call_successful: false,
      in_voicemail: true,
      custom_analysis_data: { reason: 'meter', amounts: [10, 20] },
    }
    expect(
      readCall('retell', callWith({ call_analysis, latency: null, call_cost: null }, 'call_analyzed')),
    ).toMatchObject({
      externalId: 'call_7c1d0b5b0f4f4f7ea3e6d2a9',
      channel: 'voicemail',
      metrics: [
        { key: 'retell.summary', value: 'A doubled bill.' },
        { key: 'retell.sentiment', value: 'Negative' },
        { key: 'retell.success', value: false },
        { key: 'retell.inVoicemail', value: true },
        { key: 'retell.data.reason', value: 'meter' },
        { key: 'retell.data.amounts', value: '[10,20]' },
      ],
    })
  })

  test('reads a call that nobody answered', () => {
    const unanswered = {
      call_status: 'not_connected',
      direction: 'outbound',
      disconnection_reason: 'dial_no_answer',
      start_timestamp: null,
      transcript_with_tool_calls: [],
      transcript_object: [],
      transcript: '',
    }
    expect(readCall('retell', callWith(unanswered))).toMatchObject({
      status: 'failed',
      direction: 'outbound',
      customerId: '+15550100888',
      startedAt: new Date(1_771_923_652_300),
      transcript: null,
    })
  })

  test('reads a call with personal data removed', () => {
    const scrubbed = [{ role: 'agent', content: 'Hello [name]', words: [] }]
    const call = {
      transcript_with_tool_calls: undefined,
      scrubbed_transcript_with_tool_calls: scrubbed,
      recording_url: undefined,
      recording_multi_channel_url: undefined,
      scrubbed_recording_url: 'https://storage.example.com/scrubbed.wav',
    }
    expect(readCall('retell', callWith(call))).toMatchObject({
      transcript: scrubbed,
      recordingUrl: 'https://storage.example.com/scrubbed.wav',
    })
  })

  test('reads a chat', () => {
    const message_with_tool_calls = [
      { message_id: 'm', role: 'user', content: 'Hi', created_timestamp: 1_771_923_600_100 },
    ]
    const chat = {
      chat_id: 'chat_1',
      agent_id: 'agent_1',
      chat_status: 'ended',
      start_timestamp: 1_771_923_600_000,
      end_timestamp: 1_771_923_700_000,
      message_with_tool_calls,
      chat_analysis: { chat_summary: 'A greeting.', chat_successful: true },
    }
    expect(readCall('retell', { event: 'chat_analyzed', chat })).toMatchObject({
      externalId: 'chat_1',
      agentExternalId: 'agent_1',
      channel: 'chat',
      direction: null,
      status: 'completed',
      customerId: null,
      transcript: message_with_tool_calls,
      metrics: [
        { key: 'retell.summary', value: 'A greeting.' },
        { key: 'retell.success', value: true },
      ],
    })
  })

  test('events of a call in progress are ignored; without an ID or a time, it is unreadable', () => {
    for (const event of ['call_started', 'transcript_updated', 'transfer_bridged', 'chat_started']) {
      expect(readCall('retell', { event, call: ended.call })).toEqual({
        ignored: `${event} does not report a finished call`,
      })
    }
    expect(readCall('retell', {})).toEqual({ unreadable: 'event is missing' })
    expect(readCall('retell', { event: 'call_ended' })).toEqual({ unreadable: 'call is missing' })
    expect(readCall('retell', callWith({ call_id: '' }))).toEqual({ unreadable: 'call.call_id is missing' })
    expect(readCall('retell', callWith({ start_timestamp: 0, end_timestamp: -1 }))).toEqual({
      unreadable: 'start_timestamp is missing',
    })
  })
})
