import { expect, it } from 'vitest'
import { readTranscript } from './read-transcript.ts'
import { possibleSpans, timedUtterances } from './spoken-turns.ts'

const turnsOf = (turns: object[]) => {
  const reading = readTranscript({ turns })
  if (!('turns' in reading)) throw new Error(reading.unreadable)
  return reading.turns
}

it('estimates a missing end from the text and the next turn', () => {
  const turns = turnsOf([
    { role: 'agent', text: 'Hello, how can I help you?', startMs: 0 },
    { role: 'customer', text: 'Hi', startMs: 3_000 },
    { role: 'agent', text: 'Fine.', startMs: 60_000, endMs: 61_000 },
    { role: 'system', text: 'Be polite.', startMs: 70_000, endMs: 80_000 },
  ])
  expect(timedUtterances(turns)).toEqual([
    { by: 'agent', startMs: 0, endMs: 3_000 },
    { by: 'customer', startMs: 3_000, endMs: 5_200 },
    { by: 'agent', startMs: 60_000, endMs: 61_000 },
  ])
})

it('uses the times of words', () => {
  const words = [
    { text: 'Hello', startMs: 500, endMs: 900 },
    { text: 'Ada', startMs: 950, endMs: 1_200 },
  ]
  expect(timedUtterances(turnsOf([{ role: 'agent', text: 'Hello Ada', words }]))).toEqual([
    { by: 'agent', startMs: 500, endMs: 1_200 },
  ])
})

it('omits turns without a start', () => {
  expect(timedUtterances(turnsOf([{ role: 'agent', text: 'Hello.' }]))).toEqual([])
})

it('lets turns last as long as they can', () => {
  const turns = turnsOf([
    { role: 'agent', text: 'Hello.', startMs: 1_000, endMs: 2_000 },
    { role: 'customer', text: 'Hello.' },
    { role: 'agent', text: 'One moment.', startMs: 8_000 },
    { role: 'customer', text: 'Yes.', startMs: 9_000, endMs: 9_500 },
  ])
  expect(possibleSpans(turns)).toEqual([
    { startMs: 1_000, endMs: 2_000 },
    { startMs: 1_000, endMs: 8_000 },
    { startMs: 8_000, endMs: Number.POSITIVE_INFINITY },
    { startMs: 9_000, endMs: 9_500 },
  ])
})
