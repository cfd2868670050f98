import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../api/session.ts'
import type { Group } from '../boards/queries.ts'
import type { Filter } from '../filters/filter.ts'
import type { TimeRange } from '../filters/range.ts'
import type { Comparison } from '../filters/range-search.ts'
import { plural, signedPoints } from '../lib/format.ts'
import type { Monitor } from '../monitors/queries.ts'
import { Badge } from '../ui/badge.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { Sparkline } from '../ui/charts/sparkline.tsx'
import { Estimate } from '../ui/estimate.tsx'
import { Section } from '../ui/page.tsx'
import { Empty, FaultNote } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { byAttention, type Change, changeWords, marksOf, zOf } from './changes.ts'
import { rateOptions } from './figures.ts'
import styles from './overview.module.css'
import { enabledMonitorsOptions, openFindingsOptions } from './queries.ts'

const maxShown = 8

type Period = { time: TimeRange; compare: Comparison }

type Rate = Change & {
  monitor: Monitor
  now: Group
  isSpike: boolean
  spike: { id: string; title: string } | undefined
  filter: Filter
}

const wordsOf = (rate: Rate) => changeWords(rate.now, rate.now.comparison, rate)
const isUnusual = (rate: Rate) => rate.isSpike || wordsOf(rate) !== null

const estimateOf = ({ n, value, interval95 }: Pick<Group, 'n' | 'value' | 'interval95'>) => (
  <Estimate rate={value} low={interval95?.low} high={interval95?.high} n={n} />
)

const Difference = ({ now: { comparison } }: Rate) => {
  if (!comparison || comparison.difference === null) return <span className={styles.soft}>–</span>
  const { difference, differenceInterval95: ends } = comparison
  return (
    <span className={styles.change}>
      {signedPoints(difference)}
      {ends && (
        <span className={styles.soft}>
          {' '}
          ({signedPoints(ends.low)} to {signedPoints(ends.high)})
        </span>
      )}
    </span>
  )
}

const columnsOf = (isCompared: boolean): Column<Rate>[] => [
  {
    key: 'name',
    label: 'Monitor',
    cell: ({ monitor: { id, name } }) => (
      <Link className={styles.name} to="/monitors/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    key: 'course',
    label: 'Trend',
    from: 480,
    cell: ({ monitor, now: { series = [] } }) => (
      <Sparkline
        label={`Affected rate of ${monitor.name} over time`}
        points={series.map(({ value, interval95 }) => ({
          value,
          low: interval95?.low ?? null,
          high: interval95?.high ?? null,
        }))}
      />
    ),
  },
  {
    key: 'now',
    label: 'Affected',
    cell: ({ monitor: { id }, now, filter }) => {
      const estimate = estimateOf(now)
      return now.value ? (
        <Link
          className={styles.rate}
          to="/conversations"
          search={{ filter: { ...filter, monitors: [{ id, result: 'affected' }] } }}
        >
          {estimate}
        </Link>
      ) : (
        <span className={styles.rate}>{estimate}</span>
      )
    },
  },
  ...(isCompared
    ? [
        {
          key: 'before',
          label: 'Earlier period',
          from: 960 as const,
          cell: ({ now: { comparison } }: Rate) => (comparison ? estimateOf(comparison) : null),
        },
        {
          key: 'change',
          label: 'Change in points (95% interval)',
          from: 720 as const,
          cell: (rate: Rate) => <Difference {...rate} />,
        },
      ]
    : []),
  {
    key: 'word',
    label: '',
    cell: (rate) =>
      rate.spike ? (
        <Link to="/findings/$id" params={{ id: rate.spike.id }} title={rate.spike.title}>
          <Badge tone="affected">Spike</Badge>
        </Link>
      ) : (
        wordsOf(rate)
      ),
  },
]

/** Returns all rates. The order of the monitors depends on the rates, so the list waits for all of them. */
const useAnswers = (monitors: Monitor[], shown: Period) =>
  useQueries({
    queries: monitors.map(({ id }) => ({ ...rateOptions(id, shown), placeholderData: <T,>(before: T) => before })),
    combine: (answers) => {
      const isPending = answers.some((each) => each.isPending)
      return {
        isPending,
        data: isPending ? [] : answers.map(({ data }) => data?.groups[0]),
        error: answers.find(({ error }) => error)?.error,
      }
    },
  })

export const useRates = (shown: Period) => {
  const monitors = useQuery(enabledMonitorsOptions)
  const findings = useQuery(openFindingsOptions)
  const list = monitors.data?.data ?? []
  const answers = useAnswers(list, shown)
  const scores = answers.data.map((now) => now && zOf(now, now.comparison))
  const marks = marksOf(scores)
  const spikeOf = (id: string) =>
    findings.data?.data.find(({ findingType, source }) => findingType === 1 && source.id === id)
  const rates = list.flatMap((monitor, at): Rate[] => {
    const now = answers.data[at]
    if (!now) return []
    const spike = spikeOf(monitor.id)
    const change = { z: scores[at], isMarked: marks[at] === true }
    return [{ monitor, now, spike, isSpike: spike !== undefined, filter: shown.time, ...change }]
  })
  return {
    isPending: monitors.isPending || answers.isPending,
    error: monitors.error ?? answers.error,
    isEmpty: monitors.data?.data.length === 0,
    hasMore: typeof monitors.data?.nextCursor === 'string',
    rates: rates.toSorted(byAttention),
  }
}

const contextOf = (rates: Rate[]): string => {
  if (rates.some(isUnusual)) return 'Most unusual first. Changes are marked if they are more than chance.'
  const isCompared = rates.some(({ now }) => (now.comparison?.n ?? 0) > 0)
  return isCompared ? 'No unusual changes from the earlier period.' : 'No earlier data to compare with.'
}

/** Shows the results of each monitor, most unusual first. */
export const Rates = ({
  rates: { rates, isPending, isEmpty, error, hasMore },
}: {
  rates: ReturnType<typeof useRates>
}) => {
  const mayWrite = useMay('member')
  const shown = rates.slice(0, maxShown)
  const rest = rates.slice(maxShown)
  return (
    <Section title="Monitor results" context={rates.length > 0 ? contextOf(rates) : undefined}>
      {error && <FaultNote error={error} />}
      {isEmpty && (
        <Empty
          title="No enabled monitors"
          action={mayWrite && <ButtonLink to="/monitors/new">Create monitor</ButtonLink>}
        >
          <p>A monitor asks one question of every conversation. Unusual changes appear here.</p>
        </Empty>
      )}
      {!isPending && rates.length > 0 && (
        <>
          <Table
            label="Monitors, most unusual first"
            columns={columnsOf(rates.some(({ now }) => now.comparison))}
            rows={shown}
            idOf={({ monitor }) => monitor.id}
          />
          {(rest.length > 0 || hasMore) && (
            <p className={styles.rest}>
              <Link to="/monitors">
                {rest.some(isUnusual) || hasMore
                  ? 'All monitors'
                  : `${plural(rest.length, 'more monitor')} with no unusual changes`}
              </Link>
            </p>
          )}
        </>
      )}
    </Section>
  )
}
