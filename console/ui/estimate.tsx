import { formatCount, formatPercent, formatPoints } from '../lib/format.ts'
import styles from './estimate.module.css'

type EstimateProps = {
  rate: number | null
  low?: number | null | undefined
  high?: number | null | undefined
  n: number
}

/** Shows a rate with its interval and sample size. Rates are never shown without them. */
export const Estimate = ({ rate, low, high, n }: EstimateProps) => (
  <span className={styles.estimate}>
    <strong>{rate === null ? 'No rate yet' : formatPercent(rate)}</strong>
    {low != null && high != null && (
      <>
        {' · '}
        {formatPoints(low)}–{formatPoints(high)}%
      </>
    )}
    {' · '}n = {formatCount(n)}
  </span>
)
