import { Play } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatClock } from '../lib/format.ts'
import styles from './aside.module.css'
import { useStage } from './stage.tsx'
import { keepFocus } from './turn-lines.tsx'

/** Playback starts this long before, so that one hears how it begins. */
const leadSeconds = 1

/** Shows something that can be heard from this time on. */
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
