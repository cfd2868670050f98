import type { Static } from 'typebox'
import type { SoundMeasures } from '../sound-measures/measures.ts'
import { percentile } from '../transcripts/signals/latency.ts'
import { silencesMs, totalMs, type Utterance, union } from '../transcripts/signals/speech.ts'
import type { MeasuredFile } from './measure-file.ts'
import type { Mark, MarkKind } from './measures/marks.ts'
import { type Channel, findTurnTaking, type TurnTaking } from './measures/turn-taking.ts'
import type { Sound } from './schema.ts'
import { findSpeakers, type Speakers } from './speakers.ts'
import type { Segment } from './voice/segments.ts'

/**
 * Derives the values that people see and rules read. This happens whenever the sound is read, because the transcript
 * determines who speaks on which channel, and it can arrive later.
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

const roundConfidence = (value: number): number => Math.round(value * 100) / 100

const oneDecimal = (value: number | null): number | null => value && Math.round(value * 10) / 10

const neither = { agent: null, customer: null }

type MeasuredMark = Mark & { channel: number }

const listMarks = ({ channels }: MeasuredFile): MeasuredMark[] =>
  channels
    .flatMap(({ marks }, channel) => marks.map((mark) => ({ ...mark, channel })))
    .sort((a, b) => a.startMs - b.startMs)

const ofKind = (marks: MeasuredMark[], wanted: MarkKind) => marks.filter(({ kind }) => kind === wanted)

/** Returns the measures that do not depend on who speaks. */
const measuresOfAll = (file: MeasuredFile) => {
  const { channels, durationMs } = file
  const count = (kind: MarkKind) => channels.reduce((total, { counts }) => total + (counts[kind] ?? 0), 0)
  const marks = listMarks(file)
  const music = union(ofKind(marks, 'hold_music'))
  const spoken = channels.flatMap(({ segments }) => segments).sort((a, b) => a.startMs - b.startMs)
  const silences = silencesMs(union(spoken), durationMs).map(Math.round)
  return {
    silenceMs: silences.reduce((total, length) => total + length, 0),
    longestSilenceMs: silences.reduce((longest, length) => Math.max(longest, length), 0),
    overallLoudnessLufs: oneDecimal(file.loudnessLufs),
    loudnessRangeLu: oneDecimal(file.loudnessRangeLu),
    peakDb: oneDecimal(Math.max(...channels.map(({ peakDb }) => peakDb))) ?? 0,
    clippedSamples: channels.reduce((total, { clippedSamples }) => total + clippedSamples, 0),
    dropouts: count('dropout'),
    packetGaps: count('packet_gap'),
    dtmfDigits: channels.reduce((total, { keys }) => total + keys, 0),
    tones: count('tone'),
    beeps: count('beep'),
    holdMusicMs: Math.round(totalMs(music)),
    cutOffEnds: count('cut_off'),
  }
}

const differenceOf = (value: number | null, other: number | null): number | null =>
  value === null || other === null ? null : value - other

/** Returns the measures of each speaker, given both channels. */
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
  const loudness = (channel: Channel) => channels[channel]?.loudnessLufs ?? null
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
    loudnessLufs: of((channel) => oneDecimal(loudness(channel))),
    loudnessDifferenceLu: oneDecimal(differenceOf(loudness(speakers.agent), loudness(speakers.customer))),
    echoDb: of((channel) => oneDecimal(channels[channel]?.echo?.db ?? null)),
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
  loudnessLufs: neither,
  loudnessDifferenceLu: null,
  echoDb: neither,
}

const oneChannel = 'The recording has one channel.'
const unknownSpeakers = 'It is not known who speaks on which channel.'
const nothingReported = 'The transcript reports no response times, or the recording has none.'

const reasonsFor = (names: string[], reason: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, reason]))

const marksOf = (file: MeasuredFile): Static<typeof Sound>['marks'] =>
  listMarks(file).map(({ kind, channel, startMs, endMs, digits = null, confidence = null }) => ({
    kind,
    channel,
    startMs: Math.round(startMs),
    endMs: Math.round(endMs),
    digits,
    confidence: confidence === null ? null : roundConfidence(confidence),
  }))

/** The measures that are estimates, with the kind of their marks. */
const estimates: [measure: keyof SoundMeasures, kind: MarkKind][] = [
  ['packetGaps', 'packet_gap'],
  ['tones', 'tone'],
  ['beeps', 'beep'],
  ['holdMusicMs', 'hold_music'],
  ['cutOffEnds', 'cut_off'],
]

const meanOf = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Returns the mean confidence of each estimate that found something. */
const confidenceOf = (file: MeasuredFile, measures: SoundMeasures): Static<typeof Sound>['confidence'] => {
  const marks = listMarks(file)
  const found = estimates.map(([measure, kind]): [string, number[]] => [
    measure,
    ofKind(marks, kind).flatMap(({ confidence }) => confidence ?? []),
  ])
  const { agent, customer } = measures.echoDb
  const echoes = agent === null && customer === null ? [] : file.channels.flatMap(({ echo }) => echo?.confidence ?? [])
  return Object.fromEntries(
    [...found, ['echoDb', echoes] as const].flatMap(([measure, confidences]) =>
      confidences.length === 0 ? [] : [[measure, roundConfidence(meanOf(confidences))]],
    ),
  )
}

const comparisonOf = (
  { responseMs, reportedLatencyDifferenceMs: differenceMs }: SoundMeasures,
  reportedMs: number | null,
): Static<typeof Sound>['comparison'] => {
  const measuredMs = responseMs.agent?.p50
  if (measuredMs === undefined || reportedMs === null || differenceMs === null) return null
  return { reportedMs, measuredMs, differenceMs }
}

type Reported = { utterances: Utterance[] | null; responseMs: number | null; agentChannel: Channel | null }

/** Returns the measures of both sides if they are known, and otherwise the reason why they are not. */
const derived = (file: MeasuredFile, { utterances, responseMs, agentChannel }: Reported) => {
  const [first, second] = file.channels.map(({ segments }) => segments)
  const all = measuresOfAll(file)
  if (!first || !second) {
    const unmeasured = reasonsFor([...Object.keys(noSides), 'talkOverMs'], oneChannel)
    const turnTaking: TurnTaking = { gaps: [], talkOver: [] }
    return { turnTaking, measures: { ...noSides, talkOverMs: null, ...all }, unmeasured }
  }
  const turnTaking = findTurnTaking([first, second])
  const talkOverMs = turnTaking.talkOver.reduce((total, span) => total + lengthOf(span), 0)
  const speakers = findSpeakers([first, second], { utterances, agentChannel })
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

/** Returns the sound of a conversation without measures. */
export const emptySound = ({ status, reason }: Outcome): Static<typeof Sound> => ({
  status,
  reason,
  channels: null,
  sampleRate: null,
  durationMs: null,
  speakers: { agent: null, customer: null, by: 'unknown' },
  waveform: [],
  segments: [],
  gaps: [],
  talkOver: [],
  measures: null,
  confidence: {},
  unmeasured: {},
  marks: [],
  redacted: null,
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
    speakers: speakers ?? { ...neither, by: 'unknown' },
    waveform: file.channels.map(({ waveform }) => waveform),
    segments: file.channels.flatMap(({ segments }, channel) => segments.map((span) => ({ channel, ...rounded(span) }))),
    gaps: turnTaking.gaps.map((gap) => rounded(gap)),
    talkOver: turnTaking.talkOver.map((span) => rounded(span)),
    measures,
    confidence: confidenceOf(file, measures),
    unmeasured,
    marks: marksOf(file),
    redacted: null,
    comparison: comparisonOf(measures, reported.responseMs),
  }
}
