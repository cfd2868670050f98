import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import type { Analytics, Group } from '../boards/queries.ts'
import type { Filter } from '../filters/filter.ts'
import { formatCount, formatPercent, plural } from '../lib/format.ts'
import { ValueBars } from '../ui/charts/value-bars.tsx'
import styles from './overview.module.css'

/** Describes the difference between the period and the earlier one. */
const Words = ({ group: { n, comparison }, filter, range }: { group: Group; filter: Filter; range: string }) => {
  const before = comparison?.n
  return (
    <p className={styles.words}>
      <Link to="/conversations" search={{ filter }}>
        {plural(n, 'conversation')}
      </Link>
      {`: ${range}. `}
      {before !== undefined &&
        (before === 0
          ? 'None in the earlier period.'
          : `${n >= before ? '+' : '−'}${formatPercent(Math.abs(n - before) / before)} from ${formatCount(before)} in the earlier period.`)}
    </p>
  )
}

type VolumeProps = { answer: Analytics; interval: string; filter: Filter; range: string }

/** This is memoized, because every response that the overview waits for renders it again. */
export const Volume = memo(({ answer: { groups }, interval, filter, range }: VolumeProps) => {
  const [group] = groups
  if (!group) return null
  return (
    <section aria-label="Volume">
      <Words group={group} filter={filter} range={range} />
      <ValueBars
        title={`Conversations by ${interval}`}
        valueName="Conversations"
        format={formatCount}
        formatTick={(value) => (value % 1 === 0 ? formatCount(value) : '')}
        tone="plain"
        height={150}
        point={interval}
        points={(group.series ?? []).map(({ start, end, value }) => ({
          start,
          end,
          value,
          link: { to: '/conversations', search: { filter: { since: start, until: end } } },
        }))}
      />
    </section>
  )
})
