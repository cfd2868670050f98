import { type ReactNode, useEffect, useState } from 'react'
import { useNames } from '../api/names.ts'
import { useMe } from '../api/session.ts'
import { sentenceCase } from '../lib/format.ts'
import { splitList } from '../lib/split-list.ts'
import { Button } from '../ui/button.tsx'
import { Input, type Option, Select } from '../ui/controls.tsx'
import styles from './findings.module.css'
import type { FindingsFilter } from './search.ts'
import { priorities, priorityWords, statuses, typeWords } from './words.tsx'

type FiltersProps = {
  filter: FindingsFilter
  onChange: (filter: FindingsFilter) => void
  /** Whether there is a status filter. The board doesn't need one, because it has a column for each status. */
  hasStatus: boolean
  children: ReactNode
}

export const Filters = ({ filter, onChange, hasStatus, children }: FiltersProps) => {
  const { member } = useMe()
  const members = useNames('members')
  const monitors = useNames('monitors')
  const [tags, setTags] = useState(filter.tags ?? '')
  useEffect(() => setTags(filter.tags ?? ''), [filter.tags])
  const set = (name: keyof FindingsFilter, value: string) => {
    const { [name]: _, ...rest } = filter
    onChange(value === '' ? rest : { ...rest, [name]: value })
  }
  const select = (name: keyof FindingsFilter, label: string, any: string, options: Option[]) => {
    const value = filter[name] ?? ''
    // The URL may contain several values.
    const isKnown = value === '' || options.some((option) => option.value === value)
    return (
      <Select
        aria-label={label}
        value={value}
        options={[{ value: '', label: any }, ...options, ...(isKnown ? [] : [{ value, label: 'Multiple' }])]}
        onChange={({ target }) => set(name, target.value)}
      />
    )
  }
  const people = [
    { value: member.userId, label: 'Me' },
    ...members.options.filter(({ value }) => value !== member.userId),
  ]
  return (
    <div className={styles.filters}>
      {hasStatus &&
        select(
          'status',
          'Status',
          'Any status',
          statuses.map((value) => ({ value, label: sentenceCase(value) })),
        )}
      {select(
        'priority',
        'Priority',
        'Any priority',
        priorities.map((value) => ({ value, label: priorityWords[value] })),
      )}
      {select('assigneeUserId', 'Assignee', 'Any assignee', people)}
      {select(
        'findingType',
        'Type',
        'Any type',
        Object.entries(typeWords).map(([value, label]) => ({ value, label })),
      )}
      {select('monitorId', 'Monitor', 'Any monitor', monitors.options)}
      <form
        className={styles.tags}
        onSubmit={(event) => {
          event.preventDefault()
          set('tags', splitList(tags).join(','))
        }}
      >
        <Input aria-label="Tags" placeholder="Tags" value={tags} onChange={({ target }) => setTags(target.value)} />
      </form>
      {Object.keys(filter).length > 0 && (
        <Button look="quiet" onClick={() => onChange({})}>
          Clear
        </Button>
      )}
      <div className={styles.layout}>{children}</div>
    </div>
  )
}
