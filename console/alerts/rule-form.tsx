import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { soundOptions } from '../boards/sounds.ts'
import { FilterChips } from '../filters/filter-chips.tsx'
import { NotFound } from '../layout/not-found.tsx'
import { OutputKeyField } from '../monitors/output-key-field.tsx'
import { mayHave } from '../monitors/outputs.ts'
import { useMonitors } from '../monitors/use-monitors.ts'
import { destinationsOptions } from '../settings/queries.ts'
import { Button } from '../ui/button.tsx'
import { Chooser, ChooserOfOne } from '../ui/chooser.tsx'
import { Check, Choice, Field, Input, Row, Select } from '../ui/controls.tsx'
import { LeaveGuard } from '../ui/leave-guard.tsx'
import { Page } from '../ui/page.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import styles from './alerts.module.css'
import {
  counts,
  type Draft,
  hasSample,
  hasWindow,
  type Kind,
  needsMonitor,
  outputOf,
  readDraft,
  signalNames,
  sourceNames,
  startOf,
  statisticNames,
} from './draft.ts'
import { Preview } from './preview.tsx'
import { type Rule, refreshAlerts, ruleOptions } from './queries.ts'
import type { NewRuleSearch } from './search.ts'

type FieldsProps = { draft: Draft; change: (part: Partial<Draft>) => void }

const optionsOf = <V extends string>(names: Record<V, string>) =>
  Object.entries<string>(names).map(([value, label]) => ({ value, label }))

const kinds: Record<Kind, string> = {
  rate: 'A monitor’s affected rate',
  score: 'A monitor’s score',
  category: 'Category share',
  field: 'Field value',
  change: 'Change in a monitor’s rate, category, or field',
  spike: 'Spike in a monitor’s rate',
  signal: 'Signal, such as response latency',
  sound: 'Recording measure',
  volume: 'Number of conversations',
  no_data: 'No conversations arrive',
  failures: 'Failures',
  judge_budget: 'Judge budget',
  finding: 'Finding',
  experiment_health: 'Experiment routing',
}

const SelectOf = ({
  draft,
  change,
  name,
  label,
  options,
  hint,
}: FieldsProps & { name: keyof Draft; label: string; options: { value: string; label: string }[]; hint?: string }) => (
  <Field label={label} hint={hint}>
    {(ids) => (
      <Select
        {...ids}
        value={String(draft[name])}
        options={options}
        onChange={({ target }) => change({ [name]: target.value })}
      />
    )}
  </Field>
)

const NumberOf = ({
  draft,
  change,
  name,
  label,
  hint,
  min,
  max,
  required = true,
}: FieldsProps & {
  name: keyof Draft
  label: string
  hint?: string
  min?: number
  max?: number
  required?: boolean
}) => (
  <Field label={label} hint={hint}>
    {(ids) => (
      <Input
        {...ids}
        type="number"
        step="any"
        required={required}
        min={min}
        max={max}
        value={String(draft[name])}
        onChange={({ target }) => change({ [name]: target.value })}
      />
    )}
  </Field>
)

const MonitorOf = ({ draft, change, isOptional }: FieldsProps & { isOptional: boolean }) => {
  const { options } = useNames('monitors')
  const monitorOf = useMonitors()
  const output = outputOf(draft)
  const isOffered = (id: string): boolean => {
    const monitor = monitorOf(id)
    return !monitor || output === undefined || mayHave(monitor, output)
  }
  return (
    <ChooserOfOne
      label="Monitor"
      options={options.filter(({ value }) => isOffered(value))}
      value={draft.monitorId}
      placeholder={isOptional ? 'Any monitor' : ''}
      onChange={(monitorId) => change({ monitorId, category: '', field: '' })}
    />
  )
}

/** Shows the fields that select the measured category or field. */
const OutputOf = ({ draft, change }: FieldsProps) => {
  const monitor = useMonitors()(draft.monitorId)
  const output = outputOf(draft)
  if (!monitor || !output) return null
  return (
    <OutputKeyField
      monitor={monitor}
      output={output}
      none={`Choose a ${output}`}
      value={draft[output]}
      onChange={(value) => change({ [output]: value })}
    />
  )
}

const directions = [
  { value: 'above', label: 'Above' },
  { value: 'below', label: 'Below' },
]

const Direction = (part: FieldsProps) => <SelectOf {...part} name="direction" label="Fires when" options={directions} />

const RateFields = (part: FieldsProps) => (
  <>
    <Row>
      <Direction {...part} />
      <NumberOf {...part} name="threshold" label="Threshold (%)" min={0} max={100} />
    </Row>
    <Choice
      label="Certainty"
      value={part.draft.certainty}
      options={[
        { value: 'interval', label: 'The 95% interval is past the threshold' },
        { value: 'point', label: 'The rate is past the threshold' },
      ]}
      onChange={(certainty) => part.change({ certainty: certainty as Draft['certainty'] })}
    />
  </>
)

const StatisticFields = (part: FieldsProps) => (
  <Row>
    <SelectOf {...part} name="statistic" label="Statistic" options={optionsOf(statisticNames)} />
    <Direction {...part} />
    <NumberOf {...part} name="threshold" label="Threshold" />
  </Row>
)

const comparedNames = { rate: 'Affected rate', category: 'Category share', field: 'Field value' }

const ChangeFields = (part: FieldsProps) => (
  <Row>
    <SelectOf
      {...part}
      name="change"
      label="Direction"
      options={[
        { value: 'up', label: 'Goes up' },
        { value: 'down', label: 'Goes down' },
        { value: 'either', label: 'Either' },
      ]}
    />
    <SelectOf
      {...part}
      name="comparedTo"
      label="Compared to"
      options={[
        { value: 'previous_period', label: 'Previous period' },
        { value: 'same_weekday', label: 'Same time a week earlier' },
      ]}
    />
    <NumberOf
      {...part}
      name="falseAlarmsPerYear"
      label="False alarms per year"
      hint="With a lower number, only larger changes trigger the rule."
    />
  </Row>
)

const eventNames: Record<Draft['events'][number], string> = {
  created: 'Created',
  reopened: 'Reopened',
  raised: 'Priority raised',
}

const FindingFields = (part: FieldsProps) => {
  const { draft, change } = part
  return (
    <>
      <fieldset className={styles.events}>
        <legend>Events</legend>
        {optionsOf(eventNames).map(({ value, label }) => {
          const event = value as Draft['events'][number]
          return (
            <Check
              key={value}
              label={label}
              checked={draft.events.includes(event)}
              onChange={({ target }) =>
                change({
                  events: target.checked ? [...draft.events, event] : draft.events.filter((each) => each !== event),
                })
              }
            />
          )
        })}
      </fieldset>
      <SelectOf
        {...part}
        name="minPriority"
        label="Priority"
        options={[
          { value: 'none', label: 'Any' },
          { value: 'low', label: 'Low or higher' },
          { value: 'medium', label: 'Medium or higher' },
          { value: 'high', label: 'High or higher' },
          { value: 'urgent', label: 'Urgent' },
        ]}
      />
    </>
  )
}

const fields: Record<Kind, (part: FieldsProps) => React.ReactNode> = {
  rate: RateFields,
  score: StatisticFields,
  category: RateFields,
  field: StatisticFields,
  change: ChangeFields,
  spike: () => null,
  signal: (part) => (
    <>
      <SelectOf {...part} name="signal" label="Signal" options={optionsOf(signalNames)} />
      <StatisticFields {...part} />
    </>
  ),
  sound: (part) => (
    <>
      <SelectOf {...part} name="sound" label="Measure" options={soundOptions} />
      <StatisticFields {...part} />
    </>
  ),
  volume: (part) => (
    <Row>
      <Direction {...part} />
      <NumberOf {...part} name="threshold" label="Conversations" min={0} />
    </Row>
  ),
  no_data: (part) => (
    <NumberOf {...part} name="forMinutes" label="No conversations for (minutes)" min={1} max={10_080} />
  ),
  failures: (part) => (
    <Row>
      <SelectOf {...part} name="source" label="Source" options={optionsOf(sourceNames)} />
      <NumberOf {...part} name="threshold" label="At least" min={1} />
    </Row>
  ),
  judge_budget: (part) => <NumberOf {...part} name="threshold" label="Share spent (%)" min={1} max={100} />,
  finding: FindingFields,
  experiment_health: () => null,
}

const Measured = (part: FieldsProps) => {
  const { draft, change } = part
  return (
    <>
      <Row>
        {hasWindow(draft.kind) && (
          <NumberOf {...part} name="windowMinutes" label="Window (minutes)" min={5} max={43_200} />
        )}
        {hasSample(draft.kind) && (
          <NumberOf
            {...part}
            name="minimumSample"
            label="Minimum sample"
            hint="Never fires on fewer conversations."
            min={1}
          />
        )}
        {counts(draft.kind) && (
          <SelectOf
            {...part}
            name="groupBy"
            label="Group by"
            options={[
              { value: 'none', label: 'None' },
              { value: 'agent', label: 'Agent' },
              { value: 'company', label: 'Company' },
              { value: 'version', label: 'Agent version' },
            ]}
          />
        )}
      </Row>
      {counts(draft.kind) && (
        <details>
          <summary>Filter conversations</summary>
          <FilterChips filter={draft.filter} onChange={(filter) => change({ filter })} without={['since', 'until']} />
        </details>
      )}
    </>
  )
}

const Notify = (part: FieldsProps) => {
  const { draft, change } = part
  const destinations = useList(destinationsOptions)
  const members = useNames('members')
  return (
    <>
      <Chooser
        label="Destinations"
        options={(destinations.rows ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={draft.destinationIds}
        onChange={(destinationIds) => change({ destinationIds })}
      />
      <p className={styles.soft}>
        Admins add Slack channels, email addresses, and other destinations in{' '}
        <Link to="/settings/$part" params={{ part: 'destinations' }}>
          Settings
        </Link>
        .
      </p>
      <Row>
        <SelectOf
          {...part}
          name="severity"
          label="Severity"
          options={[
            { value: 'info', label: 'Info' },
            { value: 'warning', label: 'Warning' },
            { value: 'critical', label: 'Critical' },
          ]}
        />
        <NumberOf
          {...part}
          name="repeatEveryMinutes"
          label="Remind every (minutes)"
          hint="Until someone acknowledges the incident."
          min={5}
          max={10_080}
          required={false}
        />
        <ChooserOfOne
          label="Owner"
          options={members.options}
          value={draft.ownerUserId}
          onChange={(ownerUserId) => change({ ownerUserId })}
        />
      </Row>
      <Field label="Runbook URL">
        {(ids) => (
          <Input
            {...ids}
            type="url"
            maxLength={2_048}
            placeholder="https://"
            value={draft.runbookUrl}
            onChange={({ target }) => change({ runbookUrl: target.value })}
          />
        )}
      </Field>
    </>
  )
}

const RuleForm = ({ rule, about }: { rule?: Rule; about?: NewRuleSearch }) => {
  const navigate = useNavigate()
  const [start] = useState(() => startOf(rule, about))
  const [draft, setDraft] = useState(start)
  const isDone = useRef(false)
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const read = readDraft(draft)
  const save = useMutation({
    mutationFn: (body: Extract<typeof read, { body: unknown }>['body']) =>
      answer(
        rule
          ? api.PATCH('/v1/alert-rules/{id}', { params: { path: { id: rule.id } }, body })
          : api.POST('/v1/alert-rules', { body }),
      ),
    onSuccess: async ({ id }) => {
      isDone.current = true
      await refreshAlerts()
      await navigate({ to: '/alerts/rules/$id', params: { id } })
    },
  })
  const KindFields = fields[draft.kind]
  const part = { draft, change }
  return (
    <div className={styles.stack}>
      <form
        className={styles.form}
        aria-label="Alert rule"
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
        <SelectOf {...part} name="kind" label="Condition" options={optionsOf(kinds)} />
        {draft.kind === 'change' && (
          <SelectOf {...part} name="compared" label="Measure" options={optionsOf(comparedNames)} />
        )}
        {(needsMonitor(draft.kind) || draft.kind === 'spike') && (
          <MonitorOf {...part} isOptional={draft.kind === 'spike'} />
        )}
        <OutputOf {...part} />
        <KindFields {...part} />
        <Measured {...part} />
        <Notify {...part} />
        {save.error && <FaultNote error={save.error} />}
        {'lacks' in read && <p className={styles.soft}>{read.lacks}</p>}
        <div>
          <Button type="submit" look="primary" busy={save.isPending} disabled={'lacks' in read}>
            {rule ? 'Save changes' : 'Create rule'}
          </Button>
        </div>
      </form>
      {'body' in read && counts(draft.kind) && (
        <Preview
          request={{
            condition: read.body.condition,
            filter: read.body.filter,
            groupBy: read.body.groupBy,
            windowMinutes: read.body.windowMinutes,
            minimumSample: read.body.minimumSample,
          }}
        />
      )}
    </div>
  )
}

export const NewRule = () => {
  const about = useSearch({ from: '/app/alerts/rules/new' })
  return (
    <Page
      title="New alert rule"
      above={
        <Link to="/alerts" search={{ tab: 'rules' }}>
          Alerts
        </Link>
      }
    >
      <RuleForm about={about} />
    </Page>
  )
}

export const EditRule = () => {
  const { id } = useParams({ from: '/app/alerts/rules/$id/edit' })
  const query = useQuery(ruleOptions(id))
  if (isNotFound(query.error)) return <NotFound />
  return (
    <Page
      title="Edit alert rule"
      above={
        <Link to="/alerts/rules/$id" params={{ id }}>
          {query.data?.name ?? 'Rule'}
        </Link>
      }
    >
      <Await query={query}>{(rule) => <RuleForm rule={rule} />}</Await>
    </Page>
  )
}
