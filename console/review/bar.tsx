import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useMe } from '../api/session.ts'
import { type Bucket, progressOptions } from '../buckets/queries.ts'
import { formatCount } from '../lib/format.ts'
import styles from './room.module.css'

const minutesLeft = (until: string) => Math.max(0, Math.round((new Date(until).getTime() - Date.now()) / 60_000))

/** Shows how long the conversation is reserved for the reviewer. */
const Lease = ({ until }: { until: string }) => {
  const [minutes, setMinutes] = useState(() => minutesLeft(until))
  useEffect(() => {
    setMinutes(minutesLeft(until))
    const timer = setInterval(() => setMinutes(minutesLeft(until)), 10_000)
    return () => clearInterval(timer)
  }, [until])
  return (
    <span
      className={minutes <= 5 ? styles.ending : undefined}
      title="Reserved for you for 30 minutes. The timer restarts while you work."
    >
      {minutes === 0 ? 'Lease expired' : `Reserved for ${minutes} m`}
    </span>
  )
}

type BarProps = { bucket: Bucket; leaseEnds: string | null; said: string }

/** Shows progress, and a button to leave. */
export const Bar = ({ bucket, leaseEnds, said }: BarProps) => {
  const { member } = useMe()
  const { data } = useQuery(progressOptions(bucket.id))
  const own = data?.reviewers.find(({ reviewerUserId }) => reviewerUserId === member.userId)
  return (
    <header className={styles.bar}>
      <Link to="/review" className={styles.leave} aria-label="Leave review">
        <X aria-hidden="true" /> Leave
      </Link>
      <h1>{bucket.name}</h1>
      <p className={styles.said} role="status">
        {said}
      </p>
      <p className={styles.counts}>
        {data && (
          <>
            <span>
              <strong>{formatCount(own?.completedToday ?? 0)}</strong> completed today
            </span>
            <span>
              <strong>{formatCount(data.reviews.waiting)}</strong> left
            </span>
          </>
        )}
        {leaseEnds && <Lease until={leaseEnds} />}
      </p>
    </header>
  )
}
