import type { Ref } from 'react'
import { Area, Field } from '../ui/controls.tsx'
import { Key } from '../ui/keys.tsx'
import card from './card.module.css'
import styles from './overall-rating.module.css'

type OverallRatingProps = {
  focused: boolean
  rating: number | null
  notes: string
  noteRef: Ref<HTMLTextAreaElement>
  onFocus: () => void
  onRating: (rating: number | null) => void
  onNotes: (notes: string) => void
  onLeaveNote: () => void
}

/** Shows the rating and notes on the whole conversation. Both are optional. */
export const OverallRating = ({ focused, rating, notes, noteRef, ...on }: OverallRatingProps) => {
  if (!focused) {
    return (
      <li>
        <button type="button" className={card.folded} onClick={on.onFocus}>
          <span>Overall rating</span>
          <span className={card.open}>
            {rating !== null ? `${rating} of 5` : notes.trim() !== '' ? 'with notes' : 'optional'}
          </span>
        </button>
      </li>
    )
  }
  return (
    <li className={card.card} aria-current="step">
      <h2>Overall rating</h2>
      <fieldset className={`${card.choices} ${styles.ratings}`}>
        <legend>Rating</legend>
        {[1, 2, 3, 4, 5].map((value) => (
          <button
            key={value}
            type="button"
            className={card.choice}
            aria-label={`${value} of 5`}
            aria-pressed={rating === value}
            onClick={() => on.onRating(rating === value ? null : value)}
          >
            <Key>{value}</Key>
          </button>
        ))}
      </fieldset>
      <p className={styles.ends}>
        <span>Poor</span>
        <span>Excellent</span>
      </p>
      <Field label="Notes">
        {(ids) => (
          <Area
            {...ids}
            ref={noteRef}
            rows={4}
            maxLength={10_000}
            value={notes}
            placeholder="Press n to write, esc to leave"
            onChange={({ target }) => on.onNotes(target.value)}
            onKeyDown={(event) => event.key === 'Escape' && on.onLeaveNote()}
          />
        )}
      </Field>
    </li>
  )
}
