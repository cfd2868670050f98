// Draws a chart's answer as a line, bars, a heat map, a table, or a number.

import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Filter } from '../filters/filter.ts'
import { formatCount, formatPercent } from '../lib/format.ts'
import { BandLine } from '../ui/charts/band-line.tsx'
import { ValueBars } from '../ui/charts/value-bars.tsx'
import { type Column, Table } from '../ui/table.tsx'
import styles from './boards.module.css'
import { HeatMap } from './heat-map.tsx'
import { conversationsOf } from './links.ts'
import type { Analytics, Chart, Group } from './queries.ts'
import { differenceIn, dimensionName, formatOf, groupsOf, isShare, nameOf, signOf, tickOf, written } from './values.ts'

/** Without a filter, values are not links. */
export type DrawingProps = { chart: Omit<Chart, 'id'>; answer: Analytics; filter?: Filter | undefined }

const labelOf = ({ label }: Group): string => label.join(' · ')

const intervalWords = ({ interval95, n }: Pick<Group, 'interval95' | 'n'>, format: (value: number) => string) =>
  `${interval95 ? `${format(interval95.low)} to ${format(interval95.high)}, ` : ''}n = ${formatCount(n)}`

const linkOf = (
  { chart, filter }: DrawingProps,
  group: Group,
  span?: { start: string; end: string },
): LinkProps | undefined => filter && conversationsOf({ query: chart.query, filter, group, ...(span && { span }) })

/** Describes the difference from the earlier period in percent or, for shares, in points. */
const changeWords = ({ comparison }: Group, { query }: DrawingProps['chart']): string | undefined => {
  if (!comparison || comparison.difference === null || comparison.value === null) return undefined
  const { difference, value } = comparison
  if (isShare(query.measure)) return differenceIn(query.measure, difference)
  if (value === 0) return undefined
  return `${signOf(difference)}${formatPercent(Math.abs(difference / value))}`
}

const Linked = ({ link, children }: { link: LinkProps | undefined; children: ReactNode }) =>
  link ? <Link {...link}>{children}</Link> : children

const BigNumber = (drawn: DrawingProps) => {
  const { chart, answer } = drawn
  const [group] = answer.groups
  const format = formatOf(chart.query.measure)
  if (!group) return null
  const change = changeWords(group, chart)
  const { comparison } = group
  return (
    <div className={styles.number}>
      <p className={styles.big}>
        <Linked link={group.n > 0 ? linkOf(drawn, group) : undefined}>{written(group.value, format)}</Linked>
      </p>
      {group.interval95 && <p className={styles.soft}>{intervalWords(group, format)}</p>}
      {comparison &&
        (comparison.n === 0 ? (
          <p className={styles.soft}>No earlier data to compare with</p>
        ) : (
          <p>
            {change} <span className={styles.soft}>from {written(comparison.value, format)}</span>
          </p>
        ))}
    </div>
  )
}

/** The maximum number of groups to draw. Each has its own chart, because several lines would be hard to tell apart. */
const mostLines = 6

const OverTime = (drawn: DrawingProps) => {
  const { chart, answer } = drawn
  const { groups } = answer
  const { measure, interval = 'day' } = chart.query
  const format = formatOf(measure)
  const isOne = groups.length === 1 && groups[0]?.key.length === 0
  const Drawing = chart.kind === 'bar' ? ValueBars : BandLine
  return (
    <div className={isOne ? undefined : styles.lines}>
      {groups.slice(0, mostLines).map((group) => (
        <Drawing
          key={labelOf(group)}
          title={isOne ? `${nameOf(measure)} by ${interval}` : labelOf(group)}
          valueName={nameOf(measure)}
          format={format}
          {...(!isShare(measure) && { formatTick: tickOf(measure) })}
          tone={measure.kind === 'rate' ? 'affected' : 'accent'}
          point={interval}
          height={isOne ? 200 : 140}
          points={(group.series ?? []).map(({ start, end, n, value, interval95 }) => {
            const link = n > 0 ? linkOf(drawn, group, { start, end }) : undefined
            return {
              start,
              end,
              n,
              value,
              low: interval95?.low ?? null,
              high: interval95?.high ?? null,
              ...(link && { link }),
            }
          })}
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

const Rows = (drawn: DrawingProps) => {
  const { chart, answer } = drawn
  const { groups } = answer
  const { measure } = chart.query
  const format = formatOf(measure)
  const most = Math.max(...groups.map(({ value }) => Math.abs(value ?? 0))) || 1
  const isCompared = groups.some(({ comparison }) => comparison)
  const head = groupsOf(chart.query).map(dimensionName).join(', ')
  const columns: Column<Group>[] = [
    {
      key: 'group',
      label: head === '' ? 'Group' : head.charAt(0).toUpperCase() + head.slice(1),
      cell: (group) => <Linked link={linkOf(drawn, group)}>{labelOf(group) || 'All'}</Linked>,
    },
    ...(chart.kind === 'bar'
      ? [
          {
            key: 'bar',
            label: <span className={styles.hidden}>Bar</span>,
            cell: ({ value }: Group) => (
              <div className={styles.track} aria-hidden="true">
                <div className={styles.bar} style={{ width: `${(Math.abs(value ?? 0) / most) * 100}%` }} />
              </div>
            ),
          },
        ]
      : []),
    { key: 'value', label: nameOf(measure), numeric: true, cell: ({ value }) => written(value, format) },
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

const drawings: Record<Chart['kind'], (drawn: DrawingProps) => ReactNode> = {
  line: OverTime,
  bar: (drawn) => (drawn.chart.query.interval === undefined ? <Rows {...drawn} /> : <OverTime {...drawn} />),
  heatmap: HeatMap,
  table: Rows,
  number: BigNumber,
}

/** Draws a chart's answer, or a note that there is none. */
export const Drawing = (drawn: DrawingProps) => {
  const { chart, answer } = drawn
  const Kind = drawings[chart.kind]
  const isEmpty = answer.groups.every(({ n }) => n === 0)
  return (
    <>
      {isEmpty && chart.kind !== 'number' ? <p className={styles.soft}>No data in this period</p> : <Kind {...drawn} />}
      {answer.warnings.map((warning) => (
        <p key={warning} className={styles.soft}>
          {warning}
        </p>
      ))}
    </>
  )
}
