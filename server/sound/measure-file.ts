import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ChannelMeter, endChannels, type MeasuredChannel, openChannelMeter } from './channel-meter.ts'
import { readBlocks } from './decoding/read-blocks.ts'
import { addPowers, integratedLufs, loudnessRangeLu } from './measures/loudness.ts'
import { openVoiceNetwork, type VoiceNetwork } from './voice/network.ts'

/** Measures a recording block by block, without knowing who speaks on which channel. */

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

/** Measures an open file. `onBlock` is called for each block, and can throw. */
export const measureFile = async (fd: number, options: { onBlock: () => void }): Promise<MeasuredFile> => {
  const network = openNetwork()
  let [fileRate, samples] = [0, 0]
  let meters: ChannelMeter[] = []
  for await (const { channels, ...format } of readBlocks(fd, options)) {
    if (meters.length === 0) meters = channels.map(() => openChannelMeter(network, format))
    fileRate = format.sampleRate
    samples += channels[0]?.length ?? 0
    for (const [channel, samples] of channels.entries()) meters[channel]?.push(samples)
  }
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
