import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { Calls, FileForm, Monitors, zones } from '../exports/fields.tsx'
import { startOfList } from '../exports/list-draft.ts'
import { ListFields } from '../exports/list-fields.tsx'
import type { ExportSearch } from '../exports/search.ts'
import { NotFound } from '../layout/not-found.tsx'
import { ownZone } from '../lib/zones.ts'
import { Button } from '../ui/button.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import { Choice, Field, Input, Row, Select } from '../ui/controls.tsx'
import { LeaveGuard } from '../ui/leave-guard.tsx'
import { Page } from '../ui/page.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import { Destination } from './destination.tsx'
import { changesOf, type Draft, readDraft, startOf, startWith } from './draft.ts'
import { refreshSchedules, type Schedule, scheduleOptions } from './queries.ts'
import styles from './schedules.module.css'
import { weekdays } from './words.tsx'

type FieldsProps = { draft: Draft; change: (part: Partial<Draft>) => void }

const NumberInput = ({
  draft,
  change,
  name,
  label,
  hint,
  max,
}: FieldsProps & {
  name: 'minute' | 'day' | 'amount' | 'settleMinutes'
  label: string
  hint?: string
  max: number
}) => (
  <Field label={label} hint={hint}>
    {(ids) => (
      <Input
        {...ids}
        type="number"
        required
        min={name === 'minute' || name === 'settleMinutes' ? 0 : 1}
        max={max}
        value={draft[name]}
        onChange={({ target }) => change({ [name]: target.value })}
      />
    )}
  </Field>
)

const frequencies = [
  { value: 'hour', label: 'Hourly' },
  { value: 'day', label: 'Daily' },
  { value: 'week', label: 'Weekly' },
  { value: 'month', label: 'Monthly' },
]

const When = ({ draft, change }: FieldsProps) => (
  <>
    <Choice
      label="Frequency"
      value={draft.every}
      options={frequencies}
      onChange={(every) => change({ every: every as Draft['every'] })}
    />
    <Row>
      {draft.every === 'hour' && <NumberInput draft={draft} change={change} name="minute" label="Minute" max={59} />}
      {draft.every === 'week' && (
        <Field label="Weekday">
          {(ids) => (
            <Select
              {...ids}
              value={draft.weekday}
              options={weekdays}
              onChange={({ target }) => change({ weekday: target.value as Draft['weekday'] })}
            />
          )}
        </Field>
      )}
      {draft.every === 'month' && (
        <NumberInput draft={draft} change={change} name="day" label="Day of month" max={31} />
      )}
      {draft.every !== 'hour' && (
        <Field label="Time">
          {(ids) => (
            <Input
              {...ids}
              type="time"
              required
              value={draft.at}
              onChange={({ target }) => change({ at: target.value })}
            />
          )}
        </Field>
      )}
      <ChooserOfOne
        label="Time zone"
        options={zones}
        value={draft.timezone}
        onChange={(timezone) => change({ timezone: timezone ?? ownZone() })}
      />
    </Row>
  </>
)

const windows = [
  { value: 'since_last_run', label: 'Since the last run' },
  { value: 'hours', label: 'Last N hours' },
  { value: 'days', label: 'Last N days' },
]

const Which = ({ draft, change }: FieldsProps) => (
  <>
    <Choice
      label="Period"
      value={draft.window}
      options={windows}
      onChange={(window) => change({ window: window as Draft['window'] })}
    />
    <Row>
      {draft.window !== 'since_last_run' && (
        <NumberInput
          draft={draft}
          change={change}
          name="amount"
          label={draft.window === 'hours' ? 'Hours' : 'Days'}
          max={draft.window === 'hours' ? 8_784 : 366}
        />
      )}
      <NumberInput
        draft={draft}
        change={change}
        name="settleMinutes"
        label="Delay (minutes)"
        hint="The period ends this long before the run. Conversations that arrive later aren’t exported."
        max={10_080}
      />
    </Row>
  </>
)

const contents = [
  { value: 'results', label: 'Monitor results' },
  { value: 'list', label: 'Conversation list' },
]

/** Shows the fields for the contents of each run. The contents of an existing schedule can't change. */
const What = ({ draft, change, isNew }: FieldsProps & { isNew: boolean }) => {
  const changeWhat = (part: Partial<Draft['what']>) => change({ what: { ...draft.what, ...part } })
  const { list } = draft
  const choose = (value: string) => {
    const { timezone: _, ...fresh } = startOfList()
    change({ list: value === 'list' ? fresh : undefined })
  }
  return (
    <>
      {isNew && <Choice label="Content" value={list ? 'list' : 'results'} options={contents} onChange={choose} />}
      {list ? (
        <ListFields
          list={list}
          change={(part) => change({ list: { ...list, ...part } })}
          without={['since', 'until', 'period']}
        />
      ) : (
        <>
          <Monitors draft={draft.what} change={changeWhat} />
          <Calls draft={draft.what} change={changeWhat} />
          <FileForm draft={draft.what} change={changeWhat} />
        </>
      )}
    </>
  )
}

const ScheduleForm = ({ schedule, given = {} }: { schedule?: Schedule; given?: ExportSearch }) => {
  const navigate = useNavigate()
  const [start] = useState(() => (schedule ? startOf(schedule) : startWith(given)))
  const [draft, setDraft] = useState(start)
  const isDone = useRef(false)
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const read = readDraft(draft)
  const save = useMutation({
    mutationFn: (body: Extract<typeof read, { body: unknown }>['body']) =>
      answer(
        schedule
          ? api.PATCH('/v1/export-schedules/{id}', {
              params: { path: { id: schedule.id } },
              body: changesOf(start, body),
            })
          : api.POST('/v1/export-schedules', { body }),
      ),
    onSuccess: async ({ id }) => {
      isDone.current = true
      await refreshSchedules()
      await navigate({ to: '/exports/schedules/$id', params: { id } })
    },
  })
  return (
    <form
      className={styles.form}
      aria-label="Export schedule"
      onSubmit={(event) => {
        event.preventDefault()
        if ('body' in read && !save.isPending) save.mutate(read.body)
      }}
    >
      <LeaveGuard isDirty={() => draft !== start && !isDone.current} />
      <Field label="Name">
        {(ids) => (
          <Input
            {...ids}
            required
            maxLength={100}
            autoComplete="off"
            value={draft.name}
            onChange={({ target }) => change({ name: target.value })}
          />
        )}
      </Field>
      <What draft={draft} change={change} isNew={schedule === undefined} />
      <When draft={draft} change={change} />
      <Which draft={draft} change={change} />
      <Destination draft={draft} change={change} isNew={schedule?.destination.type !== 's3'} />
      {save.error && <FaultNote error={save.error} />}
      {'missing' in read && <p className={styles.soft}>{read.missing}</p>}
      <div>
        <Button type="submit" look="primary" busy={save.isPending} disabled={'missing' in read}>
          {schedule ? 'Save changes' : 'Create schedule'}
        </Button>
      </div>
    </form>
  )
}

export const NewSchedule = () => {
  const given = useSearch({ from: '/app/exports/schedules/new' })
  return (
    <Page title="New export schedule" above={<Link to="/exports/schedules">Export schedules</Link>}>
      <ScheduleForm given={given} />
    </Page>
  )
}

export const EditSchedule = () => {
  const { id } = useParams({ from: '/app/exports/schedules/$id/edit' })
  const query = useQuery(scheduleOptions(id))
  if (isNotFound(query.error)) return <NotFound />
  return (
    <Page
      title="Edit export schedule"
      above={
        <Link to="/exports/schedules/$id" params={{ id }}>
          {query.data?.name ?? 'Schedule'}
        </Link>
      }
    >
      <Await query={query}>{(schedule) => <ScheduleForm schedule={schedule} />}</Await>
    </Page>
  )
}
