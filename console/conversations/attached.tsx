import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { asFault } from '../api/fault.ts'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { useMay, useMe } from '../api/session.ts'
import { plural, sentenceCase } from '../lib/format.ts'
import { resultLabels } from '../review/answers.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Section } from '../ui/page.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './aside.module.css'
import { AttachFinding } from './attach-finding.tsx'
import { findingsOfOptions, type Result, reviewsOfOptions } from './queries.ts'

const OwnReview = lazy(async () => (await import('./own-review.tsx')).OwnReview)
const FileFinding = lazy(async () => (await import('./file-finding.tsx')).FileFinding)

type Conversation = Schemas['Conversation']
type Review = Schemas['Review']

/** Shows a rejection that isn't an error: other reviews are hidden until the member has submitted theirs. */
export const Refused = ({ error, retry }: { error: unknown; retry: () => void }) => {
  const { status, message } = asFault(error)
  return status === 403 ? <p className={styles.none}>{message}</p> : <FaultNote error={error} retry={retry} />
}

export const FindingsPart = ({ conversation }: { conversation: Conversation }) => {
  const { rows, error, retry, more, isFetchingMore } = useList(findingsOfOptions(conversation.id))
  const mayWrite = useMay('member')
  const [open, setOpen] = useState<'file' | 'attach'>()
  const close = () => setOpen(undefined)
  return (
    <Section
      title="Findings"
      actions={
        mayWrite && (
          <>
            <Button small look="quiet" onClick={() => setOpen('attach')}>
              Attach to finding
            </Button>
            <Button small onClick={() => setOpen('file')}>
              Create finding
            </Button>
          </>
        )
      }
    >
      {error && <Refused error={error} retry={retry} />}
      {!error && rows === undefined && <Loading lines={1} />}
      {rows?.length === 0 && <p className={styles.none}>No findings.</p>}
      <ul className={styles.list}>
        {rows?.map(({ id, title, status, priority }) => (
          <li key={id}>
            <div className={styles.line}>
              <Link to="/findings/$id" params={{ id }}>
                {title}
              </Link>
              <span className={styles.small}>
                {sentenceCase(status)}
                {priority !== 'none' && `, ${priority}`}
              </span>
            </div>
          </li>
        ))}
      </ul>
      {more && (
        <Button small busy={isFetchingMore} onClick={more}>
          Show more
        </Button>
      )}
      {open === 'file' && <FileFinding conversation={conversation} onClose={close} />}
      {open === 'attach' && (
        <AttachFinding conversationId={conversation.id} attached={rows?.map(({ id }) => id) ?? []} onClose={close} />
      )}
    </Section>
  )
}

const words: Record<Review['status'], string> = {
  pending: 'started',
  in_progress: 'in review',
  completed: 'reviewed',
  skipped: 'skipped',
}

const ReviewLine = ({ review, results }: { review: Review; results: Result[] }) => {
  const people = useNames('members')
  const monitors = useNames('monitors')
  const { reviewerUserId, bucketId, status, rating, notes, judgments, adjudicates, completedAt, updatedAt } = review
  const isAssigned = status === 'pending' && bucketId === null
  return (
    <li>
      <div className={styles.line}>
        <strong>{people.nameOf(reviewerUserId)}</strong>
        <span className={styles.small}>
          {isAssigned ? 'assigned' : adjudicates ? 'adjudicated' : words[status]}
          {rating !== null && `, ${rating} of 5`}
        </span>
        <span className={styles.small}>
          <Time at={completedAt ?? updatedAt} ago />
        </span>
      </div>
      {judgments.map(({ monitorId, monitorVersion, correctResult, comment }) => {
        const found = results.find(
          (result) => result.monitorId === monitorId && result.monitorVersion === monitorVersion,
        )?.result
        const differs = found != null && correctResult !== 'unsure' && found !== correctResult
        return (
          <div key={`${monitorId} ${monitorVersion}`} className={styles.line}>
            <span className={styles.value}>
              {monitors.nameOf(monitorId)}: {resultLabels[correctResult].toLowerCase()}
              {comment && ` – ${comment}`}
            </span>
            {differs && <Badge tone="accent">Disagrees</Badge>}
          </div>
        )
      })}
      {notes && <p className={styles.reasoning}>{notes}</p>}
    </li>
  )
}

export const ReviewsPart = ({ id, results }: { id: string; results: Result[] }) => {
  const { rows, error, retry } = useList(reviewsOfOptions(id))
  const { member } = useMe()
  const done = rows?.filter(({ status }) => status === 'completed').length ?? 0
  const own = rows?.find(
    ({ reviewerUserId, bucketId, status }) =>
      reviewerUserId === member.userId && bucketId === null && (status === 'pending' || status === 'in_progress'),
  )
  return (
    <Section title="Reviews" context={done > 0 ? plural(done, 'review') : undefined}>
      {error && <Refused error={error} retry={retry} />}
      {rows?.length === 0 && <p className={styles.none}>No reviews.</p>}
      {own && <OwnReview key={own.id} review={own} results={results} />}
      <ul className={styles.list}>
        {rows?.map((review) => (
          <ReviewLine key={review.id} review={review} results={results} />
        ))}
      </ul>
    </Section>
  )
}
