import type { Block } from './decoding/decode.ts'
import { openResampler } from './decoding/resample.ts'
import { findCutOff } from './measures/cut-off.ts'
import { type FaultMeter, openFaultMeter } from './measures/faults.ts'
import { openKeyMeter } from './measures/keys.ts'
import { type FrameMeter, frameMs, type Levels, measureLevels, openFrameMeter, silentDb } from './measures/levels.ts'
import { integratedLufs, type LoudnessMeter, openLoudnessMeter } from './measures/loudness.ts'
import { type Mark, type MarkKind, mostMarks } from './measures/marks.ts'
import { findMusic } from './measures/music.ts'
import { markPacketGaps, openPacketGapMeter } from './measures/packet-gaps.ts'
import { markTones, openToneMeter } from './measures/tones.ts'
import { openNumbers } from './numbers.ts'
import { type Echo, findEcho, measureEcho, type Rated } from './voice/echo.ts'
import { blockSamples, type RateVoice, sampleRate, type VoiceNetwork, windowSamples } from './voice/network.ts'
import { findSegments, type Segment } from './voice/segments.ts'

/** Measures one channel while its samples arrive. Only the last step needs the other channel. */

export type MeasuredChannel = Omit<Levels, 'quietDb'> & {
  segments: Segment[]
  peakDb: number
  clippedSamples: number
  loudnessLufs: number | null
  echo: Echo | null
  /** The highest level within each part of the recording, as an amplitude. */
  waveform: number[]
  /** The keys that were pressed. */
  keys: number
  /** The number of marks of each kind, including those that are not kept. */
  counts: Partial<Record<MarkKind, number>>
  marks: Mark[]
}

const windowMs = (windowSamples * 1_000) / sampleRate

/** Rates windows of samples as soon as a block of them is complete. */
const openRating = (rate: RateVoice) => {
  const ratings = openNumbers()
  const tones = openToneMeter()
  const waiting = new Float32Array(blockSamples)
  let count = 0

  const rateBlock = (windows: number): void => {
    for (const rating of rate(waiting).subarray(0, windows)) ratings.push(rating)
    tones.push(waiting, windows)
    count = 0
  }

  return {
    push: (samples: Float32Array): void => {
      for (let at = 0; at < samples.length; ) {
        const part = samples.subarray(at, at + blockSamples - count)
        waiting.set(part, count)
        count += part.length
        at += part.length
        if (count === blockSamples) rateBlock(blockSamples / windowSamples)
      }
    },
    end: () => {
      const windows = Math.ceil(count / windowSamples)
      waiting.fill(0, count)
      if (windows > 0) rateBlock(windows)
      return { ratings: ratings.all(), tones: tones.end() }
    },
  }
}

/** Returns the level of each window, computed from the levels of its frames. */
const windowLevels = (levels: Float32Array, windows: number): Float32Array =>
  Float32Array.from({ length: windows }, (_, window) => {
    const first = Math.floor((window * windowMs) / frameMs)
    const within = levels.subarray(first, Math.ceil(((window + 1) * windowMs) / frameMs))
    return within.reduce((most, level) => Math.max(most, level), silentDb)
  })

export type ChannelMeter = {
  push: (samples: Float32Array) => void
  loudness: LoudnessMeter
  frames: FrameMeter
  faults: FaultMeter
  keys: ReturnType<typeof openKeyMeter>
  packetGaps: ReturnType<typeof openPacketGapMeter>
  end: ReturnType<typeof openRating>['end']
}

type Format = Pick<Block, 'sampleRate' | 'fullScale'>

export const openChannelMeter = (network: VoiceNetwork, { sampleRate: fileRate, fullScale }: Format): ChannelMeter => {
  const resampler = openResampler(fileRate, sampleRate)
  const rating = openRating(network.openChannel())
  const loudness = openLoudnessMeter(fileRate)
  const frames = openFrameMeter(sampleRate)
  const faults = openFaultMeter(fileRate, fullScale)
  const keys = openKeyMeter()
  const packetGaps = openPacketGapMeter()

  const pushResampled = (samples: Float32Array): void => {
    frames.push(samples)
    keys.push(samples)
    packetGaps.push(samples)
    rating.push(samples)
  }

  return {
    push: (samples) => {
      faults.push(samples)
      loudness.push(samples)
      pushResampled(resampler.push(samples))
    },
    loudness,
    frames,
    faults,
    keys,
    packetGaps,
    end: () => {
      pushResampled(resampler.end())
      return rating.end()
    },
  }
}

/** The number of bars in a waveform. */
const waveformParts = 500

const waveformOf = (levels: Float32Array): number[] =>
  Array.from({ length: waveformParts }, (_, part) => {
    const first = Math.floor((part * levels.length) / waveformParts)
    const end = Math.max(first + 1, Math.floor(((part + 1) * levels.length) / waveformParts))
    const highest = levels.subarray(first, end).reduce((most, level) => Math.max(most, level), silentDb)
    return Math.round(10 ** (highest / 20) * 10_000) / 10_000
  })

type Ended = { rated: Rated; tones: ReturnType<ChannelMeter['end']>['tones'] }

const endMeter = (meter: ChannelMeter): Ended => {
  const { ratings, tones } = meter.end()
  return { rated: { ratings, levels: windowLevels(meter.frames.levels(), ratings.length) }, tones }
}

const ofKind = (kind: MarkKind, spans: Segment[]): Mark[] => spans.map((span) => ({ kind, ...span }))

/** Counts the marks of each kind, and keeps only as many of them as people look at. */
const countMarks = (kinds: Mark[][]): Pick<MeasuredChannel, 'counts' | 'marks'> => {
  const counts = Object.fromEntries(kinds.flatMap((marks) => (marks[0] ? [[marks[0].kind, marks.length]] : [])))
  return { counts, marks: kinds.flatMap((marks) => marks.slice(0, mostMarks)) }
}

/** The precision of the edges of tones. */
const toneEdgeMs = 70

/** Omits gaps within and next to tones, because telephone networks switch tones on and off. */
const awayFromTones = <T extends Segment>(gaps: T[], tones: Mark[]): T[] =>
  gaps.filter(
    (gap) => !tones.some(({ startMs, endMs }) => startMs - toneEdgeMs < gap.endMs && endMs + toneEdgeMs > gap.startMs),
  )

const endChannel = (meter: ChannelMeter, { rated, tones }: Ended, other: Rated | undefined): MeasuredChannel => {
  const levels = meter.frames.levels()
  const isEcho = other ? findEcho(rated, other) : []
  // Echoes count neither as speech nor as background.
  const own = levels.map((level, frame) => (isEcho[Math.floor((frame * frameMs) / windowMs)] ? Number.NaN : level))
  const frames = { ms: frameMs, levels: own }
  const segments = findSegments(
    rated.ratings.map((rating, window) => (isEcho[window] ? 0 : rating)),
    windowMs,
    frames,
  )
  const { speechDb, noiseDb, quietDb } = measureLevels(frames, segments)
  const { peakDb, clippedSamples, clipped, dropouts: gaps, dropoutCount } = meter.faults.end()
  const keys = meter.keys.end()
  const ofTones = markTones(tones.runs, { rated, segments, keys: keys.marks })
  const dropouts = awayFromTones(gaps, [...keys.marks, ...ofTones])
  const held = ofTones.filter(({ kind }) => kind === 'tone')
  const { counts, marks } = countMarks([
    ofKind('clipping', clipped),
    ofKind('dropout', dropouts),
    awayFromTones(markPacketGaps(meter.packetGaps.gaps, quietDb, dropouts), [...keys.marks, ...ofTones]),
    keys.marks,
    held,
    ofTones.filter(({ kind }) => kind === 'beep'),
    findMusic(rated, tones.flatness, held),
    findCutOff({ ms: frameMs, levels }, segments, speechDb),
  ])
  return {
    segments,
    speechDb,
    noiseDb,
    peakDb,
    clippedSamples,
    loudnessLufs: integratedLufs(meter.loudness.powers()),
    echo: (other && measureEcho(rated, other)) ?? null,
    waveform: waveformOf(levels),
    keys: keys.pressed,
    // The meter counts all marks, but keeps only some of them.
    counts: { ...counts, dropout: dropoutCount - (gaps.length - dropouts.length) },
    marks,
  }
}

/** Returns the measures of all channels of a recording. */
export const endChannels = (meters: ChannelMeter[]): MeasuredChannel[] => {
  const ended = meters.map(endMeter)
  return meters.map((meter, channel) => endChannel(meter, ended[channel] as Ended, ended[1 - channel]?.rated))
}
