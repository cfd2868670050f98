import { formatCount } from '../lib/format.ts'
import styles from './kappa.module.css'

type Agreement = { value: number; low: number | null; high: number | null }

/** Shows a chance-corrected agreement, such as kappa or alpha: 0 is chance, 1 is perfect. */
export const Kappa = ({ of, n }: { of: Agreement | null; n: number }) =>
  of ? (
    <span className={styles.kappa}>
      <strong>{of.value.toFixed(2)}</strong>
      {of.low !== null && of.high !== null && ` · ${of.low.toFixed(2)}–${of.high.toFixed(2)}`} · n = {formatCount(n)}
    </span>
  ) : (
    <span className={styles.none}>–</span>
  )
