import { expect, it } from 'vitest'
import type { SpokenTimes } from '../../conversations/ingest/tasks.ts'
import type { RedactedSpan } from '../../conversations/recordings/queries.ts'
import type { TimeSpan, Utterance } from '../../transcripts/signals/speech.ts'
import type { MeasuredFile } from '../measure-file.ts'
import { planRedaction } from './plan.ts'

const agent: TimeSpan[] = [
  { startMs: 500, endMs: 3_000 },
  { startMs: 8_200, endMs: 12_400 },
  { startMs: 20_000, endMs: 30_000 },
]
const customer: TimeSpan[] = [
  { startMs: 4_000, endMs: 7_500 },
  { startMs: 13_000, endMs: 19_500 },
]

const measuredOf = (channels: TimeSpan[][]) =>
  // Only these properties are read.
  ({ durationMs: 31_000, channels: channels.map((segments) => ({ segments, marks: [] })) }) as unknown as MeasuredFile

const timesOf = (turns: Utterance[], redacted: SpokenTimes['redacted'] = { spans: [] }): SpokenTimes => {
  const sorted = turns.toSorted((a, b) => a.startMs - b.startMs)
  return { redacted, utterances: sorted, possible: sorted }
}

const by = (side: Utterance['by'], spans: TimeSpan[]): Utterance[] => spans.map((span) => ({ by: side, ...span }))
const all = [...by('agent', agent), ...by('customer', customer)]
const stereo = measuredOf([agent, customer])
const mono = measuredOf([[...agent, ...customer].sort((a, b) => a.startMs - b.startMs)])
const untranscribed = { refused: 'The transcript doesn’t contain all speech in the recording.' }

const plan = (times: SpokenTimes, measured: MeasuredFile, before: RedactedSpan[] = []) =>
  planRedaction(times, measured, before)

it('redacts the spans of a transcript that contains all speech', () => {
  const redacted = { spans: [{ startMs: 4_000, endMs: 7_500 }] }
  expect(plan(timesOf(all, redacted), stereo, [[0, 100]])).toEqual({
    spans: [
      [0, 100],
      [4_000, 7_500],
    ],
  })
})

it('refuses recordings with speech that the transcript does not contain', () => {
  // Nobody transcribed the last 6.5 seconds of the customer.
  const turns = all.filter(({ startMs }) => startMs !== 13_000)
  expect(plan(timesOf(turns), stereo)).toEqual(untranscribed)
  expect(plan(timesOf(turns), mono)).toEqual(untranscribed)
  expect(plan(timesOf([]), mono)).toEqual(untranscribed)
  // Short turns can be missing.
  expect(plan(timesOf(all.filter(({ startMs }) => startMs !== 4_000)), stereo)).toEqual({ spans: [] })
  // Spans that were redacted before need no transcript.
  expect(plan(timesOf(turns), stereo, [[12_500, 20_000]])).toEqual({ spans: [[12_500, 20_000]] })
})

it('compares the times even if nothing is redacted', () => {
  const late = all.map(({ startMs, endMs, ...rest }) => ({ ...rest, startMs: startMs + 4_000, endMs: endMs + 4_000 }))
  expect(plan(timesOf(late), stereo)).toEqual({
    refused: 'The transcript’s times seem to differ from the recording’s by 4 s.',
  })
})

it('refuses redacted words if nothing can be compared', () => {
  const redacted = { spans: [{ startMs: 4_000, endMs: 7_500 }] }
  expect(plan(timesOf([], redacted), stereo)).toEqual({ refused: 'The transcript has too few times.' })
})

it('accepts a recording without speech if nothing is redacted', () => {
  expect(plan(timesOf(all), measuredOf([[], []]))).toEqual({ spans: [] })
})

it('names a turn with neither text nor times', () => {
  expect(plan(timesOf([], { untimed: 2, isUnwritten: true }), stereo)).toEqual({
    refused: 'Turn 2 (counted from 0) has neither text nor times.',
  })
})
