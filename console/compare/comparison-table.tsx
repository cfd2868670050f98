// Shows the rows of a comparison: both values, their difference, and whether it is more than chance.

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { differenceIn, formatOf, written } from '../boards/values.ts'
import type { Filter } from '../filters/filter.ts'
import { formatCount } from '../lib/format.ts'
import { Badge } from '../ui/badge.tsx'
import { IntervalBar, intervalDomain } from '../ui/charts/interval-plot.tsx'
import { type Column, Table } from '../ui/table.tsx'
import styles from './compare.module.css'
import { conversationsBehind, endsOf, nameOfRow, verdictOf } from './measures.ts'
import type { ComparedRow } from './requests.ts'

type Side = 'a' | 'b'

const Value = ({ row, side, filter }: { row: ComparedRow; side: Side; filter: Filter }) => {
  const { n, value } = row[side]
  if (value === null) return <span className={styles.soft}>No data</span>
  const words = <strong>{written(value, formatOf(row.measure))}</strong>
  if (n === 0 || value === 0) return words
  return (
    <Link to="/conversations" search={{ filter: conversationsBehind(row, filter) }}>
      {words}
    </Link>
  )
}

const Figure = ({ row, side, filter }: { row: ComparedRow; side: Side; filter: Filter }) => {
  const { n, interval95 } = row[side]
  const format = formatOf(row.measure)
  return (
    <span className={styles.value}>
      <span>
        <Value row={row} side={side} filter={filter} />
      </span>
      {row.measure.kind !== 'volume' && n > 0 && (
        <span className={styles.note}>
          {interval95 && `${format(interval95.low)} to ${format(interval95.high)}, `}n = {formatCount(n)}
        </span>
      )}
    </span>
  )
}

const Verdict = ({ row }: { row: ComparedRow }): ReactNode => {
  const words = verdictOf(row)
  return row.isNotable ? <Badge tone="accent">{words}</Badge> : <span className={styles.soft}>{words}</span>
}

type Filters = { a: Filter; b: Filter }

/** In a narrow table, shows the values of the hidden columns. */
const Brief = ({ row, filters }: { row: ComparedRow; filters: Filters }) => (
  <span className={styles.brief}>
    <span>
      A: <Value row={row} side="a" filter={filters.a} />, B: <Value row={row} side="b" filter={filters.b} />
    </span>
    <span>
      <Verdict row={row} />
    </span>
  </span>
)

const Name = ({ row, filters }: { row: ComparedRow; filters: Filters }) => {
  const { measure, definitionChanged } = row
  const name = nameOfRow(row)
  const monitorId = 'monitorId' in measure ? measure.monitorId : undefined
  return (
    <span className={styles.name}>
      {monitorId === undefined ? (
        name
      ) : (
        <span>
          <Link to="/monitors/$id" params={{ id: monitorId }}>
            {name}
          </Link>
        </span>
      )}
      {monitorId !== undefined && definitionChanged && (
        <span className={styles.note}>
          <Link to="/monitors/$id" params={{ id: monitorId }} search={{ tab: 'versions' }}>
            Definition changed
          </Link>{' '}
          in this period
        </span>
      )}
      <Brief row={row} filters={filters} />
    </span>
  )
}

const Difference = ({ row: { measure, difference, differenceInterval95 } }: { row: ComparedRow }) => {
  if (difference === null) return <span className={styles.soft}>–</span>
  return (
    <span className={styles.value}>
      {differenceIn(measure, difference)}
      {differenceInterval95 && <span className={styles.note}>{endsOf(measure, differenceInterval95)}</span>}
    </span>
  )
}

/** The width of a difference in the drawing, in pixels. */
const drawnWidth = 160

const isRate = ({ measure }: ComparedRow): boolean => measure.kind === 'rate'

const endsIn = ({ difference, differenceInterval95: ends }: ComparedRow) => ({
  value: difference,
  low: ends?.low ?? null,
  high: ends?.high ?? null,
})

type ComparisonTableProps = { label: string; rows: ComparedRow[]; filters: Filters }

export const ComparisonTable = ({ label, rows, filters }: ComparisonTableProps) => {
  const domain = intervalDomain(rows.filter(isRate).map(endsIn))
  const columns: Column<ComparedRow>[] = [
    { key: 'name', label: 'Measure', cell: (row) => <Name row={row} filters={filters} /> },
    { key: 'a', label: 'A', from: 720, cell: (row) => <Figure row={row} side="a" filter={filters.a} /> },
    { key: 'b', label: 'B', from: 720, cell: (row) => <Figure row={row} side="b" filter={filters.b} /> },
    { key: 'difference', label: 'B − A (95% interval)', cell: (row) => <Difference row={row} /> },
    {
      key: 'drawn',
      label: <span className={styles.hidden}>Difference (chart)</span>,
      from: 960,
      cell: (row) => (
        <span className={styles.drawn}>
          {isRate(row) && row.difference !== null && (
            <IntervalBar
              {...endsIn(row)}
              label={`${nameOfRow(row)}: ${differenceIn(row.measure, row.difference)}`}
              domain={domain}
              width={drawnWidth}
              highlight={row.isNotable}
            />
          )}
        </span>
      ),
    },
    { key: 'verdict', label: 'More than chance?', from: 720, cell: (row) => <Verdict row={row} /> },
  ]
  return (
    <div className={styles.table}>
      <Table label={label} columns={columns} rows={rows} idOf={({ measure }) => JSON.stringify(measure)} />
    </div>
  )
}
