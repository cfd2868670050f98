import type { Frames } from '../voice/frames.ts'
import type { Segment } from '../voice/segments.ts'
import { decibels } from './levels.ts'
import type { Mark } from './marks.ts'

/** Estimates whether the recording ends in the middle of a channel's speech. */

/** Codecs add near-silence at the end: at most this long, and at least this much quieter than the speech. */
const [paddingMs, paddingDb] = [100, 40]
/** Speech is cut off only if it ends this close to the end of the recording. */
const nearMs = 60
/** The level of the end is measured over this time. It may be at most this much below the level of the speech. */
const [tailMs, mostFallDb] = [30, 12]
/** The mark is this long, so that listeners hear what was cut off. */
const markMs = 1_000

const endOf = ({ levels, ms }: Frames, speechDb: number): number => {
  const silentDb = speechDb - paddingDb
  let end = levels.length
  while (end > 0 && (levels.length - end) * ms < paddingMs && (levels[end - 1] as number) <= silentDb) end--
  return end
}

const tailLevel = ({ levels, ms }: Frames, end: number): number => {
  const count = Math.min(end, Math.round(tailMs / ms))
  let power = 0
  for (let frame = end - count; frame < end; frame++) power += 10 ** ((levels[frame] as number) / 10)
  return decibels(power / count)
}

export const findCutOff = (frames: Frames, segments: Segment[], speechDb: number | null): Mark[] => {
  const last = segments.at(-1)
  if (!last || speechDb === null) return []
  const end = endOf(frames, speechDb)
  const endMs = end * frames.ms
  if (endMs - last.endMs > nearMs) return []
  const fallDb = Math.max(0, speechDb - tailLevel(frames, end))
  if (fallDb > mostFallDb) return []
  const startMs = Math.max(last.startMs, endMs - markMs)
  return [{ kind: 'cut_off', startMs, endMs, confidence: 0.9 - (0.4 * fallDb) / mostFallDb }]
}
