import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import type { Schemas } from '../api/schema.d.ts'
import { formatCount, plural } from '../lib/format.ts'
import { Section } from '../ui/page.tsx'
import { Await } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import styles from './progress.module.css'
import { type Bucket, progressOptions } from './queries.ts'

type Reviewer = Schemas['BucketProgress']['reviewers'][number]

const Figure = ({ count, name, to }: { count: number; name: string; to: LinkProps }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      <Link {...to}>{formatCount(count)}</Link>
    </dd>
  </div>
)

const ReviewerTable = ({ reviewers }: { reviewers: Reviewer[] }) => {
  const { nameOf } = useNames('members')
  const count = (
    name: Exclude<keyof Reviewer, 'reviewerUserId'>,
    label: string,
    from?: 480 | 720,
  ): Column<Reviewer> => ({
    key: name,
    label,
    numeric: true,
    cell: (row) => formatCount(row[name]),
    ...(from && { from }),
  })
  return (
    <Table
      label="Reviewers"
      idOf={({ reviewerUserId }) => reviewerUserId}
      rows={reviewers}
      columns={[
        { key: 'person', label: 'Reviewer', cell: ({ reviewerUserId }) => nameOf(reviewerUserId) },
        count('completedToday', 'Today'),
        count('completed', 'Completed'),
        count('claimed', 'In review', 480),
        count('skipped', 'Skipped', 480),
        count('adjudicated', 'Adjudicated', 720),
      ]}
    />
  )
}

/** Shows the review progress of the bucket and of each reviewer. Each number links to its conversations. */
export const ProgressPart = ({ bucket }: { bucket: Bucket }) => {
  const { id } = bucket
  const progress = useQuery(progressOptions(id))
  const inState = (status: 'waiting' | 'adjudication' | 'completed'): LinkProps => ({
    to: '/buckets/$id',
    params: { id },
    search: { status },
    resetScroll: false,
  })
  return (
    <Section title="Progress">
      <Await query={progress} lines={4}>
        {({ conversations: { total, waiting, adjudication, completed }, reviews, reviewers }) => (
          <div className={styles.progress}>
            <dl className={styles.figures}>
              <Figure
                count={total}
                name="in the bucket"
                to={{ to: '/conversations', search: { filter: { bucketId: id } } }}
              />
              <Figure count={waiting} name="waiting" to={inState('waiting')} />
              <Figure count={adjudication} name="with disagreements" to={inState('adjudication')} />
              <Figure count={completed} name="completed" to={inState('completed')} />
            </dl>
            {total > 0 && (
              <div className={styles.bar} aria-hidden="true">
                <span className={styles.completed} style={{ flexGrow: completed }} />
                <span className={styles.adjudication} style={{ flexGrow: adjudication }} />
                <span className={styles.waiting} style={{ flexGrow: waiting }} />
              </div>
            )}
            <p className={styles.soft}>
              {plural(reviews.completed, 'review')} completed, {formatCount(reviews.waiting)} waiting,{' '}
              {formatCount(reviews.claimed)} in review.
            </p>
            {reviewers.length > 0 && <ReviewerTable reviewers={reviewers} />}
          </div>
        )}
      </Await>
    </Section>
  )
}
