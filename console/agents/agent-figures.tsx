// Shows an agent's figures for a period: volume, duration, response latency, and the rate of each monitor.

import { useQueries, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useDeferredValue } from 'react'
import { useMay, useMe } from '../api/session.ts'
import { chartOptions, type Group, type Measure } from '../boards/queries.ts'
import { formatOf, written } from '../boards/values.ts'
import { countOptions } from '../filters/count.ts'
import type { Filter } from '../filters/filter.ts'
import { intervalOf, type TimeRange } from '../filters/range.ts'
import { RangePicker } from '../filters/range-picker.tsx'
import { lastDays, sharedRange, useRange } from '../filters/use-range.ts'
import { withTime } from '../filters/with-time.ts'
import { formatCount, plural } from '../lib/format.ts'
import type { Monitor } from '../monitors/queries.ts'
import { enabledMonitorsOptions } from '../overview/queries.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Sparkline } from '../ui/charts/sparkline.tsx'
import { Estimate } from '../ui/estimate.tsx'
import { Section } from '../ui/page.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import styles from './agents.module.css'

const shownDays = 30

type AgentPeriod = { agentId: string; time: TimeRange }

const measured = (measure: Measure, { agentId, time }: AgentPeriod) =>
  chartOptions(
    { query: { measure, interval: intervalOf(time) } },
    { filter: { agentIds: [agentId], ...time }, compareTo: undefined },
  )

const general: { name: string; measure: Measure }[] = [
  { name: 'Conversations', measure: { kind: 'volume' } },
  { name: 'Duration, median', measure: { kind: 'duration', statistic: 'p50' } },
  { name: 'Duration, 95th percentile', measure: { kind: 'duration', statistic: 'p95' } },
  {
    name: 'Response time, median',
    measure: { kind: 'signal', signal: 'responseLatencyMs.p50', statistic: 'p50' },
  },
  {
    name: 'Response time, 95th percentile',
    measure: { kind: 'signal', signal: 'responseLatencyMs.p95', statistic: 'p95' },
  },
]

/**
 * Returns the answers for several measures once all of them have loaded. The earlier answers stay while the period
 * changes.
 */
const useGroups = (measures: Measure[], shown: AgentPeriod) =>
  useQueries({
    queries: measures.map((measure) => ({ ...measured(measure, shown), placeholderData: <T,>(before: T) => before })),
    combine: (answers) => ({
      isPending: answers.some(({ isPending }) => isPending),
      isFetching: answers.some(({ isFetching }) => isFetching),
      groups: answers.map(({ data }) => data?.groups[0]),
      error: answers.find(({ error }) => error)?.error,
    }),
  })

type FigureSparklineProps = { label: string; group: Group; tone?: 'affected' | 'plain' }

const FigureSparkline = ({ label, group: { series = [] }, tone = 'affected' }: FigureSparklineProps) => (
  <Sparkline
    label={label}
    tone={tone}
    points={series.map(({ value, interval95 }) => ({
      value,
      low: interval95?.low ?? null,
      high: interval95?.high ?? null,
    }))}
  />
)

type FigureProps = { name: string; measure: Measure; group: Group | undefined; filter: Filter }

const Figure = ({ name, measure, group, filter }: FigureProps) => {
  const format = formatOf(measure)
  const { n = 0, value = null, interval95 } = group ?? {}
  const words = written(value, format)
  const isCount = measure.kind === 'volume'
  // Chats have no response latency.
  if (!isCount && n === 0) return null
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd className={styles.big}>
        {isCount && n > 0 ? (
          <Link to="/conversations" search={{ filter }}>
            {words}
          </Link>
        ) : (
          words
        )}
      </dd>
      <dd className={styles.note}>
        {interval95 && `${format(interval95.low)} to ${format(interval95.high)}, `}
        {!isCount && n > 0 && `n = ${formatCount(n)}`}
      </dd>
      <dd>{group && <FigureSparkline label={`${name} over time`} group={group} tone="plain" />}</dd>
    </div>
  )
}

type Rate = { monitor: Monitor; group: Group }

const columnsOf = (filter: Filter): Column<Rate>[] => [
  {
    key: 'name',
    label: 'Monitor',
    cell: ({ monitor: { id, name } }) => (
      <Link to="/monitors/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    key: 'course',
    label: 'Trend',
    from: 480,
    cell: ({ monitor: { name }, group }) => (
      <FigureSparkline label={`Affected rate of ${name} over time`} group={group} />
    ),
  },
  {
    key: 'rate',
    label: 'Affected',
    cell: ({ monitor: { id }, group: { n, value, interval95 } }) => {
      const estimate = <Estimate rate={value} low={interval95?.low} high={interval95?.high} n={n} />
      if (!value) return <span className={styles.rate}>{estimate}</span>
      return (
        <Link
          className={styles.rate}
          to="/conversations"
          search={{ filter: { ...filter, monitors: [{ id, result: 'affected' }] } }}
        >
          {estimate}
        </Link>
      )
    },
  },
]

/** Sorts the most affected monitors first. */
const byRate = ({ group: one }: Rate, { group: other }: Rate): number => (other.value ?? 0) - (one.value ?? 0)

type RatesProps = { monitors: Monitor[]; groups: (Group | undefined)[]; filter: Filter; hasMore: boolean }

const Rates = ({ monitors, groups, filter, hasMore }: RatesProps) => {
  const mayWrite = useMay('member')
  const rates = monitors.flatMap((monitor, at): Rate[] => {
    const group = groups[at]
    return group ? [{ monitor, group }] : []
  })
  const known = rates.filter(({ group }) => group.n > 0).toSorted(byRate)
  const silent = rates.length - known.length
  if (monitors.length === 0) {
    return (
      <Empty
        title="No enabled monitors"
        action={mayWrite && <ButtonLink to="/monitors/new">Create monitor</ButtonLink>}
      >
        <p>A monitor asks one question of every conversation. Its rate for this agent appears here.</p>
      </Empty>
    )
  }
  return (
    <>
      {known.length > 0 && (
        <Table label="Monitors" columns={columnsOf(filter)} rows={known} idOf={({ monitor }) => monitor.id} />
      )}
      {(silent > 0 || hasMore) && (
        <p className={styles.soft}>
          {silent > 0 && `${plural(silent, 'monitor has', 'monitors have')} no results for these conversations. `}
          <Link to="/monitors">All monitors</Link>
        </p>
      )}
    </>
  )
}

/** Explains that the period has no conversations, and whether there are others. */
const Nothing = ({ agentId, onAll }: { agentId: string; onAll: () => void }) => {
  const { data } = useQuery(countOptions({ agentIds: [agentId] }))
  if (!data) return <Loading lines={2} />
  if (data.count > 0) {
    return (
      <Empty title="No conversations in this period" action={<Button onClick={onAll}>Show the last 12 months</Button>}>
        <p>
          <Link to="/conversations" search={{ filter: { agentIds: [agentId] } }}>
            {plural(data.count, 'conversation')}
          </Link>{' '}
          with this agent started at other times.
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="No conversations yet" action={<ButtonLink to="/start">Send a conversation</ButtonLink>}>
      <p>
        Once this agent has conversations, their number, duration, response latency, and monitor results appear here.
      </p>
    </Empty>
  )
}

/**
 * Shows an agent's figures. `children` only appear after all figures have loaded, so that nothing moves while someone
 * is reading.
 */
export const AgentFigures = ({ agentId, children }: { agentId: string; children: ReactNode }) => {
  const search = useSearch({ from: '/app/agents/$id' })
  const navigate = useNavigate({ from: '/agents/$id' })
  const range = useRange({
    page: sharedRange,
    search,
    defaults: { time: lastDays(shownDays) },
    navigate: ({ time }) =>
      void navigate({
        search: (before) => withTime(before, time),
        replace: true,
        resetScroll: false,
      }),
  })
  const shown: AgentPeriod = { agentId, time: range.time }
  const filter: Filter = { agentIds: [agentId], ...range.time }
  const { entitlements } = useMe()
  const monitors = useQuery({ ...enabledMonitorsOptions, enabled: entitlements.monitors })
  const list = monitors.data?.data ?? []
  const figures = useGroups(
    general.map(({ measure }) => measure),
    shown,
  )
  const rates = useGroups(
    list.map(({ id }) => ({ kind: 'rate', monitorId: id })),
    shown,
  )
  const error = monitors.error ?? figures.error ?? rates.error
  const isAnswered = (monitors.isSuccess || !entitlements.monitors) && !figures.isPending && !rates.isPending
  const isReady = useDeferredValue(isAnswered) || Boolean(error)
  const isEmpty = figures.groups[0]?.n === 0
  return (
    <>
      <Section
        title="Figures"
        actions={
          <>
            <RangePicker time={range.time} timezone={range.timezone} onChange={range.choose} />
            <ButtonLink to="/compare" search={{ agent: agentId }}>
              Compare versions
            </ButtonLink>
          </>
        }
      >
        {error && <FaultNote error={error} />}
        {!isReady && <Loading lines={10} />}
        {isReady && !error && isEmpty && (
          <Nothing agentId={agentId} onAll={() => range.choose({ time: 'last:12mo' })} />
        )}
        {isReady && !error && !isEmpty && (
          <div aria-busy={figures.isFetching || rates.isFetching}>
            <dl className={styles.figures}>
              {general.map(({ name, measure }, at) => (
                <Figure key={name} name={name} measure={measure} group={figures.groups[at]} filter={filter} />
              ))}
            </dl>
            {entitlements.monitors && (
              <Rates
                monitors={list}
                groups={rates.groups}
                filter={filter}
                hasMore={typeof monitors.data?.nextCursor === 'string'}
              />
            )}
          </div>
        )}
      </Section>
      {isReady && children}
    </>
  )
}
