import { X } from 'lucide-react'
import { useNames } from '../api/names.ts'
import type { Schemas } from '../api/schema.d.ts'
import { Line, Lines } from '../filters/filter-lines.tsx'
import { operators, takesValue } from '../filters/operators.ts'
import { IconButton } from '../ui/button.tsx'
import { Input, Select } from '../ui/controls.tsx'
import styles from './launch.module.css'

type CohortFilter = Schemas['CohortFilter']

const fields = [
  { value: 'channel', label: 'channel' },
  { value: 'direction', label: 'direction' },
  { value: 'companyId', label: 'company' },
  { value: 'metadata', label: 'metadata' },
]
const values: Record<string, { value: string; label: string }[]> = {
  channel: ['call', 'chat', 'voicemail'].map((value) => ({ value, label: value })),
  direction: ['inbound', 'outbound'].map((value) => ({ value, label: value })),
}

type CohortLinesProps = {
  filters: CohortFilter[]
  onChange: (filters: CohortFilter[]) => void
  fault: string | undefined
}

/** Shows the conditions that a conversation must match to be included. */
export const CohortLines = ({ filters, onChange, fault }: CohortLinesProps) => {
  const companies = useNames('companies')
  const replace = (at: number, next: CohortFilter) =>
    onChange(filters.map((filter, index) => (index === at ? next : filter)))
  const start = (field: CohortFilter['field']): CohortFilter => {
    if (field === 'metadata') return { field, key: '', op: 'eq', value: '' }
    const first = (field === 'companyId' ? companies.options : values[field])?.[0]?.value ?? ''
    return { field, op: 'eq', value: first }
  }
  return (
    <Lines title="Conversation filter" add="Add condition" onAdd={() => onChange([...filters, start('channel')])}>
      {filters.map((filter, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions only have their position as a key
        <Line key={at}>
          <Select
            aria-label={`Field of condition ${at + 1}`}
            value={filter.field}
            options={fields}
            onChange={({ target }) => replace(at, start(target.value as CohortFilter['field']))}
          />
          {filter.field === 'metadata' && (
            <Input
              aria-label={`Key of condition ${at + 1}`}
              placeholder="key"
              maxLength={120}
              value={filter.key ?? ''}
              onChange={({ target }) => replace(at, { ...filter, key: target.value })}
            />
          )}
          <Select
            aria-label={`Comparison of condition ${at + 1}`}
            value={filter.op}
            options={filter.field === 'metadata' ? operators : operators.slice(0, 2)}
            onChange={({ target }) => {
              const { value = '', ...rest } = filter
              const op = target.value as CohortFilter['op']
              replace(at, takesValue(op) ? { ...rest, op, value } : { ...rest, op })
            }}
          />
          {filter.field === 'metadata' && takesValue(filter.op) && (
            <Input
              aria-label={`Value of condition ${at + 1}`}
              placeholder="value"
              maxLength={500}
              value={filter.value ?? ''}
              onChange={({ target }) => replace(at, { ...filter, value: target.value })}
            />
          )}
          {filter.field !== 'metadata' && (
            <Select
              aria-label={`Value of condition ${at + 1}`}
              value={filter.value ?? ''}
              options={(filter.field === 'companyId' ? companies.options : values[filter.field]) ?? []}
              onChange={({ target }) => replace(at, { ...filter, value: target.value })}
            />
          )}
          <IconButton
            label={`Remove condition ${at + 1}`}
            icon={<X />}
            onClick={() => onChange(filters.toSpliced(at, 1))}
          />
        </Line>
      ))}
      {fault && <p className={styles.fault}>{fault}</p>}
    </Lines>
  )
}
