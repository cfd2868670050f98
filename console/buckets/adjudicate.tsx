import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import { useMay, useMe } from '../api/session.ts'
import { resultLabels } from '../review/answers.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Choice } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, TextArea } from '../ui/form.tsx'
import { Await } from '../ui/states.tsx'
import styles from './adjudicate.module.css'
import { type Bucket, bucketReviewsOptions, type Review } from './queries.ts'

type Judgment = Review['judgments'][number]
type Judged = Judgment['correctResult']
type GivenJudgment = Judgment & { reviewerUserId: string }
type Question = { monitorId: string; monitorVersion: number; given: GivenJudgment[] }

const options = (['affected', 'not_affected', 'unsure'] as const).map((value) => ({
  value,
  label: resultLabels[value],
}))

/** Returns the questions on which reviews disagree. */
const differencesOf = (reviews: Review[]): Question[] => {
  const given = reviews
    .filter(({ adjudicates }) => !adjudicates)
    .flatMap(({ judgments, reviewerUserId }) => judgments.map((judgment) => ({ ...judgment, reviewerUserId })))
  return [...Map.groupBy(given, ({ monitorId, monitorVersion }) => `${monitorId} ${monitorVersion}`).values()].flatMap(
    (group) => {
      const [first] = group
      const differ = group.some(({ correctResult }) => correctResult !== first?.correctResult)
      return first && differ ? [{ monitorId: first.monitorId, monitorVersion: first.monitorVersion, given: group }] : []
    },
  )
}

type Values = { notes: string }

const Questions = ({ reviews, conversationId, bucket, onClose }: AdjudicateProps & { reviews: Review[] }) => {
  const questions = differencesOf(reviews)
  const monitors = useNames('monitors')
  const people = useNames('members')
  const form = useForm<Values>({ defaultValues: { notes: '' } })
  const [chosen, setChosen] = useState<Record<string, Judged>>({})
  const keyOf = ({ monitorId, monitorVersion }: Question) => `${monitorId} ${monitorVersion}`
  const open = questions.filter((question) => chosen[keyOf(question)] === undefined).length
  const [first] = reviews
  const send = async ({ notes }: Values) => {
    await answer(
      api.POST('/v1/reviews/{id}/adjudicate', {
        params: { path: { id: first?.id ?? '' } },
        body: {
          judgments: questions.flatMap((question) => {
            const { monitorId, monitorVersion } = question
            const correctResult = chosen[keyOf(question)]
            return correctResult ? [{ monitorId, monitorVersion, correctResult }] : []
          }),
          ...(notes.trim() !== '' && { notes }),
        },
      }),
    )
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ['buckets', bucket.id] }),
      queryClient.invalidateQueries({ queryKey: ['conversations', conversationId] }),
      queryClient.invalidateQueries({ queryKey: ['monitors'] }),
    ])
    announce('Disagreement adjudicated')
    onClose()
  }
  if (questions.length === 0) return <p>No disagreements left.</p>
  return (
    <Form
      form={form}
      send={send}
      submit={open > 0 ? `Adjudicate (${open} open)` : 'Adjudicate'}
      beside={<Button onClick={onClose}>Cancel</Button>}
    >
      {questions.map((question) => (
        <div key={keyOf(question)} className={styles.question}>
          <h3>{monitors.nameOf(question.monitorId)}</h3>
          <ul className={styles.said}>
            {question.given.map(({ reviewerUserId, correctResult, comment }) => (
              <li key={reviewerUserId}>
                <span>{people.nameOf(reviewerUserId)}</span>{' '}
                <strong>{resultLabels[correctResult].toLowerCase()}</strong>
                {comment && <q>{comment}</q>}
              </li>
            ))}
          </ul>
          <Choice
            label={`Correct result for ${monitors.nameOf(question.monitorId)}`}
            hideLabel
            value={chosen[keyOf(question)] ?? ''}
            options={options}
            onChange={(value) => {
              const judged = options.find((option) => option.value === value)?.value
              if (judged) setChosen((before) => ({ ...before, [keyOf(question)]: judged }))
            }}
          />
        </div>
      ))}
      {reviews.some(({ notes }) => notes) && (
        <ul className={styles.said}>
          {reviews.map(
            ({ id, notes, reviewerUserId }) =>
              notes && (
                <li key={id}>
                  <span>{people.nameOf(reviewerUserId)}:</span> <q>{notes}</q>
                </li>
              ),
          )}
        </ul>
      )}
      <TextArea name="notes" label="Notes" rows={2} maxLength={10_000} />
    </Form>
  )
}

type AdjudicateProps = { bucket: Bucket; conversationId: string; onClose: () => void }

/** Shows the form for adjudicating a disagreement. The adjudicator hasn't reviewed the conversation, or is an admin. */
export const Adjudicate = (props: AdjudicateProps) => {
  const { bucket, conversationId, onClose } = props
  const reviews = useQuery(bucketReviewsOptions(bucket.id, conversationId))
  const { member } = useMe()
  const isAdmin = useMay('admin')
  return (
    <Dialog title="Adjudicate disagreement" open wide holds onClose={onClose}>
      <p>
        Your answer replaces the reviewers’ answers.{' '}
        <Link to="/conversations/$id" params={{ id: conversationId }} search={{}}>
          Open conversation
        </Link>
      </p>
      <Await query={reviews}>
        {(found) =>
          !isAdmin && found.some(({ reviewerUserId }) => reviewerUserId === member.userId) ? (
            <p>You reviewed this conversation yourself. Another reviewer or an admin has to adjudicate.</p>
          ) : (
            <Questions {...props} reviews={found} />
          )
        }
      </Await>
    </Dialog>
  )
}
