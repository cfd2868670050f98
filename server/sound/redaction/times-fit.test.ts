import { expect, it } from 'vitest'
import type { Utterance } from '../../transcripts/signals/speech.ts'
import { findMisfit } from './times-fit.ts'

const customer = [
  { startMs: 4_000, endMs: 7_500 },
  { startMs: 13_000, endMs: 15_000 },
]
const agent = [
  { startMs: 500, endMs: 3_000 },
  { startMs: 8_200, endMs: 12_400 },
  { startMs: 15_900, endMs: 19_000 },
]

const utterances = (shiftMs = 0): Utterance[] =>
  [
    ...agent.map((span) => ({ ...span, by: 'agent' as const })),
    ...customer.map((span) => ({ ...span, by: 'customer' as const })),
  ]
    .map(({ by, startMs, endMs }) => ({ by, startMs: startMs + shiftMs, endMs: endMs + shiftMs }))
    .sort((a, b) => a.startMs - b.startMs)

const stereo = [agent, customer]
const mono = [[...agent, ...customer].sort((a, b) => a.startMs - b.startMs)]

it.each([
  ['two channels', stereo],
  ['swapped channels', [customer, agent]],
  ['one channel', mono],
])('accepts the times of a recording with %s', (_what, channels) => {
  expect(findMisfit(channels, utterances())).toBeUndefined()
  expect(findMisfit(channels, utterances(400))).toBeUndefined()
})

it.each([
  ['two channels', stereo],
  ['one channel', mono],
])('notices times that are off in %s', (_what, channels) => {
  for (const shiftMs of [-8_000, -3_000, 3_000, 8_000]) {
    const seconds = Math.abs(shiftMs) / 1_000
    expect(findMisfit(channels, utterances(shiftMs))).toBe(
      `The transcript’s times seem to differ from the recording’s by ${seconds} s.`,
    )
  }
})

it('notices times without speech', () => {
  expect(findMisfit([[], []], utterances())).toBe('The transcript’s times don’t match the speech in the recording.')
  expect(findMisfit(mono, utterances(60_000))).toBe('The transcript’s times don’t match the speech in the recording.')
})

it('accepts a transcript that is too short to compare', () => {
  expect(findMisfit(stereo, [{ by: 'agent', startMs: 30_000, endMs: 31_000 }])).toBeUndefined()
})
