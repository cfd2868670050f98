// Shows the share of each category of a monitor, and the figures of its fields, in a period.

import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { chartOptions, type Group, type Measure } from '../boards/queries.ts'
import type { TimeRange } from '../filters/range.ts'
import { formatCount, formatNumber } from '../lib/format.ts'
import { wilson } from '../lib/wilson.ts'
import { Button } from '../ui/button.tsx'
import { Estimate } from '../ui/estimate.tsx'
import { Await } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import styles from './monitor.module.css'
import { fieldsOf, mayNameCategories, measuredFieldsOf, type OutputField } from './outputs.ts'
import type { Monitor } from './queries.ts'

type Shown = { monitor: Monitor; time: TimeRange }

const useFigures = (measure: Measure, time: TimeRange) =>
  useQuery(chartOptions({ query: { measure } }, { filter: time, compareTo: undefined }))

const categoryColumns = (monitorId: string, time: TimeRange): Column<Group>[] => [
  {
    key: 'category',
    label: 'Category',
    cell: ({ key: [category], label: [label], value }) =>
      category && value ? (
        <Link to="/conversations" search={{ filter: { ...time, categories: { monitorId, any: [category] } } }}>
          {label}
        </Link>
      ) : (
        label
      ),
  },
  {
    key: 'share',
    label: 'Share',
    cell: ({ value, interval95, n }) => <Estimate rate={value} low={interval95?.low} high={interval95?.high} n={n} />,
  },
]

const Categories = ({ monitor: { id, kind }, time }: Shown) => {
  const query = useFigures({ kind: 'category', monitorId: id }, time)
  const isEmpty = query.data?.groups.every(({ n }) => n === 0)
  // External monitors don't say whether they name categories.
  if (kind === 'external' && isEmpty !== false) return null
  return (
    <section className={styles.outputs} aria-label="Categories">
      <h2>Categories</h2>
      <Await query={query} lines={4}>
        {({ groups }) =>
          isEmpty ? (
            <p className={styles.soft}>No categories in this period.</p>
          ) : (
            <Table
              label="Share of each category"
              columns={categoryColumns(id, time)}
              rows={groups}
              idOf={({ key }) => key.join(' ')}
            />
          )
        }
      </Await>
    </section>
  )
}

type FieldRow = { key: string; isShare: boolean }
type FigureProps = { monitorId: string; field: string; time: TimeRange }

const rounded = (value: number): string => formatNumber(Number(value.toPrecision(4)))

/** Shows the mean of a number, or the share of true, with its interval. */
const Mean = ({ monitorId, field, time, isShare }: FigureProps & { isShare: boolean }) => {
  const { data } = useFigures({ kind: 'field', monitorId, field, statistic: 'mean' }, time)
  const { value = null, interval95, n = 0 } = data?.groups[0] ?? {}
  if (!data) return <span className={styles.soft}>…</span>
  if (value === null) return <span className={styles.soft}>No values</span>
  if (isShare) return <Estimate rate={value} low={interval95?.low} high={interval95?.high} n={n} />
  return (
    <span>
      <strong>{rounded(value)}</strong>
      {interval95 && ` · ${rounded(interval95.low)}–${rounded(interval95.high)}`} · n = {formatCount(n)}
    </span>
  )
}

const Percentile = ({ monitorId, field, time, statistic }: FigureProps & { statistic: 'p50' | 'p90' }) => {
  const { data } = useFigures({ kind: 'field', monitorId, field, statistic }, time)
  const value = data?.groups[0]?.value
  return value == null ? <span className={styles.soft}>–</span> : rounded(value)
}

const fieldColumns = (monitorId: string, time: TimeRange): Column<FieldRow>[] => {
  const percentile = (statistic: 'p50' | 'p90') => (row: FieldRow) =>
    row.isShare ? null : <Percentile monitorId={monitorId} field={row.key} time={time} statistic={statistic} />
  return [
    {
      key: 'field',
      label: 'Field',
      cell: ({ key, isShare }) => (
        <Link
          to="/conversations"
          search={{
            filter: { ...time, fields: [{ monitorId, field: key, op: isShare ? ('is_true' as const) : 'is_set' }] },
          }}
        >
          {key}
        </Link>
      ),
    },
    {
      key: 'mean',
      label: 'Mean or share true',
      cell: ({ key, isShare }) => <Mean monitorId={monitorId} field={key} time={time} isShare={isShare} />,
    },
    { key: 'p50', label: 'Median', numeric: true, from: 480, cell: percentile('p50') },
    { key: 'p90', label: 'p90', numeric: true, from: 480, cell: percentile('p90') },
  ]
}

const mostOptions = 20

/** Shows the share of each option among the results with one of them. */
const Options = ({ monitorId, time, field }: Omit<FigureProps, 'field'> & { field: OutputField }) => {
  const filters = (field.options ?? []).slice(0, mostOptions).map((value) => ({
    ...time,
    fields: [{ monitorId, field: field.key, op: 'eq' as const, value }],
  }))
  const counts = useQueries({
    queries: filters.map((filter) =>
      chartOptions({ query: { measure: { kind: 'volume' } } }, { filter, compareTo: undefined }),
    ),
  }).map(({ data }) => data && (data.groups[0]?.n ?? 0))
  const n = counts.reduce<number>((sum, count = 0) => sum + count, 0)
  const isReady = counts.every((count) => count !== undefined)
  return (
    <Table
      label={`Share of each ${field.key}`}
      columns={[
        {
          key: 'option',
          label: field.key,
          cell: ({ filter, option }) => (
            <Link to="/conversations" search={{ filter }}>
              {option}
            </Link>
          ),
        },
        {
          key: 'share',
          label: 'Share',
          cell: ({ count }) =>
            isReady ? (
              <Estimate rate={n === 0 ? null : count / n} n={n} {...wilson(count, n)} />
            ) : (
              <span className={styles.soft}>…</span>
            ),
        },
      ]}
      rows={filters.map((filter, at) => ({ filter, option: field.options?.[at] ?? '', count: counts[at] ?? 0 }))}
      idOf={({ option }) => option}
    />
  )
}

/** The number of fields shown at first. Each figure of a field, and each option, needs its own request. */
const fewMeasured = 6
const fewEnums = 3

const Fields = ({ monitor, time }: Shown) => {
  const [isComplete, setComplete] = useState(false)
  const all = fieldsOf(monitor)
  const types = new Map(all.map(({ key, type }) => [key, type]))
  const measured = measuredFieldsOf(monitor).map((key): FieldRow => ({ key, isShare: types.get(key) === 'boolean' }))
  const enums = all.filter(({ type }) => type === 'enum')
  if (measured.length + enums.length === 0) return null
  const few = <T,>(rows: T[], most: number): T[] => (isComplete ? rows : rows.slice(0, most))
  return (
    <section className={styles.outputs} aria-label="Fields">
      <h2>Fields</h2>
      {measured.length > 0 && (
        <Table
          label="Number and boolean fields"
          columns={fieldColumns(monitor.id, time)}
          rows={few(measured, fewMeasured)}
          idOf={({ key }) => key}
        />
      )}
      {few(enums, fewEnums).map((field) => (
        <Options key={field.key} monitorId={monitor.id} time={time} field={field} />
      ))}
      {!isComplete && (measured.length > fewMeasured || enums.length > fewEnums) && (
        <Button small look="quiet" onClick={() => setComplete(true)}>
          Show all fields
        </Button>
      )}
    </section>
  )
}

/** Shows the categories and fields of a monitor, from the latest result of each conversation. */
export const OutputFigures = ({ monitor, time }: Shown) => (
  <>
    {mayNameCategories(monitor) && <Categories monitor={monitor} time={time} />}
    <Fields monitor={monitor} time={time} />
  </>
)
