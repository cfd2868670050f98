import { formatNumber, plural } from '../lib/format.ts'
import { Table } from '../ui/table.tsx'
import { formatDifference } from './figures.ts'
import { type Experiment, type Outcome, outcomeKey, outcomeName } from './queries.ts'

/** Shows the smallest difference detectable now, and the conversations needed for the target. */
export const SampleSize = ({ experiment }: { experiment: Experiment }) => {
  const size = (outcome: Outcome, value: number | null) =>
    value === null ? 'Not known yet' : formatDifference(outcome, value).replace('+', '')
  return (
    <Table
      label="Sample size"
      rows={experiment.outcomes.toSorted((a, b) => Number(b.primary) - Number(a.primary))}
      idOf={outcomeKey}
      columns={[
        { key: 'name', label: 'Outcome', cell: outcomeName },
        {
          key: 'now',
          label: 'Detectable now',
          cell: (outcome) => size(outcome, outcome.precision.anytimeDifference),
        },
        { key: 'target', label: 'Target', from: 480, cell: (outcome) => size(outcome, outcome.precision.target) },
        {
          key: 'more',
          label: 'Needed',
          cell: ({ precision: { moreConversations, moreDays } }) => {
            if (moreConversations === null) return '–'
            if (moreConversations === 0) return 'None'
            const days =
              moreDays === null
                ? ''
                : `, about ${moreDays < 1 ? 'a day' : plural(Math.ceil(moreDays), 'day')} at the current rate`
            return `${plural(Math.ceil(moreConversations), 'more conversation')}${days}`
          },
        },
        {
          key: 'spread',
          label: 'Spread',
          from: 960,
          numeric: true,
          cell: ({ arms: { a } }) => (a.standardDeviation === null ? '–' : formatNumber(a.standardDeviation)),
        },
      ]}
    />
  )
}
