import { Play } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatClock } from '../lib/format.ts'
import styles from './aside.module.css'
import { useStage } from './stage.tsx'
import { keepFocus } from './turn-lines.tsx'

/** Playback starts this much earlier, so that listeners hear how it begins. */
const leadSeconds = 1

/** Shows an event that can be played from this time on. */
export const PlayFrom = ({ ms, children }: { ms: number; children: ReactNode }) => {
  const { playFrom } = useStage()
  const seconds = ms / 1_000
  return (
    <button type="button" onMouseDown={keepFocus} onClick={() => playFrom(Math.max(0, seconds - leadSeconds))}>
      <span className={styles.at}>
        <Play aria-hidden="true" /> {formatClock(seconds)}
      </span>
      {children}
    </button>
  )
}
