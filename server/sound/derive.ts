import type { Static } from 'typebox'
import type { SoundMeasures } from '../sound-measures/measures.ts'
import { percentile } from '../transcripts/signals/latency.ts'
import { silencesMs, totalMs, type Utterance, union } from '../transcripts/signals/speech.ts'
import type { MeasuredFile } from './measure-file.ts'
import { type Channel, findTurnTaking, type TurnTaking } from './measures/turn-taking.ts'
import type { Sound } from './schema.ts'
import { findSpeakers, type Speakers } from './speakers.ts'
import type { Segment } from './voice/segments.ts'

/**
 * Derives the values that people and rules read from the measures. This happens whenever the sound is read, because the
 * speakers of the channels depend on the transcript, which can arrive later.
 */

const lengthOf = ({ startMs, endMs }: Segment): number => Math.round(endMs - startMs)

const spreadOf = (lengths: number[]): SoundMeasures['responseMs']['agent'] => {
  const sorted = lengths.toSorted((a, b) => a - b)
  const [p50, p95, max] = [percentile(sorted, 0.5), percentile(sorted, 0.95), sorted.at(-1)]
  return p50 === null || p95 === null || max === undefined ? null : { count: sorted.length, p50, p95, max }
}

const rounded = <T extends Segment>(span: T): T => ({
  ...span,
  startMs: Math.round(span.startMs),
  endMs: Math.round(span.endMs),
})

const oneDecimal = (value: number | null): number | null => value && Math.round(value * 10) / 10

const neither = { agent: null, customer: null }

/** Returns the measures that do not depend on who speaks. */
const measuresOfAll = ({ channels, durationMs }: MeasuredFile) => {
  const spoken = channels.flatMap(({ segments }) => segments).sort((a, b) => a.startMs - b.startMs)
  const silences = silencesMs(union(spoken), durationMs).map(Math.round)
  return {
    silenceMs: silences.reduce((total, length) => total + length, 0),
    longestSilenceMs: silences.reduce((longest, length) => Math.max(longest, length), 0),
    peakDb: Math.round(Math.max(...channels.map(({ peakDb }) => peakDb)) * 10) / 10,
    clippedSamples: channels.reduce((total, { clippedSamples }) => total + clippedSamples, 0),
    dropouts: channels.reduce((total, { dropoutCount }) => total + dropoutCount, 0),
  }
}

/** Returns the measures of the speakers of both channels. */
const measuresOfSides = (
  { channels }: MeasuredFile,
  { gaps, talkOver }: TurnTaking,
  speakers: Speakers,
  reportedMs: number | null,
) => {
  const of = <T>(measure: (channel: Channel) => T) => ({
    agent: measure(speakers.agent),
    customer: measure(speakers.customer),
  })
  const talkMs = of((channel) => Math.round(totalMs(union(channels[channel]?.segments ?? []))))
  const spoken = talkMs.agent + talkMs.customer
  const lengths = (spans: Segment[]) => spreadOf(spans.map(lengthOf))
  const responseMs = of((channel) => lengths(gaps.filter((gap) => gap.channel === channel)))
  const measuredMs = responseMs.agent?.p50
  return {
    responseMs,
    reportedLatencyDifferenceMs: measuredMs === undefined || reportedMs === null ? null : measuredMs - reportedMs,
    firstSpeechMs: of((channel) => {
      const [first] = channels[channel]?.segments ?? []
      return first ? Math.round(first.startMs) : null
    }),
    talkMs,
    talkRatio: spoken === 0 ? null : Math.round((talkMs.agent / spoken) * 1_000) / 1_000,
    interruptions: of(
      (channel) => talkOver.filter((span) => span.channel === channel && span.yielded !== channel).length,
    ),
    stopMs: of((channel) => lengths(talkOver.filter((span) => span.yielded === channel && span.channel !== channel))),
    speechDb: of((channel) => oneDecimal(channels[channel]?.speechDb ?? null)),
    noiseDb: of((channel) => oneDecimal(channels[channel]?.noiseDb ?? null)),
  }
}

const noSides = {
  responseMs: neither,
  firstSpeechMs: neither,
  talkMs: neither,
  talkRatio: null,
  interruptions: neither,
  stopMs: neither,
  speechDb: neither,
  noiseDb: neither,
  reportedLatencyDifferenceMs: null,
}

const oneChannel = 'The recording has one channel.'
const unknownSpeakers = 'It is not known who speaks on which channel.'
const nothingReported = 'The transcript reports no response times, or the recording has none.'

const reasonsFor = (names: string[], reason: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, reason]))

const marksOf = ({ channels }: MeasuredFile): Static<typeof Sound>['marks'] =>
  channels
    .flatMap(({ clipped, dropouts }, channel) => [
      ...clipped.map((span) => ({ kind: 'clipping' as const, channel, ...rounded(span) })),
      ...dropouts.map((span) => ({ kind: 'dropout' as const, channel, ...rounded(span) })),
    ])
    .sort((a, b) => a.startMs - b.startMs)

const comparisonOf = (
  { responseMs, reportedLatencyDifferenceMs: differenceMs }: SoundMeasures,
  reportedMs: number | null,
): Static<typeof Sound>['comparison'] => {
  const measuredMs = responseMs.agent?.p50
  if (measuredMs === undefined || reportedMs === null || differenceMs === null) return null
  return { reportedMs, measuredMs, differenceMs }
}

type Reported = { utterances: Utterance[] | null; responseMs: number | null }

/** Returns the measures of both sides as far as they are known, and the reason why the others are not. */
const derived = (file: MeasuredFile, { utterances, responseMs }: Reported) => {
  const [first, second] = file.channels.map(({ segments }) => segments)
  const all = measuresOfAll(file)
  if (!first || !second) {
    const unmeasured = reasonsFor([...Object.keys(noSides), 'talkOverMs'], oneChannel)
    const turnTaking: TurnTaking = { gaps: [], talkOver: [] }
    return { turnTaking, measures: { ...noSides, talkOverMs: null, ...all }, unmeasured }
  }
  const turnTaking = findTurnTaking([first, second])
  const talkOverMs = turnTaking.talkOver.reduce((total, span) => total + lengthOf(span), 0)
  const speakers = findSpeakers([first, second], utterances)
  if (!speakers) {
    const unmeasured = reasonsFor(Object.keys(noSides), unknownSpeakers)
    return { turnTaking, measures: { ...noSides, talkOverMs, ...all }, unmeasured }
  }
  const measures = { ...measuresOfSides(file, turnTaking, speakers, responseMs), talkOverMs, ...all }
  const unmeasured =
    measures.reportedLatencyDifferenceMs === null ? reasonsFor(['reportedLatencyDifferenceMs'], nothingReported) : {}
  return { turnTaking, speakers, measures, unmeasured }
}

type Outcome = Pick<Static<typeof Sound>, 'status' | 'reason'>

/** Returns a sound without measures. */
export const emptySound = ({ status, reason }: Outcome): Static<typeof Sound> => ({
  status,
  reason,
  channels: null,
  sampleRate: null,
  durationMs: null,
  speakers: { agent: null, customer: null, by: 'unknown' },
  segments: [],
  gaps: [],
  talkOver: [],
  measures: null,
  unmeasured: {},
  marks: [],
  comparison: null,
})

export const deriveSound = (file: MeasuredFile, reported: Reported): Static<typeof Sound> => {
  const { turnTaking, speakers, measures, unmeasured } = derived(file, reported)
  return {
    status: 'measured',
    reason: null,
    channels: file.channels.length,
    sampleRate: file.sampleRate,
    durationMs: file.durationMs,
    speakers: speakers ? { ...speakers, by: 'transcript' } : { ...neither, by: 'unknown' },
    segments: file.channels.flatMap(({ segments }, channel) => segments.map((span) => ({ channel, ...rounded(span) }))),
    gaps: turnTaking.gaps.map((gap) => rounded(gap)),
    talkOver: turnTaking.talkOver.map((span) => rounded(span)),
    measures,
    unmeasured,
    marks: marksOf(file),
    comparison: comparisonOf(measures, reported.responseMs),
  }
}
