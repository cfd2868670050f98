// The one condition grammar as fields: the same for lists, views, buckets, scopes, backfills and exports.

import { Plus, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useNames } from '../api/names.ts'
import type { Schemas } from '../api/schema.d.ts'
import { instantIn, localIn, ownZone } from '../lib/zones.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Chooser, ChooserOfOne } from '../ui/chooser.tsx'
import { Field, Input, Select } from '../ui/form.tsx'
import styles from './filter-fields.module.css'
import { operators, takesValue } from './operators.ts'

export type Filter = Schemas['Filter']
type FieldName = keyof Filter
type Condition = Schemas['Condition']
type MonitorCondition = Schemas['MonitorCondition']

/** A filter without the fields that ask nothing. */
const withField = <Name extends FieldName>(filter: Filter, name: Name, value: Filter[Name] | undefined): Filter => {
  const { [name]: _, ...rest } = filter
  const asksNothing = value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  return asksNothing ? (rest as Filter) : ({ ...rest, [name]: value } as Filter)
}

/** Text that is handed on when its typing rests, on Enter, and on leaving. */
const Typed = ({
  value,
  onChange,
  ...rest
}: { value: string; onChange: (value: string) => void } & Omit<
  React.ComponentProps<'input'>,
  'onChange' | 'value'
>) => {
  const [text, setText] = useState(value)
  const handedOn = useRef(value)
  useEffect(() => {
    // What was handed on comes back later, and must not overwrite what was typed since.
    if (value !== handedOn.current) setText(value)
    handedOn.current = value
  }, [value])
  const handOn = () => {
    if (text === handedOn.current) return
    handedOn.current = text
    onChange(text)
  }
  const latest = useRef(handOn)
  useEffect(() => {
    latest.current = handOn
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: typing starts the time anew
  useEffect(() => {
    const timer = setTimeout(() => latest.current(), 400)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <Input
      {...rest}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onBlur={handOn}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return
        event.preventDefault()
        handOn()
      }}
    />
  )
}

const channels = [
  { value: 'call', label: 'Calls' },
  { value: 'chat', label: 'Chats' },
  { value: 'voicemail', label: 'Voicemail' },
]
const directions = [
  { value: 'inbound', label: 'Inbound' },
  { value: 'outbound', label: 'Outbound' },
]
const statuses = [
  { value: 'completed', label: 'Completed' },
  { value: 'in_progress', label: 'In progress' },
  { value: 'failed', label: 'Failed' },
]
const reviewStatuses = [
  { value: '', label: 'Any' },
  { value: 'none', label: 'Not to be reviewed' },
  { value: 'pending', label: 'Waiting for review' },
  { value: 'in_progress', label: 'In review' },
  { value: 'completed', label: 'Reviewed' },
]
const results = [
  { value: 'affected', label: 'affected' },
  { value: 'not_affected', label: 'not affected' },
  { value: 'unscored', label: 'unscored' },
  { value: 'all', label: 'with any result' },
]

const Lines = ({
  title,
  add,
  onAdd,
  children,
}: {
  title: string
  add: string
  onAdd: () => void
  children: ReactNode
}) => (
  <fieldset className={styles.lines}>
    <legend>{title}</legend>
    {children}
    <div>
      <Button small look="quiet" onClick={onAdd}>
        <Plus aria-hidden="true" /> {add}
      </Button>
    </div>
  </fieldset>
)

/** The conditions on monitors, and whether all or any must hold. */
const MonitorLines = ({ filter, onChange }: FilterFieldsProps) => {
  const { options } = useNames('monitors')
  const conditions = filter.monitors ?? []
  const set = (next: MonitorCondition[]) => {
    const changed = withField(filter, 'monitors', next)
    onChange(next.length > 1 ? changed : withField(changed, 'match', undefined))
  }
  const change = (at: number, part: Partial<MonitorCondition>) =>
    set(conditions.map((condition, index) => (index === at ? { ...condition, ...part } : condition)))
  const unused = options.find(({ value }) => !conditions.some(({ id }) => id === value))
  return (
    <Lines
      title="Monitors found"
      add="Condition on a monitor"
      onAdd={() => unused && set([...conditions, { id: unused.value, result: 'affected' }])}
    >
      {conditions.map(({ id, result = 'all' }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: another monitor in its place is still the same condition
        <div key={at} className={styles.line}>
          <Select
            aria-label={`Monitor ${at + 1}`}
            value={id}
            options={options.some(({ value }) => value === id) ? options : [...options, { value: id, label: id }]}
            onChange={({ target }) => change(at, { id: target.value })}
          />
          <Select
            aria-label={`Result ${at + 1}`}
            value={result}
            options={results}
            onChange={({ target }) => change(at, { result: target.value as NonNullable<MonitorCondition['result']> })}
          />
          <IconButton
            label={`Remove condition ${at + 1}`}
            icon={<X />}
            onClick={() => set(conditions.toSpliced(at, 1))}
          />
        </div>
      ))}
      {conditions.length > 1 && (
        <Select
          aria-label="How the conditions join"
          value={filter.match ?? 'all'}
          options={[
            { value: 'all', label: 'All of these must hold' },
            { value: 'any', label: 'Any of these must hold' },
          ]}
          onChange={({ target }) => onChange(withField(filter, 'match', target.value === 'any' ? 'any' : undefined))}
        />
      )}
    </Lines>
  )
}

/** The conditions on metadata, all of which must hold. One whose key is not typed yet asks nothing, and stays here. */
export const MetadataLines = ({ filter, onChange }: FilterFieldsProps) => {
  const kept = JSON.stringify(filter.metadata ?? [])
  const [lines, setLines] = useState<Condition[]>(filter.metadata ?? [])
  const handedOn = useRef(kept)
  useEffect(() => {
    // What was handed on comes back later; only what comes from elsewhere takes the place of what stands here.
    if (kept !== handedOn.current) setLines(JSON.parse(kept))
    handedOn.current = kept
  }, [kept])
  const set = (next: Condition[]) => {
    const asked = next.filter(({ key }) => key !== '')
    setLines(next)
    handedOn.current = JSON.stringify(asked)
    onChange(withField(filter, 'metadata', asked))
  }
  const change = (at: number, part: Partial<Condition>) =>
    set(
      lines.map((line, index) => {
        if (index !== at) return line
        const { value = '', ...rest } = { ...line, ...part }
        return takesValue(rest.op) ? { ...rest, value } : rest
      }),
    )
  return (
    <Lines
      title="Metadata"
      add="Condition on metadata"
      onAdd={() => setLines([...lines, { key: '', op: 'eq', value: '' }])}
    >
      {lines.map(({ key, op, value }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a condition has no name but its place
        <div key={at} className={styles.line}>
          <Typed
            aria-label={`Key ${at + 1}`}
            placeholder="key"
            maxLength={120}
            value={key}
            onChange={(text) => change(at, { key: text })}
          />
          <Select
            aria-label={`Comparison ${at + 1}`}
            value={op}
            options={operators}
            onChange={({ target }) => change(at, { op: target.value as Condition['op'] })}
          />
          {takesValue(op) && (
            <Typed
              aria-label={`Value ${at + 1}`}
              placeholder="value"
              maxLength={500}
              value={value ?? ''}
              onChange={(text) => change(at, { value: text })}
            />
          )}
          <IconButton
            label={`Remove condition ${at + 1} on metadata`}
            icon={<X />}
            onClick={() => set(lines.toSpliced(at, 1))}
          />
        </div>
      ))}
    </Lines>
  )
}

type FilterFieldsProps = { filter: Filter; onChange: (filter: Filter) => void; without?: FieldName[] }

const whole = (text: string) => (/^\d+$/.test(text.trim()) ? Number(text) : undefined)

export const FilterFields = ({ filter, onChange, without = [] }: FilterFieldsProps) => {
  const agents = useNames('agents')
  const groups = useNames('agentGroups')
  const companies = useNames('companies')
  const buckets = useNames('buckets')
  const set = <Name extends FieldName>(name: Name, value: Filter[Name] | undefined) =>
    onChange(withField(filter, name, value))
  const has = (name: FieldName) => !without.includes(name)
  const many = (
    name: 'agentIds' | 'agentGroupIds' | 'companyIds',
    label: string,
    options: { value: string; label: string }[],
  ) =>
    has(name) && (
      <Chooser
        label={label}
        options={options}
        value={filter[name] ?? []}
        onChange={(value) => set(name, value)}
        placeholder="Any"
      />
    )
  return (
    <div className={styles.fields}>
      <div className={styles.grid}>
        {has('text') && (
          <Field label="Words said">
            {(ids) => (
              <Typed
                {...ids}
                placeholder='refund "late fee" -test'
                maxLength={500}
                value={filter.text ?? ''}
                onChange={(text) => set('text', text)}
              />
            )}
          </Field>
        )}
        {many('agentIds', 'Agents', agents.options)}
        {many('agentGroupIds', 'Agent groups', groups.options)}
        {many('companyIds', 'Companies', companies.options)}
        {has('channels') && (
          <Chooser
            label="Channels"
            options={channels}
            value={filter.channels ?? []}
            onChange={(value) => set('channels', value as Filter['channels'] & object)}
            placeholder="Any"
          />
        )}
        {has('directions') && (
          <Chooser
            label="Directions"
            options={directions}
            value={filter.directions ?? []}
            onChange={(value) => set('directions', value as Filter['directions'] & object)}
            placeholder="Any"
          />
        )}
        {has('statuses') && (
          <Chooser
            label="States"
            options={statuses}
            value={filter.statuses ?? []}
            onChange={(value) => set('statuses', value as Filter['statuses'] & object)}
            placeholder="Any"
          />
        )}
        {has('since') && (
          <Field label="Started from">
            {(ids) => (
              <Input
                {...ids}
                type="datetime-local"
                value={filter.since ? localIn(filter.since, ownZone()) : ''}
                onChange={({ target }) => set('since', instantIn(target.value, ownZone()))}
              />
            )}
          </Field>
        )}
        {has('until') && (
          <Field label="Started before">
            {(ids) => (
              <Input
                {...ids}
                type="datetime-local"
                value={filter.until ? localIn(filter.until, ownZone()) : ''}
                onChange={({ target }) => set('until', instantIn(target.value, ownZone()))}
              />
            )}
          </Field>
        )}
        {has('minDurationSeconds') && (
          <Field label="At least this many seconds">
            {(ids) => (
              <Typed
                {...ids}
                type="number"
                min={0}
                value={String(filter.minDurationSeconds ?? '')}
                onChange={(text) => set('minDurationSeconds', whole(text))}
              />
            )}
          </Field>
        )}
        {has('maxDurationSeconds') && (
          <Field label="At most this many seconds">
            {(ids) => (
              <Typed
                {...ids}
                type="number"
                min={0}
                value={String(filter.maxDurationSeconds ?? '')}
                onChange={(text) => set('maxDurationSeconds', whole(text))}
              />
            )}
          </Field>
        )}
        {has('customerId') && (
          <Field label="Customer">
            {(ids) => (
              <Typed
                {...ids}
                maxLength={255}
                value={filter.customerId ?? ''}
                onChange={(text) => set('customerId', text)}
              />
            )}
          </Field>
        )}
        {has('reviewStatus') && (
          <Field label="Review">
            {(ids) => (
              <Select
                {...ids}
                options={reviewStatuses}
                value={filter.reviewStatus ?? ''}
                onChange={({ target }) =>
                  set('reviewStatus', (target.value || undefined) as Filter['reviewStatus'] & string)
                }
              />
            )}
          </Field>
        )}
        {has('bucketId') && buckets.options.length > 0 && (
          <ChooserOfOne
            label="Bucket"
            options={buckets.options}
            value={filter.bucketId ?? null}
            onChange={(value) => set('bucketId', value ?? undefined)}
            placeholder="Any"
          />
        )}
      </div>
      <div className={styles.grid}>
        {has('monitors') && <MonitorLines filter={filter} onChange={onChange} />}
        {has('metadata') && <MetadataLines filter={filter} onChange={onChange} />}
      </div>
    </div>
  )
}
