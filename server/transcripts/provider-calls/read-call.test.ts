import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { placesIn } from '../../../test/samples/sample-slots.ts'
import { computeSignals } from '../../../test/support/signals.ts'
import { readTranscript } from '../read-transcript.ts'
import { isCall } from './call.ts'
import { type Provider, providers, readCall } from './read-call.ts'

const samples: Record<Provider, unknown> = {
  vapi: sample('vapi_end_of_call_report.json'),
  retell: sample('retell_call_ended.json'),
  elevenlabs: sample('elevenlabs_post_call_transcription.json'),
  twilio: sample('twilio_ci_transcript_bundle.json'),
  livekit: sample('livekit_session_report.json'),
}

const expectWhole = (provider: Provider, payload: unknown): void => {
  const before = structuredClone(payload)
  const reading = readCall(provider, payload)
  expect(payload).toEqual(before)
  if (!isCall(reading)) {
    expect(Object.values(reading)).toEqual([expect.stringMatching(/\S/)])
    return
  }
  expect(reading.externalId).toMatch(/./s)
  expect(reading.startedAt.getTime()).toBeGreaterThan(0)
  expect(JSON.stringify(reading.metrics).isWellFormed()).toBe(true)
  for (const { key, value } of reading.metrics) {
    expect(key.length).toBeLessThanOrEqual(120)
    expect(['string', 'boolean', 'number']).toContain(typeof value)
  }
}

describe('each provider', () => {
  test('stores a transcript that its own format reads, with signals', () => {
    for (const provider of providers) {
      const call = readCall(provider, samples[provider])
      if (!isCall(call)) throw new Error(`${provider}: ${JSON.stringify(call)}`)
      const reading = readTranscript(call.transcript, { provider, startedAt: call.startedAt })
      if ('unreadable' in reading) throw new Error(`${provider}: ${reading.unreadable}`)
      expect(reading.format).toBe(provider)
      expect(reading.turns).toEqual(
        Object.values(readTranscript(samples[provider])).find((value) => Array.isArray(value)),
      )
      expect(computeSignals(reading.turns).turns.agent).toBeGreaterThan(0)
    }
  })

  test('reads any payload or says why not', () => {
    fc.assert(fc.property(fc.constantFrom(...providers), fc.jsonValue({ maxDepth: 6 }), expectWhole), {
      numRuns: 700,
    })
    const nested = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)
    for (const provider of providers) {
      expect(readCall(provider, { a: nested })).toEqual({
        unreadable: 'the payload is nested more than 200 levels deep',
      })
    }
  })

  test('reads its sample with random values inserted', () => {
    const likely = fc.constantFrom<unknown>(
      null,
      '',
      'text',
      0,
      -5,
      1e300,
      true,
      [],
      {},
      [null],
      '2026-02-23T09:00:01Z',
    )
    const change = fc.tuple(fc.nat(), fc.oneof(likely, fc.jsonValue()))
    fc.assert(
      fc.property(
        fc.constantFrom(...providers),
        fc.array(change, { minLength: 1, maxLength: 5 }),
        (provider, changes) => {
          const payload = structuredClone(samples[provider])
          for (const [where, value] of changes) {
            const places = placesIn(payload)
            const place = places[where % places.length]
            if (place) Reflect.set(place.holder, place.key, structuredClone(value))
          }
          expectWhole(provider, payload)
        },
      ),
      { numRuns: 1_000 },
    )
  })
})
