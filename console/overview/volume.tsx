import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { formatCount, plural } from '../lib/format.ts'
import { DayBars } from '../ui/charts/day-bars.tsx'
import styles from './overview.module.css'

/** Compares yesterday with the previous days. */
const Words = ({ counts, yesterday }: { counts: number[]; yesterday: { since: string; until: string } }) => {
  const count = counts.at(-2) ?? 0
  const before = counts.slice(0, -2).toSorted((a, b) => a - b)
  const usual = before[Math.floor(before.length / 2)] ?? 0
  return (
    <p className={styles.words}>
      <Link to="/conversations" search={{ filter: yesterday }}>
        {plural(count, 'conversation')}
      </Link>{' '}
      yesterday. Previous {before.length} days: median {formatCount(usual)}, range {formatCount(before[0] ?? 0)}–
      {formatCount(before.at(-1) ?? 0)}.
    </p>
  )
}

type Day = { start: string; end: string; count: number }

/** This is memoized, because every response that the overview waits for renders it again. */
export const Volume = memo(({ days }: { days: Day[] }) => {
  const yesterday = days.at(-2)
  return (
    <section aria-label="Volume">
      {yesterday && (
        <Words counts={days.map(({ count }) => count)} yesterday={{ since: yesterday.start, until: yesterday.end }} />
      )}
      <DayBars
        title="Conversations by day"
        of={['plain']}
        height={150}
        days={days.map(({ start, end, count }) => ({
          start,
          end,
          counts: { plain: count },
          link: { to: '/conversations', search: { filter: { since: start, until: end } } },
        }))}
      />
    </section>
  )
})
