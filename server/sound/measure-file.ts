import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type ChannelMeter, endChannels, type MeasuredChannel, openChannelMeter } from './channel-meter.ts'
import { decodeFile, Undecodable } from './decoding/decode.ts'
import { addPowers, integratedLufs, loudnessRangeLu } from './measures/loudness.ts'
import { openVoiceNetwork, type VoiceNetwork } from './voice/network.ts'

/** Measures a recording block by block. Does not know the speakers of the channels. */

export type MeasuredFile = {
  sampleRate: number
  durationMs: number
  /** The loudness of all channels together. */
  loudnessLufs: number | null
  loudnessRangeLu: number | null
  channels: MeasuredChannel[]
}

const builtFile = (name: string) => readFileSync(join(import.meta.dirname, '../../dist/voice', name))

const openNetwork = (): VoiceNetwork =>
  openVoiceNetwork({ kernel: builtFile('kernel.wasm'), parameters: builtFile('parameters.bin') })

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
    for (const [channel, samples] of block.channels.entries()) meters[channel]?.push(samples)
  }
  if (meters.length === 0) throw new Undecodable('The file has no audio.')
  const channels = endChannels(meters)
  const powers = addPowers(meters.map(({ loudness }) => loudness.powers()))
  return {
    sampleRate: fileRate,
    durationMs: Math.round((samples * 1_000) / fileRate),
    loudnessLufs: integratedLufs(powers),
    loudnessRangeLu: loudnessRangeLu(powers),
    channels,
  }
}
