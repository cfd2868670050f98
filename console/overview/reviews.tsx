import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../api/session.ts'
import { bucketsOptions, progressOptions } from '../buckets/queries.ts'
import { formatCount, plural } from '../lib/format.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Section } from '../ui/page.tsx'
import { Progress } from '../ui/progress.tsx'
import { FaultNote } from '../ui/states.tsx'
import styles from './overview.module.css'

const maxShown = 8

/** Shows buckets with reviews left, or with reviews completed today. */
export const Reviews = () => {
  const mayReview = useMay('member')
  const { data: buckets = [], error } = useQuery(bucketsOptions)
  const progress = useQueries({
    queries: buckets.slice(0, maxShown).map(({ id }) => progressOptions(id)),
    combine: (answers) => (answers.some(({ isPending }) => isPending) ? [] : answers.map(({ data }) => data)),
  })
  const rows = buckets.flatMap((bucket, at) => {
    const state = progress[at]
    if (!state) return []
    const { reviews, conversations } = state
    const left = reviews.waiting + reviews.claimed
    const isAlive = left > 0 || reviews.completedToday > 0 || conversations.adjudication > 0
    return isAlive ? [{ bucket, reviews, left, adjudication: conversations.adjudication }] : []
  })
  if (error) return <FaultNote error={error} />
  if (rows.length === 0) return null
  return (
    <Section title="Reviews">
      <ul className={styles.list}>
        {rows.map(({ bucket: { id, name }, reviews, left, adjudication }) => (
          <li key={id}>
            <div className={`${styles.grow} ${styles.review}`}>
              <Link to="/buckets/$id" params={{ id }}>
                {name}
              </Link>
              <Progress label={`Reviews of ${name}`} done={reviews.completed} total={reviews.completed + left} />
            </div>
            <span className={styles.soft}>
              {formatCount(reviews.completedToday)} completed today, {formatCount(left)} left
              {adjudication > 0 && `, ${plural(adjudication, 'disagreement')}`}
            </span>
            {mayReview && left > 0 && (
              <ButtonLink small to="/review/$bucketId" params={{ bucketId: id }}>
                Review
              </ButtonLink>
            )}
          </li>
        ))}
      </ul>
      {buckets.length > maxShown && (
        <p className={styles.rest}>
          <Link to="/buckets">All buckets</Link>
        </p>
      )}
    </Section>
  )
}
