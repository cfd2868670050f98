// Shows the fields for an export of conversations, shared with export schedules.

import { Columns3 } from 'lucide-react'
import { useState } from 'react'
import { useNames } from '../api/names.ts'
import { useMe } from '../api/session.ts'
import { useColumnLabel } from '../conversations/columns.tsx'
import { defaultColumns } from '../conversations/default-columns.ts'
import type { FieldName } from '../filters/filter.ts'
import { FilterChips } from '../filters/filter-chips.tsx'
import { Button } from '../ui/button.tsx'
import { Chooser } from '../ui/chooser.tsx'
import { Check, Choice, Field, Select } from '../ui/controls.tsx'
import { lazy } from '../ui/lazy.tsx'
import { listFormats } from './formats.ts'
import styles from './new-export.module.css'
import type { List } from './queries.ts'

const ColumnsDialog = lazy(async () => (await import('../conversations/columns-dialog.tsx')).ColumnsDialog)

const mostMonitors = 20

const orders = [
  { value: 'desc', label: 'Newest first' },
  { value: 'asc', label: 'Oldest first' },
]

type FieldsProps = { list: List; change: (part: Partial<List>) => void; without?: FieldName[] }

const Columns = ({ list: { columns }, change }: FieldsProps) => {
  const [open, setOpen] = useState(false)
  const labelOf = useColumnLabel()
  return (
    <div className={styles.list}>
      <p>
        <span className={styles.label}>Columns</span>
        {columns.map(({ key }) => labelOf(key)).join(', ')}
      </p>
      <Button small onClick={() => setOpen(true)}>
        <Columns3 aria-hidden="true" /> Choose columns
      </Button>
      {open && (
        <ColumnsDialog
          columns={columns}
          rows={[]}
          onChange={(next) => change({ columns: next ?? defaultColumns })}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  )
}

const Order = ({ list: { sort }, change }: FieldsProps) => {
  const labelOf = useColumnLabel()
  const { by, direction = 'desc' } = sort ?? { by: 'startedAt' }
  const options =
    by === 'startedAt'
      ? orders
      : [...orders, { value: by, label: `${labelOf(by)}, ${direction === 'asc' ? 'ascending' : 'descending'}` }]
  return (
    <Field label="Order">
      {(ids) => (
        <Select
          {...ids}
          value={by === 'startedAt' ? direction : by}
          options={options}
          onChange={({ target: { value } }) => {
            if (value === 'asc' || value === 'desc') change({ sort: { by: 'startedAt', direction: value } })
          }}
        />
      )}
    </Field>
  )
}

export const ListFields = ({ list, change, without = [] }: FieldsProps) => {
  const { entitlements } = useMe()
  const monitors = useNames('monitors')
  const results = list.results ?? []
  return (
    <>
      <div className={styles.list}>
        <span className={styles.label}>Conversations</span>
        <FilterChips filter={list.filter} onChange={(filter) => change({ filter })} without={without} />
      </div>
      <Columns list={list} change={change} />
      <Order list={list} change={change} />
      <Choice
        label="Format"
        value={list.format ?? 'csv'}
        options={listFormats}
        onChange={(format) => change({ format: format as NonNullable<List['format']> })}
      />
      <Check
        label="Include transcripts"
        hint="Adds a column with each conversation’s turns. Choose JSON Lines or Parquet for long transcripts."
        checked={list.transcripts ?? false}
        onChange={({ target }) => change({ transcripts: target.checked })}
      />
      <Check
        label="Include regions"
        hint="Adds a column with each recording’s marked regions."
        checked={list.regions ?? false}
        onChange={({ target }) => change({ regions: target.checked })}
      />
      {entitlements.monitors && monitors.options.length > 0 && (
        <>
          <Chooser
            label="Results"
            hint={`Adds the result, score, version, and time of up to ${mostMonitors} monitors.`}
            options={monitors.options}
            value={results}
            onChange={(ids) => change({ results: ids.slice(0, mostMonitors) })}
            placeholder="Add monitor"
          />
          {results.length > 0 && (
            <Check
              label="Include reasoning"
              hint="Adds a column with each monitor’s reasoning."
              checked={list.reasoning ?? false}
              onChange={({ target }) => change({ reasoning: target.checked })}
            />
          )}
        </>
      )}
    </>
  )
}
