import { formatCount, formatPercent } from '../lib/format.ts'
import styles from './progress.module.css'

type ProgressProps = { label: string; done: number; total?: number | undefined }

/** Shows progress: as a share if the total is known, and otherwise as a count. */
export const Progress = ({ label, done, total }: ProgressProps) => {
  const share = total === undefined ? null : total === 0 ? 1 : Math.min(1, done / total)
  return (
    <div
      className={styles.progress}
      role="progressbar"
      aria-label={label}
      {...(share !== null && { 'aria-valuenow': Math.floor(share * 100) })}
    >
      <div className={styles.track}>
        <div className={styles.indicator} style={{ width: share === null ? '30%' : `${share * 100}%` }} />
      </div>
      <span className={styles.words}>
        {formatCount(done)}
        {total !== undefined && ` of ${formatCount(total)}`}
        {share !== null && ` · ${formatPercent(Math.floor(share * 100) / 100)}`}
      </span>
    </div>
  )
}
