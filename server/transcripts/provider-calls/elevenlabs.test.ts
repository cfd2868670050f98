import { describe, expect, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { readCall } from './read-call.ts'

const event = sample('elevenlabs_post_call_transcription.json')
const dataWith = (changes: Record<string, unknown>) => ({ ...event, data: { ...event.data, ...changes } })

describe('ElevenLabs', () => {
  test('reads a transcription after a call', () => {
    expect(readCall('elevenlabs', event)).toEqual({
      externalId: 'conv_01hx9b2',
      agentExternalId: 'agent_01hx9a7',
      agentName: 'Sol hotel desk',
      versionLabel: 'agtvrsn_0007',
      systemPrompt: null,
      channel: 'call',
      direction: 'inbound',
      status: 'completed',
      startedAt: new Date(1_772_010_030_000),
      endedAt: new Date(1_772_010_074_000),
      durationSeconds: 44,
      endReason: 'end_call tool was called',
      customerId: 'guest-4471',
      metadata: {
        company_id: 'sol-hotels',
        branchId: 'agtbrch_b',
        callSid: 'CA00000000000000000000000000000003',
      },
      transcript: event.data.transcript,
      recordingUrl: null,
      metrics: [
        { key: 'elevenlabs.summary', value: 'Guest asked for a late checkout and accepted a fee.' },
        { key: 'elevenlabs.success', value: 'success' },
        { key: 'elevenlabs.criteria.polite', value: 'success', comment: 'Tone was courteous throughout.' },
        { key: 'elevenlabs.criteria.booked', value: 'unknown', comment: 'Call ended before confirmation.' },
        { key: 'elevenlabs.data.room', value: '512', comment: 'Stated by the guest profile.' },
      ],
    })
  })

  test('reads results as lists, scores, the prompt of a single call, and a chat', () => {
    const changed = dataWith({
      user_id: null,
      metadata: { ...event.data.metadata, text_only: true },
      analysis: {
        evaluation_criteria_results_list: [{ criteria_id: 'polite', result: 'failure', rationale: '', score: 2 }],
        data_collection_results_list: [{ data_collection_id: 'room', value: 512 }, 'odd'],
      },
      conversation_initiation_client_data: {
        conversation_config_override: { agent: { prompt: { prompt: 'Be brief.' } } },
      },
    })
    expect(readCall('elevenlabs', changed)).toMatchObject({
      channel: 'chat',
      customerId: '+15550100333',
      systemPrompt: 'Be brief.',
      metadata: { branchId: 'agtbrch_b' },
      metrics: [
        { key: 'elevenlabs.criteria.polite', value: 'failure' },
        { key: 'elevenlabs.criteria.polite.score', value: 2 },
        { key: 'elevenlabs.data.room', value: 512 },
      ],
    })
  })

  test('reads a call that could not start', () => {
    const failure = {
      type: 'call_initiation_failure',
      event_timestamp: 1_772_010_075,
      data: { agent_id: 'agent_1', conversation_id: 'conv_1', failure_reason: 'busy', metadata: { type: 'twilio' } },
    }
    expect(readCall('elevenlabs', failure)).toMatchObject({
      externalId: 'conv_1',
      agentExternalId: 'agent_1',
      status: 'failed',
      direction: 'outbound',
      startedAt: new Date(1_772_010_075_000),
      endReason: 'busy',
      transcript: null,
    })
  })

  test('an unfinished call is ignored; one without an ID or time is unreadable', () => {
    expect(readCall('elevenlabs', { ...event, type: 'post_call_audio' })).toEqual({
      unreadable: 'data.full_audio is missing',
    })
    expect(readCall('elevenlabs', { ...event, type: 'post_call_summary' })).toEqual({
      ignored: 'post_call_summary does not report a finished call',
    })
    expect(readCall('elevenlabs', dataWith({ status: 'processing' }))).toEqual({
      ignored: 'a call that is processing is not finished',
    })
    expect(readCall('elevenlabs', {})).toEqual({ unreadable: 'type is missing' })
    expect(readCall('elevenlabs', { type: event.type })).toEqual({ unreadable: 'data is missing' })
    expect(readCall('elevenlabs', dataWith({ conversation_id: null }))).toEqual({
      unreadable: 'data.conversation_id is missing',
    })
    expect(readCall('elevenlabs', dataWith({ metadata: null }))).toEqual({
      unreadable: 'data.metadata.start_time_unix_secs is missing',
    })
  })
})
