import { queryOptions } from '@tanstack/react-query'

const columns = 500
const rate = 8_000
/** The longest recording, in seconds, that is downloaded completely to draw its waveform. */
const longest = 30 * 60
const maxBytes = 80_000_000

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
  const response = await fetch(src, { signal })
  if (!response.ok || Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel()
    return null
  }
  try {
    const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(await response.arrayBuffer())
    const all = Array.from({ length: Math.min(2, sound.numberOfChannels) }, (_, at) =>
      peaksOf(sound.getChannelData(at)),
    )
    const loudest = Math.max(0.01, ...all.flat())
    return { channels: all.map((peaks) => peaks.map((peak) => peak / loudest)), seconds: sound.duration }
  } catch {
    // If the browser can't decode the format, there is no waveform, but the turns are still shown.
    return null
  }
}

/** Returns the waveform of a recording, or null if it isn't available. */
export const peaksOptions = (src: string | undefined, seconds: number) =>
  queryOptions({
    queryKey: ['peaks', src],
    queryFn: ({ signal }) => readPeaks(src ?? '', signal),
    enabled: src !== undefined && seconds <= longest,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  })
