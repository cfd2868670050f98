import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { useMay, useMe } from '../api/session.ts'
import { type Bucket, bucketsOptions, progressOptions } from '../buckets/queries.ts'
import { describeType } from '../buckets/words.ts'
import { formatCount, sentenceCase } from '../lib/format.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Await, Empty, FaultNote, Loading } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { resultLabels } from './answers.ts'
import { myReviewsOptions, type Review as Reviewed } from './queries.ts'
import styles from './review.module.css'

const Work = ({ bucket }: { bucket: Bucket }) => {
  const { member } = useMe()
  const { data } = useQuery(progressOptions(bucket.id))
  const own = data?.reviewers.find(({ reviewerUserId }) => reviewerUserId === member.userId)
  const left = data?.reviews.waiting
  return (
    <li className={styles.bucket}>
      <div className={styles.name}>
        <h3>
          <Link to="/buckets/$id" params={{ id: bucket.id }} search={{}}>
            {bucket.name}
          </Link>
        </h3>
        <p>
          {describeType(bucket)}
          {bucket.blind && ' Blind: results and other reviews appear after you answer.'}
        </p>
      </div>
      <dl className={styles.counts}>
        <div>
          <dt>left</dt>
          <dd>
            {left === undefined ? (
              '–'
            ) : (
              <Link to="/buckets/$id" params={{ id: bucket.id }} search={{ status: 'waiting' }}>
                {formatCount(left)}
              </Link>
            )}
          </dd>
        </div>
        <div>
          <dt>done by you today</dt>
          <dd>{data ? formatCount(own?.completedToday ?? 0) : '–'}</dd>
        </div>
        <div>
          <dt>done by you</dt>
          <dd>{data ? formatCount(own?.completed ?? 0) : '–'}</dd>
        </div>
      </dl>
      <div className={styles.way}>
        {left === 0 && !own?.claimed ? (
          <span className={styles.done}>Nothing left</span>
        ) : (
          <ButtonLink look="primary" to="/review/$bucketId" params={{ bucketId: bucket.id }} search={{}}>
            {own?.claimed ? 'Continue' : 'Start'}
            <span className={styles.hidden}> reviewing {bucket.name}</span>
          </ButtonLink>
        )}
      </div>
    </li>
  )
}

const words = { pending: 'started', in_progress: 'in review', completed: 'completed', skipped: 'skipped' }

const MyReviews = () => {
  const { member } = useMe()
  const list = useList(myReviewsOptions(member.userId))
  const buckets = useNames('buckets')
  const monitors = useNames('monitors')
  const columns: Column<Reviewed>[] = [
    {
      key: 'when',
      label: 'Date',
      from: 480,
      cell: ({ completedAt, updatedAt }) => <Time at={completedAt ?? updatedAt} ago />,
    },
    {
      key: 'conversation',
      label: 'Conversation',
      cell: ({ conversationId }) => (
        <Link to="/conversations/$id" params={{ id: conversationId }} search={{}}>
          {conversationId.slice(0, 8)}…{conversationId.slice(-4)}
        </Link>
      ),
    },
    {
      key: 'bucket',
      label: 'Bucket',
      from: 720 as const,
      cell: ({ bucketId }) =>
        bucketId && (
          <Link to="/buckets/$id" params={{ id: bucketId }} search={{}}>
            {buckets.nameOf(bucketId)}
          </Link>
        ),
    },
    {
      key: 'said',
      label: 'Your judgments',
      from: 480 as const,
      cell: ({ judgments, rating }) =>
        [
          ...judgments.map(
            ({ monitorId, correctResult }) =>
              `${monitors.nameOf(monitorId)}: ${resultLabels[correctResult].toLowerCase()}`,
          ),
          ...(rating === null ? [] : [`${rating} of 5`]),
        ].join(', '),
    },
    {
      key: 'state',
      label: 'Status',
      cell: ({ id, status, bucketId, conversationId, adjudicates }) =>
        (status === 'in_progress' || status === 'pending') && bucketId ? (
          <Link to="/review/$bucketId" params={{ bucketId }} search={{ review: id }}>
            {sentenceCase(words[status])}, continue
          </Link>
        ) : status === 'pending' ? (
          <Link to="/conversations/$id" params={{ id: conversationId }} search={{}}>
            Assigned, review
          </Link>
        ) : (
          sentenceCase(adjudicates ? 'decided' : words[status])
        ),
    },
  ]
  return (
    <Section title="Your reviews">
      {list.error && <FaultNote error={list.error} retry={list.retry} />}
      {list.isPending && <Loading />}
      {list.rows?.length === 0 && <p className={styles.none}>No reviews yet.</p>}
      {list.rows && list.rows.length > 0 && (
        <Table
          label="Your reviews"
          columns={columns}
          rows={list.rows}
          idOf={({ id }) => id}
          more={list.more}
          isFetchingMore={list.isFetchingMore}
        />
      )}
    </Section>
  )
}

/** Lists the buckets the member can review and their reviews. */
export const Review = () => {
  const { member } = useMe()
  const mayReview = useMay('member')
  const buckets = useQuery(bucketsOptions)
  return (
    <Page title="Review" context="Reviews measure how accurate your monitors are">
      {!mayReview && (
        <p className={styles.none}>Viewers can’t review conversations. Ask an admin to make you a member.</p>
      )}
      {mayReview && (
        <Await query={buckets}>
          {(all) => {
            const mine = all.filter(
              ({ reviewerUserIds }) => reviewerUserIds.length === 0 || reviewerUserIds.includes(member.userId),
            )
            return mine.length === 0 ? (
              <Empty
                title="No buckets to review"
                action={
                  <ButtonLink to="/buckets" search={{ make: true }}>
                    Create bucket
                  </ButtonLink>
                }
              >
                <p>
                  A bucket is a set of conversations to review: a random sample, all that match a filter, or the ones
                  you add.
                </p>
              </Empty>
            ) : (
              <ul className={styles.buckets} aria-label="Buckets to review">
                {mine.map((bucket) => (
                  <Work key={bucket.id} bucket={bucket} />
                ))}
              </ul>
            )
          }}
        </Await>
      )}
      {mayReview && <MyReviews />}
    </Page>
  )
}
