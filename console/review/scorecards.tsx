// Shows the reviewer's total for each scorecard, which is computed like the monitors' results.

import { useQuery } from '@tanstack/react-query'
import { useNames } from '../api/names.ts'
import { formatNumber } from '../lib/format.ts'
import { FaultNote } from '../ui/states.tsx'
import styles from './judgment-form.module.css'
import { reviewScorecardsOptions } from './queries.ts'

export const ReviewTotals = ({ reviewId }: { reviewId: string }) => {
  const { nameOf } = useNames('monitors')
  const { data, error, refetch } = useQuery(reviewScorecardsOptions(reviewId))
  if (error) return <FaultNote error={error} retry={() => void refetch()} />
  return (
    <ul className={styles.totals} aria-label="Your scorecards">
      {data?.map(({ monitorId, score, band }) => (
        <li key={monitorId}>
          {nameOf(monitorId)}:{' '}
          {score === null ? (
            'no total until each item is judged'
          ) : (
            <strong>
              {formatNumber(score)} of 100{band !== null && `, ${band}`}
            </strong>
          )}
        </li>
      ))}
    </ul>
  )
}
