// The fields of a filter. Lists, saved views, buckets, scopes, backfills, and exports all use them.

import { useNames } from '../api/names.ts'
import { Chooser, ChooserOfOne } from '../ui/chooser.tsx'
import { Field, Select } from '../ui/controls.tsx'
import { type FieldName, type Filter, withField } from './filter.ts'
import styles from './filter-fields.module.css'
import { MetadataLines, MonitorLines } from './filter-lines.tsx'
import { TimeFields } from './time-fields.tsx'
import { Typed } from './typed.tsx'

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
  { value: 'none', label: 'Not in review' },
  { value: 'pending', label: 'Awaiting review' },
  { value: 'in_progress', label: 'In review' },
  { value: 'completed', label: 'Reviewed' },
]
type FilterFieldsProps = { filter: Filter; onChange: (filter: Filter) => void; without?: FieldName[] }

const whole = (text: string) => (/^\d+$/.test(text.trim()) ? Number(text) : undefined)

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: this is a list of fields, each with its condition
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
          <Field label="Transcript contains">
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
            label="Statuses"
            options={statuses}
            value={filter.statuses ?? []}
            onChange={(value) => set('statuses', value as Filter['statuses'] & object)}
            placeholder="Any"
          />
        )}
        {has('since') && <TimeFields filter={filter} onChange={onChange} />}
        {has('minDurationSeconds') && (
          <Field label="Minimum duration (seconds)">
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
          <Field label="Maximum duration (seconds)">
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
          <Field label="Customer ID">
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
