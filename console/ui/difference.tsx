import { useMemo } from 'react'
import { differenceOf } from '../lib/difference.ts'
import styles from './difference.module.css'

type DifferenceProps = {
  before: string
  after: string
  /** Says what is compared. */
  label: string
  mono?: boolean
}

/** What changed from one text to another, word by word, in one text. */
export const Difference = ({ before, after, label, mono = false }: DifferenceProps) => {
  const pieces = useMemo(() => differenceOf(before, after), [before, after])
  return (
    <section
      className={mono ? `${styles.text} ${styles.mono}` : styles.text}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      {pieces.map(({ kind, text }, index) => {
        const Kind = kind === 'removed' ? 'del' : kind === 'added' ? 'ins' : 'span'
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece has no name but its place
        return <Kind key={index}>{text}</Kind>
      })}
    </section>
  )
}
