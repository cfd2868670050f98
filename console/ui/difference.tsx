import { useMemo } from 'react'
import { differenceOf } from '../lib/difference.ts'
import styles from './difference.module.css'

type DifferenceProps = {
  before: string
  after: string
  /** Names the compared texts. */
  label: string
  mono?: boolean
}

/** Shows word by word how one text differs from another. */
export const Difference = ({ before, after, label, mono = false }: DifferenceProps) => {
  const pieces = useMemo(() => differenceOf(before, after), [before, after])
  return (
    <section
      className={mono ? `${styles.text} ${styles.mono}` : styles.text}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
      tabIndex={0}
    >
      {pieces.map(({ kind, text }, index) => {
        const Kind = kind === 'removed' ? 'del' : kind === 'added' ? 'ins' : 'span'
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces only have their position as a key
        return <Kind key={index}>{text}</Kind>
      })}
    </section>
  )
}
