import type { Rated } from '../voice/echo.ts'
import { sampleRate, windowSamples } from '../voice/network.ts'
import type { Segment } from '../voice/segments.ts'
import type { Mark } from './marks.ts'

/** Estimates where a channel has hold music: continuous sound without voice that has musical tones. */

const windowMs = (windowSamples * 1_000) / sampleRate

/** The length of a chunk, about one second. */
const chunkWindows = 31
const chunkMs = chunkWindows * windowMs

/** Quieter windows are background. */
const audibleDb = -50
/** The spectrum of music is less flat than that of noise. */
const mostFlatness = 0.12
/** In a chunk of music, most windows are audible, and half of them have tones. */
const [leastAudible, leastTonal, mostVoice] = [0.8, 0.5, 0.4]
/** Music may have quiet moments up to this length. */
const longestPauseChunks = 2
const shortestChunks = 8

type Chunk = { isMusic: boolean; tonal: number }

const chunkAt = (first: number, { ratings, levels }: Rated, flatness: Float32Array): Chunk => {
  let [audible, tonal, voice] = [0, 0, 0]
  for (let window = first; window < first + chunkWindows; window++) {
    voice += ratings[window] as number
    if ((levels[window] as number) < audibleDb) continue
    audible++
    if ((flatness[window] as number) < mostFlatness) tonal++
  }
  const isMusic =
    audible >= leastAudible * chunkWindows && tonal >= leastTonal * chunkWindows && voice <= mostVoice * chunkWindows
  return { isMusic, tonal: tonal / chunkWindows }
}

/** A span of chunks, with the sum of its tonal shares. */
type Span = { first: number; last: number; tonal: number }

const spansOf = (chunks: Chunk[]): Span[] => {
  const spans: Span[] = []
  chunks.forEach(({ isMusic, tonal }, chunk) => {
    if (!isMusic) return
    const span = spans.at(-1)
    if (span && chunk - span.last - 1 <= longestPauseChunks) {
      span.last = chunk
      span.tonal += tonal
    } else spans.push({ first: chunk, last: chunk, tonal })
  })
  return spans.filter(({ first, last }) => last - first + 1 >= shortestChunks)
}

/** Returns the portion of a span that consists of steady tones, which are not music. */
const toneShare = ({ startMs, endMs }: Segment, tones: Segment[]): number =>
  tones.reduce((total, tone) => total + Math.max(0, Math.min(endMs, tone.endMs) - Math.max(startMs, tone.startMs)), 0) /
  (endMs - startMs)

export const findMusic = (rated: Rated, flatness: Float32Array, tones: Segment[]): Mark[] => {
  const count = Math.floor(Math.min(rated.ratings.length, flatness.length) / chunkWindows)
  const chunks = Array.from({ length: count }, (_, chunk) => chunkAt(chunk * chunkWindows, rated, flatness))
  return spansOf(chunks)
    .map(({ first, last, tonal }): Mark => {
      const span = { startMs: first * chunkMs, endMs: (last + 1) * chunkMs }
      return { kind: 'hold_music', ...span, confidence: tonal / (last - first + 1) }
    })
    .filter((span) => toneShare(span, tones) < 0.5)
}
