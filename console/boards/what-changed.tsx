import { useQuery } from '@tanstack/react-query'
import { formatCount } from '../lib/format.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import styles from './boards.module.css'
import { type Change, type ChartInput, changeOptions, type Measure, type Shown } from './queries.ts'
import { differenceIn, dimensionName, formatOf, written } from './values.ts'

type Driver = Change['drivers'][number]

const columnsFor = (measure: Measure): Column<Driver>[] => {
  const format = formatOf(measure)
  const figure = ({ value, n }: Driver['now']) => `${written(value, format)} (n = ${formatCount(n)})`
  return [
    { key: 'group', label: 'Group', cell: ({ dimension, label }) => `${dimensionName(dimension)}: ${label}` },
    { key: 'now', label: 'Now', numeric: true, cell: ({ now }) => figure(now) },
    { key: 'before', label: 'Before', numeric: true, cell: ({ before }) => figure(before) },
    {
      key: 'contribution',
      label: 'Contribution',
      numeric: true,
      cell: ({ contribution }) => differenceIn(measure, contribution),
    },
  ]
}

const Explanation = ({ change, measure }: { change: Change; measure: Measure }) => {
  const { now, before, difference, drivers, groups, warnings } = change
  const format = formatOf(measure)
  if (now.n === 0 && before.n === 0) return <Empty title="No conversations in either period" />
  return (
    <>
      <p>
        {written(now.value, format)} now, {written(before.value, format)} before
        {difference !== null && ` (${differenceIn(measure, difference)})`}
      </p>
      {warnings.map((warning) => (
        <p key={warning} className={styles.soft}>
          {warning}
        </p>
      ))}
      {drivers.length === 0 ? (
        <Empty title="No group explains the change">
          All {formatCount(groups)} groups changed in the same way, or by no more than chance.
        </Empty>
      ) : (
        <>
          <Table
            label="Groups that explain the change"
            columns={columnsFor(measure)}
            rows={drivers}
            idOf={({ dimension, key }) => `${dimension} ${key}`}
          />
          <p className={styles.soft}>
            The clearest of {formatCount(groups)} groups. A contribution is how much smaller the change would be without
            the group. Groups overlap, so contributions can’t be added up.
          </p>
        </>
      )}
    </>
  )
}

type WhatChangedProps = { chart: ChartInput; shown: Shown; open: boolean; onClose: () => void }

/** Explains why a chart differs from the earlier period. */
export const WhatChanged = ({ chart, shown, open, onClose }: WhatChangedProps) => {
  const { data, error, refetch } = useQuery({ ...changeOptions(chart, shown), enabled: open })
  return (
    <Dialog title={`What changed: ${chart.title}`} open={open} onClose={onClose} wide>
      {error && <FaultNote error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={4} />}
      {data && <Explanation change={data} measure={chart.query.measure} />}
    </Dialog>
  )
}
