import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { namesOptions, useNames } from '../api/names.ts'
import { useMay, useMe } from '../api/session.ts'
import { signalLabel, signalNames } from '../conversations/signal-names.ts'
import { FilterChips } from '../filters/filter-chips.tsx'
import { rangeInWords } from '../filters/range.ts'
import { NotFound } from '../layout/not-found.tsx'
import { useDeferred } from '../lib/deferred.ts'
import { ownZone } from '../lib/zones.ts'
import { OutputKeyField } from '../monitors/output-key-field.tsx'
import { mayHave, mayNameCategories } from '../monitors/outputs.ts'
import type { Monitor } from '../monitors/queries.ts'
import { useMonitors } from '../monitors/use-monitors.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import { Choice, Field, Input, type Option, Row, Select } from '../ui/controls.tsx'
import { LeaveGuard } from '../ui/leave-guard.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import { stored, widthNames } from './arrange.ts'
import styles from './boards.module.css'
import { changeCharts } from './changes.ts'
import { ChartCard } from './chart.tsx'
import {
  type Draft,
  dimensionOptions,
  hasStatistic,
  intervalNames,
  isOfJudges,
  isOfMonitor,
  kindNames,
  mayHaveGroups,
  mayHaveInterval,
  measureNames,
  readDraft,
  startDraft,
  statisticNames,
  suggestTitle,
} from './draft.ts'
import { type Board, boardOptions, type ChartInput, refreshBoards } from './queries.ts'
import { soundOptions } from './sounds.ts'

type FieldsProps = { draft: Draft; change: (part: Partial<Draft>) => void }

type SelectOfProps<Name extends keyof Draft> = FieldsProps & { name: Name; label: string; options: Option[] }

const SelectOf = <Name extends 'measure' | 'signal' | 'sound' | 'statistic' | 'interval'>({
  draft,
  change,
  name,
  label,
  options,
}: SelectOfProps<Name>) => (
  <Field label={label}>
    {(ids) => (
      <Select
        {...ids}
        value={draft[name]}
        options={options}
        onChange={({ target }) => change({ [name]: target.value } as Partial<Draft>)}
      />
    )}
  </Field>
)

/** Returns the available measures. Without the entitlement, the API rejects measures that use monitors and metrics. */
const useMeasures = (): Option[] => {
  const { entitlements } = useMe()
  return measureNames.filter(({ value }) => {
    if (isOfMonitor(value) || isOfJudges(value)) return entitlements.monitors
    return value !== 'metric' || entitlements.metrics
  })
}

const isOffered = (measure: Draft['measure'], monitor: Monitor | undefined): boolean => {
  if (!monitor || (measure !== 'category' && measure !== 'field')) return true
  return mayHave(monitor, measure)
}

/** Shows the fields that select the measured category or field. */
const OutputFields = ({ draft, change }: FieldsProps) => {
  const monitor = useMonitors()(draft.monitorId)
  if (!monitor) return null
  const output = draft.measure === 'category' ? 'category' : 'field'
  return (
    <OutputKeyField
      monitor={monitor}
      output={output}
      none={output === 'category' ? 'Each category' : 'Choose a field'}
      {...(output === 'category' && { hint: 'Default: each category.' })}
      value={draft[output]}
      onChange={(value) => change({ [output]: value })}
    />
  )
}

const MeasureFields = (fields: FieldsProps) => {
  const { draft, change } = fields
  const monitors = useNames('monitors')
  const monitorOf = useMonitors()
  const { measure } = draft
  return (
    <>
      <SelectOf {...fields} name="measure" label="Measure" options={useMeasures()} />
      {(isOfMonitor(measure) || isOfJudges(measure)) && (
        <ChooserOfOne
          label="Monitor"
          {...(isOfJudges(measure) && { hint: 'Default: all judges.' })}
          options={monitors.options.filter(({ value }) => isOffered(measure, monitorOf(value)))}
          value={draft.monitorId}
          onChange={(monitorId) => change({ monitorId, category: '', field: '' })}
          placeholder="Search monitors"
        />
      )}
      {measure === 'signal' && (
        <SelectOf
          {...fields}
          name="signal"
          label="Signal"
          options={signalNames.map((value) => ({ value, label: signalLabel(value) }))}
        />
      )}
      {measure === 'sound' && <SelectOf {...fields} name="sound" label="Recording measure" options={soundOptions} />}
      {measure === 'metric' && (
        <Field label="Metric key">
          {(ids) => (
            <Input
              {...ids}
              required
              maxLength={120}
              autoComplete="off"
              value={draft.metric}
              onChange={({ target }) => change({ metric: target.value })}
            />
          )}
        </Field>
      )}
      {(measure === 'category' || measure === 'field') && <OutputFields {...fields} />}
      {hasStatistic(measure) && <SelectOf {...fields} name="statistic" label="Statistic" options={statisticNames} />}
    </>
  )
}

const useDimensions = (): Option[] => {
  const { data } = useQuery({
    queryKey: ['metadata-keys'],
    queryFn: ({ signal }) => answer(api.GET('/v1/metadata-keys', { signal })),
    staleTime: 60_000,
  })
  const { entitlements } = useMe()
  const monitors = useQuery({ ...namesOptions('monitors'), enabled: entitlements.monitors })
  const naming = ((monitors.data ?? []) as Monitor[]).filter(mayNameCategories)
  return dimensionOptions(
    (data?.data ?? []).map(({ key }) => key),
    naming.map(({ id, name }) => ({ value: id, label: name })),
  )
}

/** Shows the groups. Includes groups that conversations no longer have. */
const GroupFields = ({ draft, change }: FieldsProps) => {
  const known = useDimensions()
  const [first, second] = draft.groupBy
  const optionsOf = (value: string, other: string): Option[] => [
    { value: '', label: 'None' },
    ...known.filter((option) => option.value !== other),
    ...(value === '' || known.some((option) => option.value === value) ? [] : [{ value, label: value }]),
  ]
  return (
    <Row>
      <Field label="Group by">
        {(ids) => (
          <Select
            {...ids}
            value={first}
            options={optionsOf(first, second)}
            onChange={({ target }) => change({ groupBy: [target.value, second] })}
          />
        )}
      </Field>
      <Field label="Then by">
        {(ids) => (
          <Select
            {...ids}
            value={second}
            options={optionsOf(second, first)}
            onChange={({ target }) => change({ groupBy: [first, target.value] })}
          />
        )}
      </Field>
    </Row>
  )
}

const intervalsOf = ({ kind }: Draft): Option[] =>
  kind === 'bar' ? [{ value: '', label: 'No' }, ...intervalNames] : intervalNames

const Fields = ({ draft, change, suggested }: FieldsProps & { suggested: string }) => (
  <>
    <MeasureFields draft={draft} change={change} />
    <Choice
      label="Chart type"
      value={draft.kind}
      options={kindNames}
      onChange={(kind) => change({ kind: kind as Draft['kind'] })}
    />
    {mayHaveInterval(draft.kind) && (
      <SelectOf
        draft={draft.kind === 'line' && draft.interval === '' ? { ...draft, interval: 'day' } : draft}
        change={change}
        name="interval"
        label="Over time"
        options={intervalsOf(draft)}
      />
    )}
    {mayHaveGroups(draft.kind) && <GroupFields draft={draft} change={change} />}
    <section aria-label="Chart filter" className={styles.form}>
      <h2>Chart filter</h2>
      <FilterChips filter={draft.filter} onChange={(filter) => change({ filter })} without={['since', 'until']} />
      <p className={styles.soft}>Added to the board’s filter. Replaces board conditions of the same kind.</p>
    </section>
    <Field label="Title" hint={`Default: ${suggested}`}>
      {(ids) => (
        <Input
          {...ids}
          maxLength={255}
          autoComplete="off"
          value={draft.title}
          onChange={({ target }) => change({ title: target.value })}
        />
      )}
    </Field>
    <Choice
      label="Width"
      value={draft.width}
      options={widthNames}
      onChange={(width) => change({ width: width as Draft['width'] })}
    />
  </>
)

/** Shows the chart as it will appear on the board. */
const Preview = ({ board, chart }: { board: Board; chart: ChartInput }) => {
  const { filter, compareTo } = board
  const zoned = filter.period ? { ...filter, period: { ...filter.period, timezone: ownZone() } } : filter
  const steady = useDeferred(chart, 300)
  return (
    <Section title="Preview" context={rangeInWords(zoned, ownZone())}>
      <ChartCard chart={steady} shown={{ filter: zoned, compareTo: compareTo ?? undefined }} />
    </Section>
  )
}

const Editor = ({ board, chartId }: { board: Board; chartId: string }) => {
  const navigate = useNavigate()
  const chart = board.charts.find(({ id }) => id === chartId)
  const [start] = useState(() => startDraft(chart))
  const [draft, setDraft] = useState(start)
  const isDone = useRef(false)
  const monitors = useNames('monitors')
  const monitorName = monitors.options.find(({ value }) => value === draft.monitorId)?.label
  const read = readDraft(draft, monitorName)
  const save = useMutation({
    mutationFn: (changed: ChartInput) =>
      changeCharts(board.id, (charts) => stored(charts, { ...changed, ...(chart && { id: chart.id }) })),
    onSuccess: async () => {
      isDone.current = true
      await refreshBoards()
      await navigate({ to: '/boards/$id', params: { id: board.id } })
    },
  })
  return (
    <div className={styles.editor}>
      <form
        className={styles.form}
        aria-label="Chart"
        onSubmit={(event) => {
          event.preventDefault()
          if ('chart' in read && !save.isPending) save.mutate(read.chart)
        }}
      >
        <LeaveGuard isDirty={() => draft !== start && !isDone.current} />
        <Fields
          draft={draft}
          change={(part) => setDraft((before) => ({ ...before, ...part }))}
          suggested={suggestTitle(draft, monitorName)}
        />
        {save.error && <FaultNote error={save.error} />}
        {'lacks' in read && <p className={styles.soft}>{read.lacks}</p>}
        <div className={styles.ways}>
          <Button type="submit" look="primary" busy={save.isPending} disabled={'lacks' in read}>
            {chart ? 'Save chart' : 'Add chart'}
          </Button>
          <ButtonLink look="quiet" to="/boards/$id" params={{ id: board.id }}>
            Cancel
          </ButtonLink>
        </div>
      </form>
      {'chart' in read ? (
        <Preview board={board} chart={read.chart} />
      ) : (
        <Section title="Preview">
          <p className={styles.soft}>Appears once the chart is complete.</p>
        </Section>
      )}
    </div>
  )
}

const isNew = (chartId: string): boolean => chartId === 'new'

export const ChartEditor = () => {
  const { id, chartId } = useParams({ from: '/app/boards/$id/charts/$chartId' })
  const query = useQuery(boardOptions(id))
  const board = query.data
  const mayWrite = useMay('member')
  if (isNotFound(query.error) || !mayWrite) return <NotFound />
  const isKnown = isNew(chartId) || board?.charts.some((chart) => chart.id === chartId)
  // Built-in boards can't be changed.
  if (board && (board.isBuiltIn || !isKnown)) return <NotFound />
  return (
    <Page
      title={isNew(chartId) ? 'Add chart' : 'Edit chart'}
      above={
        <Link to="/boards/$id" params={{ id }}>
          {board?.name ?? 'Board'}
        </Link>
      }
    >
      <Await query={query} lines={8}>
        {(loaded) => <Editor key={chartId} board={loaded} chartId={chartId} />}
      </Await>
    </Page>
  )
}
