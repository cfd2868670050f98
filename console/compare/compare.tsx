// Compares two groups of conversations, such as those of two versions. The address contains all choices.

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { toCsv } from '../boards/csv.ts'
import { saveFile } from '../boards/save-file.ts'
import type { Filter } from '../filters/filter.ts'
import { FilterChips } from '../filters/filter-chips.tsx'
import { readRange, type TimeRange } from '../filters/range.ts'
import { RangePicker } from '../filters/range-picker.tsx'
import { lastDays, sharedRange, useRange } from '../filters/use-range.ts'
import { withTime } from '../filters/with-time.ts'
import { plural } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { Field, Select } from '../ui/controls.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import styles from './compare.module.css'
import { ComparisonTable } from './comparison-table.tsx'
import { byClarity, cellsOf } from './measures.ts'
import { comparisonOptions, defaultSidesOptions, filtersOf, type GroupComparison } from './requests.ts'
import type { CompareSearch, SideSearch } from './search.ts'
import { SidePicker } from './side-picker.tsx'
import { precedenceOf, type Sides, swapped, withDates } from './sides.ts'

const shownDays = 30

/** Returns the sides in the address, or otherwise the last two versions. */
const useChosen = () => {
  const search = useSearch({ from: '/app/compare' })
  const navigate = useNavigate({ from: '/compare' })
  const change = (next: CompareSearch) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false })
  const range = useRange({
    page: sharedRange,
    search: search.time === undefined ? {} : { time: search.time },
    defaults: { time: lastDays(shownDays) },
    navigate: ({ time }) => time !== undefined && change({ time }),
  })
  const { a, b, agent, filter: both = {} } = search
  const chosen: Sides | undefined = a && b && { a, b }
  const found = useQuery({ ...defaultSidesOptions({ agent, both, time: range.time }), enabled: chosen === undefined })
  const wanted = chosen === undefined ? found.data : undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is only completed when the sides are found
  useEffect(() => {
    if (!wanted) return
    const { sides, time = search.time } = wanted
    void navigate({
      search: { ...sides, ...(time !== undefined && { time }), ...(search.filter && { filter: both }) },
      replace: true,
    })
  }, [wanted])
  return {
    range,
    both,
    sides: chosen,
    time: search.time,
    error: found.error,
    retry: () => void found.refetch(),
    change,
  }
}

type Chosen = ReturnType<typeof useChosen>

const periodsOfA = [
  { value: 'same', label: 'Same as B' },
  { value: 'previous_period', label: 'The period before B' },
  { value: 'previous_year', label: 'A year before B' },
  { value: 'other', label: 'Other…' },
]

/** Shows the period of side A: the same as B's, an earlier one, or a different one. */
const PeriodOfA = ({
  side,
  chosen,
  onChange,
}: {
  side: SideSearch
  chosen: Chosen
  onChange: (side: SideSearch) => void
}) => {
  const { range } = chosen
  const precedence = precedenceOf(side)
  const own: TimeRange | undefined = precedence ? undefined : readRange(side.time, range.timezone)
  return (
    <>
      <Field label="Period">
        {(ids) => (
          <Select
            {...ids}
            value={precedence ?? (own ? 'other' : 'same')}
            options={periodsOfA}
            onChange={({ target: { value } }) => {
              if (value === 'same') return onChange(withTime(side, undefined))
              onChange(withTime(side, value === 'other' ? (chosen.time ?? `last:${shownDays}d`) : value))
            }}
          />
        )}
      </Field>
      {own && (
        <RangePicker time={own} timezone={range.timezone} onChange={({ time }) => onChange(withTime(side, time))} />
      )}
    </>
  )
}

/** Shows the controls, which are disabled until the page has selected its sides. */
const Controls = ({ chosen, sides }: { chosen: Chosen; sides: Sides }) => {
  const { range, both, time, change } = chosen
  const disabled = chosen.sides === undefined
  const other = swapped({ ...sides, time })
  return (
    <>
      <div className={styles.sides}>
        <SidePicker
          name="A"
          side={sides.a}
          disabled={disabled}
          onChange={(a) => change({ a })}
          period={<PeriodOfA side={sides.a} chosen={chosen} onChange={(a) => change({ a })} />}
        />
        <SidePicker
          name="B"
          side={sides.b}
          disabled={disabled}
          onChange={(b) => change({ b })}
          period={
            <div className={styles.range}>
              <span>Period</span>
              <RangePicker time={range.time} timezone={range.timezone} onChange={range.choose} />
            </div>
          }
        />
      </div>
      <div className={styles.both}>
        <FilterChips
          filter={both}
          onChange={(filter: Filter) => change({ filter })}
          without={['since', 'until']}
          hasKey
        />
        {other && !disabled && (
          <Button look="quiet" onClick={() => change(other)}>
            Swap A and B
          </Button>
        )}
      </div>
    </>
  )
}

const summaryOf = ({ rows, compared }: GroupComparison): string => {
  const notable = rows.filter(({ isNotable }) => isNotable).length
  if (compared === 0) return 'There are too few conversations to compare.'
  if (notable === 0) return `No difference is more than chance (${compared} compared).`
  return `${plural(notable, 'difference is', 'differences are')} more than chance (${compared} compared).`
}

const ofMonitors = new Set(['rate', 'score', 'agreement', 'category', 'field'])

type ResultsProps = { data: GroupComparison; filters: { a: Filter; b: Filter }; isFetching: boolean }

const Results = ({ data, filters, isFetching }: ResultsProps) => {
  const { rows, warnings } = data
  const monitors = rows.filter(({ measure, a, b }) => ofMonitors.has(measure.kind) && a.n + b.n > 0).toSorted(byClarity)
  const silent = rows.filter(({ measure, a, b }) => ofMonitors.has(measure.kind) && a.n + b.n === 0).length
  const others = rows.filter(({ measure }) => !ofMonitors.has(measure.kind))
  if (data.a.conversations === 0 && data.b.conversations === 0) {
    return (
      <Empty title="No conversations on either side">
        <p>Choose a longer period, or another agent, version, or company.</p>
      </Empty>
    )
  }
  return (
    <div aria-busy={isFetching}>
      <p className={styles.summary}>{summaryOf(data)}</p>
      {warnings.map((warning) => (
        <p key={warning} className={styles.note}>
          {warning}
        </p>
      ))}
      {monitors.length + silent > 0 && (
        <Section title="Monitors" context={monitors.length > 1 && 'Clearest difference first'}>
          {monitors.length > 0 && <ComparisonTable label="Monitors" rows={monitors} filters={filters} />}
          {silent > 0 && (
            <p className={styles.note}>{plural(silent, 'monitor has', 'monitors have')} no results on either side.</p>
          )}
        </Section>
      )}
      <Section title="Volume, duration, and cost">
        <ComparisonTable label="Volume, duration, and cost" rows={others} filters={filters} />
      </Section>
      <p className={`${styles.note} ${styles.foot}`}>
        “More than chance” takes into account how many differences were compared: if A and B are alike, at most one page
        in twenty marks a difference. Conversations were not assigned to A and B at random, so a difference can also
        come from other callers, times, or topics.{' '}
        <a href="/docs/guide/analytics#compare-two-groups">How it is calculated</a>
      </p>
    </div>
  )
}

export const Compare = () => {
  const chosen = useChosen()
  const { range, both, sides, error, retry } = chosen
  const compared = { sides: sides ?? { a: {}, b: {} }, both, time: range.time }
  const query = useQuery({
    ...comparisonOptions(compared),
    enabled: sides !== undefined,
    placeholderData: (before) => before,
  })
  const { data } = query
  const filters = filtersOf(compared)
  const fault = error ?? query.error
  return (
    <Page
      title="Compare"
      context="Two versions, agents, companies, or periods, side by side"
      actions={
        data && (
          <Button
            onClick={() =>
              saveFile('Comparison.csv', new Blob([toCsv(cellsOf(data.rows))], { type: 'text/csv;charset=utf-8' }))
            }
          >
            Download CSV
          </Button>
        )
      }
    >
      <Controls chosen={chosen} sides={compared.sides} />
      {fault && <FaultNote error={fault} retry={error ? retry : () => void query.refetch()} />}
      {!data && !fault && <Loading lines={12} />}
      {data && !query.error && (
        <Results
          data={data}
          filters={precedenceOf(compared.sides.a) ? { ...filters, a: withDates(filters.a, data.a.period) } : filters}
          isFetching={query.isFetching}
        />
      )}
    </Page>
  )
}
