import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import type { Fault } from '../api/fault.ts'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import { type Bucket, bucketOptions } from '../buckets/queries.ts'
import { conversationOptions } from '../conversations/queries.ts'
import { Stage } from '../conversations/stage.tsx'
import type { Position } from '../conversations/use-position.ts'
import { formatDuration, sentenceCase } from '../lib/format.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { Bar } from './bar.tsx'
import { JudgmentForm } from './judgment-form.tsx'
import { isLost, type Review } from './queries.ts'
import styles from './room.module.css'
import { useLease } from './use-lease.ts'
import { useResults } from './use-results.ts'

const Whose = ({ id }: { id: string }) => {
  const { data } = useQuery(conversationOptions(id))
  const agents = useNames('agents')
  if (!data) return null
  const { agentId, customerId, channel, startedAt, durationSeconds } = data
  return (
    <p className={styles.whose}>
      <strong>
        {agents.nameOf(agentId)}
        {customerId && ` with ${customerId}`}
      </strong>
      <span>{sentenceCase(channel)}</span>
      <Time at={startedAt} />
      {durationSeconds !== null && <span>{formatDuration(durationSeconds)}</span>}
    </p>
  )
}

type AtWorkProps = {
  bucket: Bucket
  review: Review
  place: Position
  onPlace: (place: Position) => void
  onDone: (said: string) => void
  onLost: (fault: Fault) => void
}

const AtWork = ({ bucket, review, place, onPlace, onDone, onLost }: AtWorkProps) => {
  const { found } = useResults(bucket, review.conversationId)
  const { error } = useQuery(conversationOptions(review.conversationId))
  useEffect(() => {
    if (isLost(error)) onLost(error)
  }, [error, onLost])
  const judged = useMemo(
    () =>
      bucket.monitorIds.length === 0 ? found : found.filter(({ monitorId }) => bucket.monitorIds.includes(monitorId)),
    [found, bucket],
  )
  return (
    <Stage
      id={review.conversationId}
      results={judged}
      place={place}
      onPlace={onPlace}
      head={<Whose id={review.conversationId} />}
      asideLabel="Your review"
      aside={<JudgmentForm bucket={bucket} review={review} onDone={onDone} onLost={onLost} />}
    />
  )
}

const Nothing = ({ bucketId, done }: { bucketId: string; done: number }) => (
  <div className={styles.nothing}>
    <Empty
      title={done > 0 ? 'All done' : 'Nothing to review'}
      action={
        <span className={styles.ways}>
          <ButtonLink look="primary" to="/review">
            Back to reviews
          </ButtonLink>
          <ButtonLink to="/buckets/$id" params={{ id: bucketId }} search={{}}>
            View bucket
          </ButtonLink>
        </span>
      }
    >
      <p>You’ve reviewed or skipped every conversation here, or other reviewers have claimed the rest.</p>
    </Empty>
  </div>
)

const Inside = ({ bucket }: { bucket: Bucket }) => {
  const search = useSearch({ from: '/app/review/$bucketId' })
  const navigate = useNavigate({ from: '/review/$bucketId' })
  const { review, error, refetch, isPending, next, round, leaseEnds, lost, lose } = useLease(bucket.id, search.review)
  const [said, setSaid] = useState('')
  const id = review?.id
  useEffect(() => {
    if (review === undefined) return
    // A new review starts at the beginning.
    void navigate({
      search: (now) => (now.review === id ? now : id === undefined ? {} : { review: id }),
      replace: true,
    })
  }, [review, id, navigate])
  const { at, turn, review: open } = search
  const position = open === id ? { ...(at !== undefined && { at }), ...(turn !== undefined && { turn }) } : {}
  const onNext = (words: string) => {
    setSaid(words)
    next()
    void queryClient.invalidateQueries({ queryKey: ['buckets', bucket.id] })
    void queryClient.invalidateQueries({ queryKey: ['reviews'] })
    if (review) void queryClient.invalidateQueries({ queryKey: ['conversations', review.conversationId] })
  }
  return (
    <div className={styles.room}>
      <Bar bucket={bucket} leaseEnds={review ? leaseEnds : null} said={said} />
      <div className={styles.body}>
        {error && (
          <div className={styles.nothing}>
            <FaultNote error={error} retry={() => void refetch()} />
          </div>
        )}
        {isPending && (
          <div className={styles.nothing}>
            <Loading label="Claiming the next conversation" lines={10} />
          </div>
        )}
        {review === null && <Nothing bucketId={bucket.id} done={round} />}
        {review && lost && (
          <div className={styles.nothing}>
            <Empty
              title="This review is no longer yours"
              action={
                <Button look="primary" onClick={() => onNext('')}>
                  Claim next
                </Button>
              }
            >
              <p>{lost.message}</p>
            </Empty>
          </div>
        )}
        {review && !lost && (
          <AtWork
            key={review.id}
            bucket={bucket}
            review={review}
            place={position}
            onPlace={(where) => void navigate({ search: { review: review.id, ...where }, replace: true })}
            onDone={onNext}
            onLost={lose}
          />
        )}
      </div>
    </div>
  )
}

/** Shows a bucket's conversations one after the other, without navigation. */
export const Room = () => {
  const { bucketId } = useParams({ from: '/app/review/$bucketId' })
  const bucket = useQuery(bucketOptions(bucketId))
  const name = bucket.data?.name
  useEffect(() => {
    document.title = `${name ?? 'Review'} · Earshot`
  }, [name])
  if (bucket.data) return <Inside key={bucketId} bucket={bucket.data} />
  return (
    <div className={styles.nothing}>
      {bucket.error ? (
        <>
          <FaultNote error={bucket.error} retry={() => void bucket.refetch()} />
          <p>
            <ButtonLink to="/review">Back to reviews</ButtonLink>
          </p>
        </>
      ) : (
        <Loading lines={10} />
      )}
    </div>
  )
}
