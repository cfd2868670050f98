import type { ReactNode } from 'react'
import styles from './badge.module.css'

export type Tone = 'affected' | 'clear' | 'unscored' | 'failed' | 'accent' | 'plain'

/** Shows a word with a mark. Marks differ in shape as well as color. */
export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`${styles.badge} ${styles[tone]}`}>
    <span className={styles.mark} aria-hidden="true" />
    {children}
  </span>
)

type Outcome = { status: string; result: string | null }

/** Returns the label of a monitor's result. */
export const outcomeOf = ({ status, result }: Outcome): { tone: Tone; word: string } => {
  if (status === 'failed') return { tone: 'failed', word: 'Failed' }
  if (status === 'unscored' || result === null) return { tone: 'unscored', word: 'Unscored' }
  return result === 'affected' ? { tone: 'affected', word: 'Affected' } : { tone: 'clear', word: 'Not affected' }
}

export const OutcomeBadge = (outcome: Outcome) => {
  const { tone, word } = outcomeOf(outcome)
  return <Badge tone={tone}>{word}</Badge>
}

/** Shows a small number next to a label. */
export const Count = ({ children }: { children: ReactNode }) => <span className={styles.count}>{children}</span>
