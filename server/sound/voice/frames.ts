import type { TimeSpan } from '../../transcripts/signals/speech.ts'
import { openNumbers } from '../numbers.ts'

/** The levels of short frames, in decibels below full scale. The level is NaN for frames that do not count. */
export type Frames = { ms: number; levels: ArrayLike<number> }

/** Returns the levels of the frames with speech and of the frames without it. */
export const splitLevels = ({ ms, levels }: Frames, spoken: TimeSpan[]) => {
  const inside = new Uint8Array(levels.length)
  for (const { startMs, endMs } of spoken) inside.fill(1, Math.round(startMs / ms), Math.round(endMs / ms))
  const [speech, background] = [openNumbers(), openNumbers()]
  for (let frame = 0; frame < levels.length; frame++) {
    const level = levels[frame] as number
    if (Number.isNaN(level)) continue
    if (inside[frame] === 1) speech.push(level)
    else background.push(level)
  }
  return { speech: speech.all(), background: background.all() }
}
