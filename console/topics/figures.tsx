// Shows the figures of topics, for the list and for the page of a topic.

import { Link } from '@tanstack/react-router'
import { formatNumber, signedPoints } from '../lib/format.ts'
import { Sparkline } from '../ui/charts/sparkline.tsx'
import { Estimate } from '../ui/estimate.tsx'
import { nameOf, type TopicFigures } from './topic-queries.ts'
import styles from './topics.module.css'

/** The smallest change to mark, in standard errors. Smaller changes are often due to chance. */
const unusual = 3

export const Share = ({ topic: { share }, of }: { topic: Pick<TopicFigures, 'share'>; of: number }) => (
  <Estimate rate={share?.value ?? null} low={share?.low} high={share?.high} n={of} />
)

/** Shows the change in the share, in percentage points and in standard errors. */
export const Change = ({ topic: { share, previousShare, surprise } }: { topic: TopicFigures }) => {
  if (share === null || previousShare === null || surprise === null) {
    return <span className={styles.soft}>No earlier conversations</span>
  }
  const points = signedPoints(share.value - previousShare)
  return (
    <span className={styles.change}>
      <strong>{points} points</strong>
      <span className={styles.soft}>
        {formatNumber(Number(Math.abs(surprise).toFixed(1)))} SE{Math.abs(surprise) >= unusual && ', unusual'}
      </span>
    </span>
  )
}

export const Trend = ({ topic }: { topic: TopicFigures }) => (
  <Sparkline
    label={`Conversations about ${nameOf(topic)} by day`}
    tone="accent"
    points={topic.trend.map((value) => ({ value }))}
  />
)

export const Covering = ({ topic: { monitors } }: { topic: TopicFigures }) =>
  monitors.length === 0 ? (
    <span className={styles.soft}>None</span>
  ) : (
    <ul className={styles.monitors}>
      {monitors.map(({ id, name }) => (
        <li key={id}>
          <Link to="/monitors/$id" params={{ id }}>
            {name}
          </Link>
        </li>
      ))}
    </ul>
  )
