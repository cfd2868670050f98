import { queryOptions } from '@tanstack/react-query'
import { decodeSound, longestDecoded } from './decode-sound.ts'

const columns = 500

export type Peaks = {
  /** The peak of each section of the recording, by channel, from 0 to 1. */
  channels: number[][]
  seconds: number
}

const peaksOf = (samples: Float32Array): number[] => {
  const size = samples.length / columns
  return Array.from({ length: columns }, (_, column) => {
    let most = 0
    for (let at = Math.floor(column * size); at < Math.floor((column + 1) * size); at++) {
      most = Math.max(most, Math.abs(samples[at] ?? 0))
    }
    return most
  })
}

const readPeaks = async (src: string, signal: AbortSignal): Promise<Peaks | null> => {
  const sound = await decodeSound(src, signal)
  // Without a waveform, the turns are still shown.
  if (!sound) return null
  const all = Array.from({ length: Math.min(2, sound.numberOfChannels) }, (_, at) => peaksOf(sound.getChannelData(at)))
  const loudest = Math.max(0.01, ...all.flat())
  return { channels: all.map((peaks) => peaks.map((peak) => peak / loudest)), seconds: sound.duration }
}

/** Returns the waveform of a recording that the server can't measure, or null if the recording isn't available. */
export const peaksOptions = (src: string | undefined, seconds: number) =>
  queryOptions({
    queryKey: ['peaks', src],
    queryFn: ({ signal }) => readPeaks(src ?? '', signal),
    enabled: src !== undefined && seconds <= longestDecoded,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  })
