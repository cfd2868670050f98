import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { resultLabels } from '../review/answers.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Area, Field, Select } from '../ui/controls.tsx'
import { FaultNote } from '../ui/states.tsx'
import styles from './own-review.module.css'
import type { Result } from './queries.ts'

type Review = Schemas['Review']
type Judged = Review['judgments'][number]['correctResult']

const notJudged = { value: '', label: 'Not judged' }
const answers = Object.entries(resultLabels).map(([value, label]) => ({ value, label }))
const ratings = [
  { value: '', label: 'Not rated' },
  ...[1, 2, 3, 4, 5].map((value) => ({ value: String(value), label: `${value} of 5` })),
]

/** Shows a review of this conversation that was assigned to the member outside of buckets. */
export const OwnReview = ({ review, results }: { review: Review; results: Result[] }) => {
  const monitors = useNames('monitors')
  const [rating, setRating] = useState(review.rating === null ? '' : String(review.rating))
  const [notes, setNotes] = useState(review.notes ?? '')
  const [judged, setJudged] = useState<Record<string, Judged>>(() =>
    Object.fromEntries(review.judgments.map(({ monitorId, correctResult }) => [monitorId, correctResult])),
  )
  const monitorIds = [...new Set(results.map(({ monitorId }) => monitorId))]
  const end = useMutation({
    mutationFn: async (status: 'completed' | 'skipped') => {
      const content = {
        rating: rating === '' ? null : Number(rating),
        notes: notes.trim() === '' ? null : notes,
        judgments: Object.entries(judged).map(([monitorId, correctResult]) => ({
          monitorId,
          correctResult,
          comment: review.judgments.find((each) => each.monitorId === monitorId)?.comment ?? null,
        })),
      }
      const body = { status, ...(status === 'completed' && content) }
      await answer(api.PATCH('/v1/reviews/{id}', { params: { path: { id: review.id } }, body }))
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: ['conversations', review.conversationId] }),
        queryClient.invalidateQueries({ queryKey: ['reviews'] }),
      ])
      announce(status === 'completed' ? 'Review completed' : 'Review skipped')
    },
  })
  const judge = (monitorId: string, value: string) =>
    setJudged(({ [monitorId]: _, ...others }) => (value === '' ? others : { ...others, [monitorId]: value as Judged }))
  return (
    <form
      className={styles.form}
      aria-label="Your review"
      onSubmit={(event) => {
        event.preventDefault()
        end.mutate('completed')
      }}
    >
      <p>You were asked to review this conversation.</p>
      {monitorIds.map((id) => (
        <Field key={id} label={monitors.nameOf(id)}>
          {(ids) => (
            <Select
              {...ids}
              value={judged[id] ?? ''}
              options={[notJudged, ...answers]}
              onChange={({ target }) => judge(id, target.value)}
            />
          )}
        </Field>
      ))}
      <Field label="Overall rating">
        {(ids) => (
          <Select {...ids} value={rating} options={ratings} onChange={({ target }) => setRating(target.value)} />
        )}
      </Field>
      <Field label="Notes">
        {(ids) => (
          <Area {...ids} rows={3} maxLength={10_000} value={notes} onChange={({ target }) => setNotes(target.value)} />
        )}
      </Field>
      {end.error && <FaultNote error={end.error} />}
      <div className={styles.ways}>
        <Button look="quiet" onClick={() => end.mutate('skipped')}>
          Skip
        </Button>
        <Button type="submit" look="primary" busy={end.isPending}>
          Complete review
        </Button>
      </div>
    </form>
  )
}
