import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../api/session.ts'
import { formatPercent, plural } from '../lib/format.ts'
import { conversationsOf, rateOf } from '../monitors/figures.ts'
import { type Monitor, type Trend, trendOptions } from '../monitors/queries.ts'
import { Badge } from '../ui/badge.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { Sparkline } from '../ui/charts/sparkline.tsx'
import { Estimate } from '../ui/estimate.tsx'
import { Section } from '../ui/page.tsx'
import { Empty, FaultNote } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import styles from './overview.module.css'
import { enabledMonitorsOptions, openFindingsOptions } from './queries.ts'
import { bySurprise, type Surprise, surpriseOf, wordOf } from './surprise.ts'

const days = 30
const maxShown = 8

type Rate = { monitor: Monitor; trend: Trend; surprise: Surprise; spike: { id: string; title: string } | undefined }

const isUnusual = ({ spike, surprise }: Rate) => spike !== undefined || wordOf(surprise) !== null

const columns: Column<Rate>[] = [
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
    label: `Last ${days} days`,
    from: 480 as const,
    cell: ({ monitor, trend: { data } }) => (
      <Sparkline
        label={`Affected rate of ${monitor.name} by day, last ${days} days`}
        points={data.map(({ affectedRate, low, high }) => ({ value: affectedRate, low, high }))}
      />
    ),
  },
  {
    key: 'yesterday',
    label: 'Affected yesterday',
    cell: ({ monitor: { id }, trend, surprise: { yesterday } }) => {
      const day = trend.data.at(-2)
      const estimate = <Estimate {...rateOf(yesterday)} />
      return yesterday.affected > 0 && day ? (
        <Link className={styles.rate} {...conversationsOf(id, 'affected', { since: day.start, until: day.end })}>
          {estimate}
        </Link>
      ) : (
        <span className={styles.rate}>{estimate}</span>
      )
    },
  },
  {
    key: 'usual',
    label: `Previous ${days - 2} days`,
    from: 720 as const,
    cell: ({ surprise: { usual } }) => <Estimate {...rateOf(usual)} />,
  },
  {
    key: 'word',
    label: '',
    cell: ({ surprise, spike }) =>
      spike ? (
        <Link to="/findings/$id" params={{ id: spike.id }} title={spike.title}>
          <Badge tone="affected">Spike</Badge>
        </Link>
      ) : (
        wordOf(surprise)
      ),
  },
]

/** Returns all trends. The order of the monitors depends on them, so the list waits for all. */
const useTrends = (monitors: Monitor[]) =>
  useQueries({
    queries: monitors.map(({ id }) => trendOptions(id, { days })),
    combine: (trends) => {
      const isPending = trends.some((trend) => trend.isPending)
      return {
        isPending,
        data: isPending ? [] : trends.map(({ data }) => data),
        error: trends.find(({ error }) => error)?.error,
      }
    },
  })

export const useRates = () => {
  const monitors = useQuery(enabledMonitorsOptions)
  const findings = useQuery(openFindingsOptions)
  const list = monitors.data?.data ?? []
  const trends = useTrends(list)
  const spikeOf = (id: string) =>
    findings.data?.data.find(({ findingType, source }) => findingType === 1 && source.id === id)
  const rates = list.flatMap((monitor, at): Rate[] => {
    const trend = trends.data[at]
    return trend ? [{ monitor, trend, surprise: surpriseOf(trend), spike: spikeOf(monitor.id) }] : []
  })
  return {
    isPending: monitors.isPending || trends.isPending,
    error: monitors.error ?? trends.error,
    isEmpty: monitors.data?.data.length === 0,
    hasMore: typeof monitors.data?.nextCursor === 'string',
    rates: rates.toSorted(
      (a, b) => Number(b.spike !== undefined) - Number(a.spike !== undefined) || bySurprise(a.surprise, b.surprise),
    ),
  }
}

const contextOf = (rates: Rate[]): string =>
  rates.some(isUnusual)
    ? 'Most unusual first. Only spikes are statistically tested.'
    : `No unusual changes from the previous ${days - 2} days.`

/** Shows yesterday's results of each monitor, most unusual first. */
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
            columns={columns}
            rows={shown}
            idOf={({ monitor }) => monitor.id}
          />
          {(rest.length > 0 || hasMore) && (
            <p className={styles.rest}>
              <Link to="/monitors">
                {rest.some(isUnusual) || hasMore
                  ? 'All monitors'
                  : `${plural(rest.length, 'more monitor')} with no unusual changes (up to ${formatPercent(Math.max(...rest.map(({ surprise }) => rateOf(surprise.yesterday).rate ?? 0)))} yesterday)`}
              </Link>
            </p>
          )}
        </>
      )}
    </Section>
  )
}
