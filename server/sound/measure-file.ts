import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { decodeFile, Undecodable } from './decoding/decode.ts'
import { openResampler, type Resampler } from './decoding/resample.ts'
import { type FaultMeter, type Faults, openFaultMeter } from './measures/faults.ts'
import {
  type FrameMeter,
  frameMs,
  type Levels,
  measureLevels,
  openFrameMeter,
  openNumbers,
  silentDb,
} from './measures/levels.ts'
import { findEcho, type Rated } from './voice/echo.ts'
import {
  blockSamples,
  openVoiceNetwork,
  type RateVoice,
  sampleRate,
  type VoiceNetwork,
  windowSamples,
} from './voice/network.ts'
import { findSegments, type Segment } from './voice/segments.ts'

/** Measures a recording block by block. Does not know the speakers of the channels. */

export type MeasuredChannel = Levels & Faults & { segments: Segment[] }

export type MeasuredFile = { sampleRate: number; durationMs: number; channels: MeasuredChannel[] }

const builtFile = (name: string) => readFileSync(join(import.meta.dirname, '../../dist/voice', name))

const openNetwork = (): VoiceNetwork =>
  openVoiceNetwork({ kernel: builtFile('kernel.wasm'), parameters: builtFile('parameters.bin') })

const windowMs = (windowSamples * 1_000) / sampleRate

type ChannelMeter = {
  resampler: Resampler
  rate: RateVoice
  ratings: ReturnType<typeof openNumbers>
  /** Samples that wait until a block is complete. */
  waiting: Float32Array
  waitingCount: number
  frames: FrameMeter
  faults: FaultMeter
}

const openChannelMeter = (network: VoiceNetwork, fileRate: number): ChannelMeter => ({
  resampler: openResampler(fileRate, sampleRate),
  rate: network.openChannel(),
  ratings: openNumbers(),
  waiting: new Float32Array(blockSamples),
  waitingCount: 0,
  frames: openFrameMeter(sampleRate),
  faults: openFaultMeter(fileRate),
})

const rateBlock = (meter: ChannelMeter, windows: number): void => {
  for (const rating of meter.rate(meter.waiting).subarray(0, windows)) meter.ratings.push(rating)
  meter.waitingCount = 0
}

const pushResampled = (meter: ChannelMeter, samples: Float32Array): void => {
  meter.frames.push(samples)
  for (let at = 0; at < samples.length; ) {
    const part = samples.subarray(at, at + blockSamples - meter.waitingCount)
    meter.waiting.set(part, meter.waitingCount)
    meter.waitingCount += part.length
    at += part.length
    if (meter.waitingCount === blockSamples) rateBlock(meter, blockSamples / windowSamples)
  }
}

const push = (meter: ChannelMeter, samples: Float32Array): void => {
  meter.faults.push(samples)
  pushResampled(meter, meter.resampler.push(samples))
}

/** Returns the level of each window, from the levels of the frames within it. */
const windowLevels = (levels: Float32Array, windows: number): Float32Array =>
  Float32Array.from({ length: windows }, (_, window) => {
    const first = Math.floor((window * windowMs) / frameMs)
    const within = levels.subarray(first, Math.ceil(((window + 1) * windowMs) / frameMs))
    return within.reduce((most, level) => Math.max(most, level), silentDb)
  })

const endRatings = (meter: ChannelMeter): Rated => {
  pushResampled(meter, meter.resampler.end())
  const windows = Math.ceil(meter.waitingCount / windowSamples)
  meter.waiting.fill(0, meter.waitingCount)
  if (windows > 0) rateBlock(meter, windows)
  const ratings = meter.ratings.all()
  return { ratings, levels: windowLevels(meter.frames.levels(), ratings.length) }
}

const endChannel = (meter: ChannelMeter, ratings: Float32Array, isEcho: boolean[]): MeasuredChannel => {
  const levels = meter.frames.levels()
  // Echoes count neither as speech nor as background.
  const own = levels.map((level, frame) => (isEcho[Math.floor((frame * frameMs) / windowMs)] ? Number.NaN : level))
  const segments = findSegments(
    ratings.map((rating, window) => (isEcho[window] ? 0 : rating)),
    windowMs,
    { ms: frameMs, levels: own },
  )
  return { segments, ...measureLevels(levels, segments), ...meter.faults.end() }
}

const endAll = (meters: ChannelMeter[]): MeasuredChannel[] => {
  const rated = meters.map(endRatings)
  return meters.map((meter, channel) => {
    const own = rated[channel] as Rated
    const other = rated[1 - channel]
    return endChannel(meter, own.ratings, other ? findEcho(own, other) : [])
  })
}

const [lowestRate, highestRate] = [4_000, 192_000]
const longestHours = 12

const checkFormat = (channels: number, fileRate: number): void => {
  if (channels === 0) throw new Undecodable('The file has no audio.')
  if (channels > 2) throw new Undecodable(`The recording has ${channels} channels; at most two are measured.`)
  if (!Number.isInteger(fileRate) || fileRate < lowestRate || fileRate > highestRate) {
    throw new Undecodable('The recording has a sample rate that is not measured.')
  }
}

/** Measures an open file. `onBlock` is called for each block, and can throw. */
export const measureFile = async (fd: number, { onBlock }: { onBlock: () => void }): Promise<MeasuredFile> => {
  const network = openNetwork()
  let [fileRate, samples] = [0, 0]
  let meters: ChannelMeter[] = []
  for await (const block of decodeFile(fd)) {
    const length = block.channels[0]?.length ?? 0
    onBlock()
    // The process must notice when its parent is gone.
    await setImmediate()
    if (length === 0) continue
    if (meters.length === 0) {
      checkFormat(block.channels.length, block.sampleRate)
      fileRate = block.sampleRate
      meters = block.channels.map(() => openChannelMeter(network, fileRate))
    }
    if (block.sampleRate !== fileRate || block.channels.length !== meters.length) {
      throw new Undecodable('The sample rate or the number of channels changes within the recording.')
    }
    samples += length
    if (samples > longestHours * 3_600 * fileRate) {
      throw new Undecodable(`Recordings longer than ${longestHours} hours are not measured.`)
    }
    for (const [channel, samples] of block.channels.entries()) push(meters[channel] as ChannelMeter, samples)
  }
  if (meters.length === 0) throw new Undecodable('The file has no audio.')
  return {
    sampleRate: fileRate,
    durationMs: Math.round((samples * 1_000) / fileRate),
    channels: endAll(meters),
  }
}
