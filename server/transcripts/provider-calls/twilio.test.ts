import { describe, expect, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { readCall } from './read-call.ts'
import { announcedTranscript } from './twilio.ts'

const bundle = sample('twilio_ci_transcript_bundle.json')
const webhook = sample('twilio_ci_webhook.json')
const transcriptWith = (changes: Record<string, unknown>) => ({
  ...bundle,
  transcript: { ...bundle.transcript, ...changes },
})

describe('Twilio', () => {
  test('reads a transcript with its sentences, operator results, and media', () => {
    expect(readCall('twilio', bundle)).toEqual({
      externalId: 'GT00000000000000000000000000000001',
      agentExternalId: 'agent-7',
      agentName: null,
      versionLabel: null,
      systemPrompt: null,
      channel: 'call',
      direction: null,
      status: 'completed',
      startedAt: new Date('2026-02-25T10:00:00Z'),
      endedAt: new Date('2026-02-25T10:01:01Z'),
      durationSeconds: 61,
      endReason: null,
      customerId: 'cust-9',
      metadata: { customerKey: 'case-8812', callSid: 'CA00000000000000000000000000000005' },
      transcript: { transcript: bundle.transcript, sentences: bundle.sentences },
      recordingUrl: 'https://storage.example.com/twilio/redacted.wav',
      metrics: [
        { key: 'twilio.Escalation', value: 'not_escalated' },
        { key: 'twilio.Summary', value: 'Card replacement request.' },
        { key: 'twilio.PII', value: true },
      ],
    })
  })

  test('the webhook only announces which transcript to fetch', () => {
    expect(announcedTranscript(webhook)).toBe('GT00000000000000000000000000000001')
    expect(announcedTranscript(bundle)).toBeUndefined()
    expect(readCall('twilio', webhook)).toEqual({
      ignored: 'transcript GT00000000000000000000000000000001 is announced and will be fetched',
    })
  })

  test('reads a transcript without participants, media, or a time of the recording', () => {
    const bare = transcriptWith({ channel: null, media_start_time: null, duration: null })
    expect(readCall('twilio', { ...bare, media: null, sentences: [] })).toMatchObject({
      agentExternalId: 'GA00000000000000000000000000000001',
      customerId: null,
      startedAt: new Date('2026-02-25T10:02:00Z'),
      endedAt: null,
      recordingUrl: null,
      transcript: null,
    })
  })

  test('an unfinished transcript is ignored; one without an ID or time is unreadable', () => {
    expect(readCall('twilio', transcriptWith({ status: 'queued' }))).toEqual({
      ignored: 'a transcript that is queued is not finished',
    })
    expect(readCall('twilio', transcriptWith({ status: 'failed' }))).toEqual({
      ignored: 'the transcription ended as failed',
    })
    expect(readCall('twilio', {})).toEqual({ unreadable: 'transcript is missing' })
    expect(readCall('twilio', transcriptWith({ sid: 1.5 }))).toEqual({ unreadable: 'transcript.sid is missing' })
    expect(readCall('twilio', transcriptWith({ media_start_time: '', date_created: '' }))).toEqual({
      unreadable: 'transcript.media_start_time is missing',
    })
  })
})
