import { quantile } from '../quantile.ts'
import { type Frames, splitLevels } from './frames.ts'

/** Turns ratings of windows into segments of speech. */

export type Segment = { startMs: number; endMs: number }

/** A segment starts at this rating, and ends when the rating stays below the lower one. */
const [starts, continues] = [0.5, 0.35]
/** Shorter pauses belong to the segment, for example between words or within plosives. */
const shortestPauseMs = 160
/** Shorter segments are clicks and breaths. */
const shortestMs = 96

/** Edges move at most this far inward, because the network rates whole windows. */
const inwardMs = 96
/** Edges move at most this far outward, because the network often misses the last consonant. */
const outwardMs = 400
/** Shorter pauses in the added frames do not end the speech. */
const addedPauseMs = 60

const isLoud = ({ levels }: Frames, frame: number, threshold: number): boolean => (levels[frame] ?? -120) > threshold

/**
 * Returns the frame after the last loud one. `from` is the edge that the network found. `step` is 1 for the end of a
 * segment and -1 for its start, where everything is mirrored.
 */
const edgeOf = (frames: Frames, from: number, step: 1 | -1, threshold: number): number => {
  // The frame inside the edge.
  const before = (edge: number) => (step === 1 ? edge - 1 : edge)
  const after = (edge: number) => (step === 1 ? edge : edge - 1)
  const framesIn = (ms: number) => Math.round(ms / frames.ms)
  let edge = from
  for (let distance = 0, quiet = 0; distance < framesIn(outwardMs) && quiet <= framesIn(addedPauseMs); distance++) {
    const isNextLoud = isLoud(frames, after(from + step * distance), threshold)
    quiet = isNextLoud ? 0 : quiet + 1
    if (isNextLoud) edge = from + step * (distance + 1)
  }
  const innermost = from - step * framesIn(inwardMs)
  while (edge !== innermost && !isLoud(frames, before(edge), threshold)) edge -= step
  return edge
}

/** Moves the edges of a segment to its first and last frames that are clearly louder than the background. */
const trim = (segment: Segment, frames: Frames, threshold: number): Segment => {
  const { ms } = frames
  const start = Math.max(0, edgeOf(frames, Math.round(segment.startMs / ms), -1, threshold))
  const end = edgeOf(frames, Math.round(segment.endMs / ms), 1, threshold)
  return end > start ? { startMs: start * ms, endMs: end * ms } : segment
}

/** Returns the level that separates a channel's speech from its background, halfway between the two. */
const thresholdOf = (segments: Segment[], frames: Frames): number => {
  const levels = splitLevels(frames, segments)
  const speech = quantile(levels.speech, 0.5) ?? 0
  const background = quantile(levels.background, 0.5) ?? -120
  return Math.max(background + 6, Math.min(speech - 20, (speech + background) / 2))
}

/** Joins segments with only a short pause between them. */
const join = (segments: Segment[]): Segment[] => {
  const joined: Segment[] = []
  for (const segment of segments) {
    const last = joined.at(-1)
    if (last && segment.startMs - last.endMs < shortestPauseMs) last.endMs = Math.max(last.endMs, segment.endMs)
    else joined.push({ ...segment })
  }
  return joined
}

const rated = (ratings: ArrayLike<number>, windowMs: number): Segment[] => {
  const found: Segment[] = []
  let start: number | undefined
  for (let window = 0; window <= ratings.length; window++) {
    const rating = ratings[window] ?? 0
    if (start === undefined && rating >= starts) start = window
    if (start !== undefined && rating < continues) {
      found.push({ startMs: start * windowMs, endMs: window * windowMs })
      start = undefined
    }
  }
  return found
}

export const findSegments = (ratings: ArrayLike<number>, windowMs: number, frames: Frames): Segment[] => {
  const rough = join(rated(ratings, windowMs))
  const threshold = thresholdOf(rough, frames)
  return join(rough.map((segment) => trim(segment, frames, threshold))).filter(
    ({ startMs, endMs }) => endMs - startMs >= shortestMs,
  )
}
