import { Progress as Base } from '@base-ui/react/progress'
import { formatCount, formatPercent } from '../lib/format.ts'
import styles from './progress.module.css'

type ProgressProps = { label: string; done: number; total?: number | undefined }

/** How far work is: of a total where that is known, by its count alone where it is not. */
export const Progress = ({ label, done, total }: ProgressProps) => {
  const share = total === undefined ? null : total === 0 ? 1 : Math.min(1, done / total)
  return (
    <Base.Root className={styles.progress} value={share === null ? null : share * 100} aria-label={label}>
      <Base.Track className={styles.track}>
        <Base.Indicator className={styles.indicator} />
      </Base.Track>
      <span className={styles.words}>
        {formatCount(done)}
        {total !== undefined && ` of ${formatCount(total)}`}
        {share !== null && ` · ${formatPercent(Math.floor(share * 100) / 100)}`}
      </span>
    </Base.Root>
  )
}
