// One chart of a board: its query, and the answer as a line, bars, a heat map, a table, or a number.

import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { formatCount, formatPercent } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { BandLine } from '../ui/charts/band-line.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import styles from './boards.module.css'
import { type Analytics, type Chart, chartOptions, type Group } from './queries.ts'
import { formatOf, isShare, nameOf, tickOf, toCsv } from './values.ts'

type Part = { chart: Chart; answer: Analytics }

const labelOf = ({ label }: Group): string => label.join(' · ')

const intervalWords = ({ interval95, n }: Pick<Group, 'interval95' | 'n'>, format: (value: number) => string) =>
  `${interval95 ? `${format(interval95.low)} to ${format(interval95.high)}, ` : ''}n = ${formatCount(n)}`

const written = (value: number | null, format: (value: number) => string) =>
  value === null ? 'No data' : format(value)

/** The difference from the earlier period, in percent or, of shares, in points. */
const changeWords = ({ comparison }: Group, chart: Chart): string | undefined => {
  if (!comparison || comparison.difference === null || comparison.value === null) return undefined
  const { difference, value } = comparison
  const sign = difference > 0 ? '+' : difference < 0 ? '−' : '±'
  if (isShare(chart.query.measure)) return `${sign}${formatPercent(Math.abs(difference)).replace('%', ' points')}`
  if (value === 0) return undefined
  return `${sign}${formatPercent(Math.abs(difference / value))}`
}

const BigNumber = ({ chart, answer: { groups } }: Part) => {
  const [group] = groups
  const format = formatOf(chart.query.measure)
  if (!group) return null
  const change = changeWords(group, chart)
  const { comparison } = group
  return (
    <div className={styles.number}>
      <p className={styles.big}>{written(group.value, format)}</p>
      {group.interval95 && <p className={styles.soft}>{intervalWords(group, format)}</p>}
      {comparison && (
        <p>
          {change ?? 'No comparison'} <span className={styles.soft}>from {written(comparison.value, format)}</span>
        </p>
      )}
    </div>
  )
}

/** More lines would be hard to tell apart, so each group has its own. */
const mostLines = 6

const Lines = ({ chart, answer: { groups } }: Part) => {
  const { measure, interval } = chart.query
  const format = formatOf(measure)
  const isOne = groups.length === 1 && groups[0]?.key.length === 0
  return (
    <div className={isOne ? undefined : styles.lines}>
      {groups.slice(0, mostLines).map((group) => (
        <BandLine
          key={labelOf(group)}
          title={isOne ? `${nameOf(measure)} by ${interval}` : labelOf(group)}
          valueName={nameOf(measure)}
          format={format}
          {...(!isShare(measure) && { formatTick: tickOf(measure) })}
          tone={measure.kind === 'rate' ? 'affected' : 'accent'}
          point={interval ?? 'day'}
          height={isOne ? 200 : 140}
          points={(group.series ?? []).map(({ start, end, n, value, interval95 }) => ({
            start,
            end,
            n,
            value,
            low: interval95?.low ?? null,
            high: interval95?.high ?? null,
          }))}
        />
      ))}
      {groups.length > mostLines && (
        <p className={styles.soft}>
          The {mostLines} largest of {formatCount(groups.length)} groups
        </p>
      )}
    </div>
  )
}

const Rows = ({ chart, answer: { groups } }: Part) => {
  const format = formatOf(chart.query.measure)
  const most = Math.max(...groups.map(({ value }) => Math.abs(value ?? 0)))
  const isCompared = groups.some(({ comparison }) => comparison)
  const columns: Column<Group>[] = [
    { key: 'group', label: (chart.query.groupBy ?? ['Group']).join(', '), cell: labelOf },
    ...(chart.kind === 'bar'
      ? [
          {
            key: 'bar',
            label: <span className={styles.hidden}>Bar</span>,
            cell: ({ value }: Group) => (
              <meter className={styles.meter} min={0} max={most || 1} value={Math.abs(value ?? 0)} aria-hidden="true" />
            ),
          },
        ]
      : []),
    { key: 'value', label: nameOf(chart.query.measure), numeric: true, cell: ({ value }) => written(value, format) },
    {
      key: 'interval',
      label: '95% interval',
      numeric: true,
      from: 480,
      cell: (group) => (group.interval95 ? `${format(group.interval95.low)} to ${format(group.interval95.high)}` : '–'),
    },
    { key: 'n', label: 'n', numeric: true, cell: ({ n }) => formatCount(n) },
    ...(isCompared
      ? [{ key: 'change', label: 'Change', numeric: true, cell: (group: Group) => changeWords(group, chart) ?? '–' }]
      : []),
  ]
  return <Table label={chart.title} columns={columns} rows={groups} idOf={labelOf} />
}

const shades = 5

/** Values of two dimensions. Darker cells are larger. */
const HeatMap = ({ chart, answer: { groups } }: Part) => {
  const format = formatOf(chart.query.measure)
  const known = groups.filter(({ isOther }) => !isOther)
  // Hours and weekdays are numbers, and everything else is text.
  const inOrder = (at: number) => {
    const labels = new Map(known.map(({ key, label }) => [key[at] ?? '', label[at] ?? '']))
    return [...labels].sort(([a], [b]) => Number(a) - Number(b) || (a < b ? -1 : 1))
  }
  const [down, across] = [inOrder(0), inOrder(1)]
  const cells = new Map(known.map((group) => [JSON.stringify(group.key), group]))
  const values = known.flatMap(({ value }) => value ?? [])
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const shadeOf = (value: number) =>
    high === low ? 1 : Math.min(shades - 1, Math.floor(((value - low) / (high - low)) * shades))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={styles.heat} aria-label={`${chart.title}, as a table`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <td />
            {across.map(([key, label]) => (
              <th key={key} scope="col">
                {label.replace(':00', '')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {down.map(([row, label]) => (
            <tr key={row}>
              <th scope="row">{label}</th>
              {across.map(([column, name]) => {
                const group = cells.get(JSON.stringify([row || null, column || null]))
                const words = group
                  ? `${label}, ${name}: ${written(group.value, format)}, n = ${formatCount(group.n)}`
                  : undefined
                return (
                  <td
                    key={column}
                    title={words}
                    {...(group && group.value !== null && { className: styles[`shade${shadeOf(group.value)}`] })}
                  >
                    <span className={styles.hidden}>{words ?? 'No data'}</span>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <p className={styles.soft}>
        {values.length > 0 ? `${format(low)} (light) to ${format(high)} (dark)` : 'No data'}
      </p>
    </section>
  )
}

const csvOf = ({ chart, answer: { groups } }: Part): string => {
  const dimensions = chart.query.groupBy ?? []
  const figures = ({ n, value, interval95 }: Pick<Group, 'n' | 'value' | 'interval95'>) => [
    n,
    value,
    interval95?.low ?? null,
    interval95?.high ?? null,
  ]
  const columns = ['n', 'value', 'low', 'high']
  if (chart.query.interval === undefined) {
    return toCsv([[...dimensions, ...columns], ...groups.map((group) => [...group.label, ...figures(group)])])
  }
  return toCsv([
    [...dimensions, 'start', 'end', ...columns],
    ...groups.flatMap((group) =>
      (group.series ?? []).map(({ start, end, ...figure }) => [...group.label, start, end, ...figures(figure)]),
    ),
  ])
}

const save = (name: string, text: string) => {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

const drawings: Record<Chart['kind'], (part: Part) => ReactNode> = {
  line: Lines,
  bar: (part) => (part.chart.query.interval === undefined ? <Rows {...part} /> : <Lines {...part} />),
  heatmap: HeatMap,
  table: Rows,
  number: BigNumber,
}

type ChartCardProps = { chart: Chart; shown: Parameters<typeof chartOptions>[1] }

/** A chart in its frame. The previous answer stays while the period changes. */
export const ChartCard = ({ chart, shown }: ChartCardProps) => {
  const { data, error, refetch, isFetching } = useQuery({
    ...chartOptions(chart, shown),
    placeholderData: (previous) => previous,
  })
  const Drawing = drawings[chart.kind]
  const isEmpty = data?.groups.every(({ n }) => n === 0)
  return (
    <section className={`${styles.card} ${styles[chart.width]}`} aria-label={chart.title} aria-busy={isFetching}>
      <div className={styles.head}>
        <h2>{chart.title}</h2>
        {data && (
          <Button
            small
            look="quiet"
            aria-label={`Download ${chart.title} as CSV`}
            onClick={() => save(`${chart.title}.csv`, csvOf({ chart, answer: data }))}
          >
            CSV
          </Button>
        )}
      </div>
      {error && <FaultNote error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={4} />}
      {data &&
        (isEmpty && chart.kind !== 'number' ? (
          <p className={styles.soft}>No data in this period</p>
        ) : (
          <Drawing chart={chart} answer={data} />
        ))}
      {data?.warnings.map((warning) => (
        <p key={warning} className={styles.soft}>
          {warning}
        </p>
      ))}
    </section>
  )
}
