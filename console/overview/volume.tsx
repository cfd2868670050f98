import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { countOptions } from '../filters/count.ts'
import { formatCount, plural } from '../lib/format.ts'
import { DayBars } from '../ui/charts/day-bars.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import styles from './overview.module.css'
import { lastDays } from './queries.ts'

const seenDays = 15

/** Yesterday beside the days before it, which say what is usual. */
const Words = ({ counts, yesterday }: { counts: number[]; yesterday: { since: string; until: string } }) => {
  const count = counts.at(-2) ?? 0
  const before = counts.slice(0, -2).toSorted((a, b) => a - b)
  const usual = before[Math.floor(before.length / 2)] ?? 0
  return (
    <p className={styles.words}>
      <Link to="/conversations" search={{ filter: yesterday }}>
        {plural(count, 'conversation')}
      </Link>{' '}
      yesterday; usually {formatCount(usual)}, and from {formatCount(before[0] ?? 0)} to{' '}
      {formatCount(before.at(-1) ?? 0)} in the {before.length} days before.
    </p>
  )
}

export const Volume = () => {
  const days = lastDays(seenDays)
  const { counts, error, retry } = useQueries({
    queries: days.map(({ start, end }) => countOptions({ since: start, until: end })),
    combine: (results) => ({
      counts: results.every(({ data }) => data !== undefined) ? results.map(({ data }) => data?.count ?? 0) : undefined,
      error: results.find((result) => result.error)?.error,
      retry: () => {
        for (const result of results) if (result.error) void result.refetch()
      },
    }),
  })
  if (error) return <FaultNote error={error} retry={retry} />
  const yesterday = days.at(-2)
  if (!counts || !yesterday) return <Loading lines={8} />
  return (
    <section aria-label="Volume">
      <Words counts={counts} yesterday={{ since: yesterday.start, until: yesterday.end }} />
      <DayBars
        title="Conversations by day"
        of={['plain']}
        height={150}
        days={days.map(({ start, end }, at) => ({
          ...{ start, end, counts: { plain: counts[at] ?? 0 } },
          link: { to: '/conversations', search: { filter: { since: start, until: end } } },
        }))}
      />
    </section>
  )
}
