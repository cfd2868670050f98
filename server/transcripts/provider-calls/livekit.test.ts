import { describe, expect, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { readCall } from './read-call.ts'

const report = sample('livekit_session_report.json')

describe('LiveKit', () => {
  test('reads a session report', () => {
    expect(readCall('livekit', report)).toEqual({
      externalId: 'RM_81ff',
      agentExternalId: null,
      agentName: null,
      versionLabel: null,
      systemPrompt: 'You are a parcel support agent.',
      channel: 'call',
      direction: null,
      status: 'completed',
      startedAt: new Date(1_772_182_800_000),
      endedAt: new Date(1_772_182_841_000),
      durationSeconds: null,
      endReason: 'participant_disconnected',
      customerId: null,
      metadata: { room: 'support-20260227-01' },
      transcript: report.chat_history,
      recordingUrl: null,
      metrics: [],
    })
  })

  test('reads a report in an envelope', () => {
    const { started_at, ...livekit_capture } = report
    const envelope = {
      provider: 'livekit',
      external_agent_id: 'parcels',
      payload: {
        call_id: 'call-1',
        start_timestamp: '2026-02-27T09:00:00Z',
        end_timestamp: '2026-02-27T09:00:41Z',
        livekit_capture: { ...livekit_capture, events: [] },
      },
      metadata: { tier: 'gold', room: 'overridden' },
      customer_metadata: { company: 'parcels' },
    }
    expect(readCall('livekit', envelope)).toMatchObject({
      externalId: 'call-1',
      agentExternalId: 'parcels',
      startedAt: new Date('2026-02-27T09:00:00Z'),
      endedAt: new Date('2026-02-27T09:00:41Z'),
      endReason: null,
      metadata: { tier: 'gold', company: 'parcels', room: 'support-20260227-01' },
      transcript: report.chat_history,
    })
  })

  test('reads a session that failed', () => {
    const events = [{ type: 'close', reason: 'error', created_at: 1_772_182_810 }]
    expect(readCall('livekit', { ...report, events })).toMatchObject({ status: 'failed', endReason: 'error' })
  })

  test('server events are ignored; a report without history, ID, or time is unreadable', () => {
    expect(readCall('livekit', { event: 'room_finished', room: {} })).toEqual({
      ignored: 'room_finished does not report a finished session',
    })
    expect(readCall('livekit', {})).toEqual({ unreadable: 'chat_history is missing' })
    expect(readCall('livekit', { ...report, room_id: null, job_id: null })).toEqual({
      unreadable: 'room_id and job_id are missing',
    })
    expect(readCall('livekit', { ...report, started_at: null })).toEqual({ unreadable: 'started_at is missing' })
  })
})
