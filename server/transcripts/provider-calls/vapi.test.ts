import { describe, expect, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { readCall } from './read-call.ts'

const report = sample('vapi_end_of_call_report.json')
const reportWith = (changes: Record<string, unknown>) => ({ message: { ...report.message, ...changes } })

describe('Vapi', () => {
  test('reads an end-of-call report', () => {
    expect(readCall('vapi', report)).toEqual({
      externalId: '0d4f9c1e-7c63-4b2a-8a39-5f2f0f7b6a11',
      agentExternalId: '6b0f7a52-3f0e-4c0b-9f55-1d1a6e2f90c1',
      agentName: 'Nora',
      versionLabel: null,
      systemPrompt: 'You are Nora, receptionist for Harbor Dental. Verify date of birth before any change.',
      channel: 'call',
      direction: 'inbound',
      status: 'completed',
      startedAt: new Date('2026-02-23T09:00:00.000Z'),
      endedAt: new Date('2026-02-23T09:01:13.400Z'),
      durationSeconds: null,
      endReason: 'customer-ended-call',
      customerId: '+15550100123',
      metadata: {
        companyId: 'harbor-dental',
        clinic: 'Harbor Dental',
        prompt_version: 'v17',
        recordingConsent: { type: 'stay-on-line', grantedAt: '2026-02-23T09:00:02.000Z' },
      },
      transcript: report.message.artifact.messages,
      recordingUrl: 'https://storage.example.com/rec/0d4f9c1e-7c63-4b2a-8a39-5f2f0f7b6a11-stereo.wav',
      metrics: [
        { key: 'vapi.summary', value: 'Caller moved a dental cleaning from Tuesday to Thursday.' },
        { key: 'vapi.success', value: 'true' },
        { key: 'vapi.data.new_date', value: '2026-02-26' },
        { key: 'vapi.data.caller_verified', value: true },
        { key: 'vapi.output.Rescheduled', value: true },
        { key: 'vapi.scorecard.Front desk QA', value: 70 },
        { key: 'vapi.latency.turnMs', value: 1181.5 },
        { key: 'vapi.latency.modelMs', value: 533.5 },
        { key: 'vapi.latency.voiceMs', value: 294.5 },
        { key: 'vapi.latency.transcriptionMs', value: 136.5 },
        { key: 'vapi.latency.endOfTurnMs', value: 217 },
        { key: 'vapi.customerInterrupted', value: 0 },
        { key: 'vapi.agentInterrupted', value: 1 },
        { key: 'vapi.cost', value: 0.1284 },
      ],
    })
  })

  test('the end reason shows whether it failed, and whether a machine answered', () => {
    const reasons: [reason: string, status: string, channel: string][] = [
      ['assistant-ended-call', 'completed', 'call'],
      ['silence-timed-out', 'completed', 'call'],
      ['voicemail', 'completed', 'voicemail'],
      ['customer-did-not-answer', 'failed', 'call'],
      ['call.in-progress.error-vapifault-worker-died', 'failed', 'call'],
      ['pipeline-error-openai-llm-failed', 'failed', 'call'],
      ['assistant-not-found', 'failed', 'call'],
    ]
    for (const [endedReason, status, channel] of reasons) {
      expect(readCall('vapi', reportWith({ endedReason }))).toMatchObject({ endReason: endedReason, status, channel })
    }
    expect(readCall('vapi', reportWith({ chat: { id: 'chat' } }))).toMatchObject({ channel: 'chat' })
  })

  test('reads an older report, which has URLs and text elsewhere', () => {
    const { id, type } = report.message.call
    const call = { id, type: type.replace('inbound', 'outbound'), createdAt: '2026-02-23T08:59:57.120Z', squadId: 's' }
    const { transcript, recordingUrl } = report.message.artifact
    const older = { type: 'end-of-call-report', call, artifact: { transcript, recordingUrl } }
    expect(readCall('vapi', { message: older })).toMatchObject({
      agentExternalId: 's',
      direction: 'outbound',
      startedAt: new Date('2026-02-23T08:59:57.120Z'),
      endedAt: null,
      systemPrompt: null,
      transcript,
      recordingUrl,
      metrics: [],
    })
  })

  test('other messages are ignored; a report without its call is unreadable', () => {
    for (const type of ['status-update', 'transcript', 'tool-calls']) {
      expect(readCall('vapi', { message: { type } })).toEqual({ ignored: `${type} does not report a finished call` })
    }
    expect(readCall('vapi', {})).toEqual({ unreadable: 'message.type is missing' })
    expect(readCall('vapi', [])).toEqual({ unreadable: 'the payload is not an object' })
    expect(readCall('vapi', reportWith({ call: {} }))).toEqual({ unreadable: 'message.call.id is missing' })
    const timeless = reportWith({ startedAt: 'yesterday', call: { id: 'a' } })
    expect(readCall('vapi', timeless)).toEqual({ unreadable: 'message.startedAt is missing' })
  })
})
