import { ListFilter, Search } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { plural } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { useKeys } from '../ui/keys.tsx'
import { lazy } from '../ui/lazy.tsx'
import { FaultNote } from '../ui/states.tsx'
import { useCount } from './count.ts'
import type { Filter } from './filter.ts'
import styles from './filter-bar.module.css'

const FilterFields = lazy(async () => (await import('./filter-fields.tsx')).FilterFields)

/** Describes a filter in words, with the number of conversations. */
export const FilterWords = ({ filter }: { filter: Filter }) => {
  const { data, error } = useCount(filter)
  if (error && !data) return <FaultNote error={error} />
  return (
    <p className={styles.words} aria-live="polite">
      {data ? (
        <>
          <strong>{plural(data.count, 'conversation')}</strong>{' '}
          {Object.keys(filter).length > 0 && <span>{data.explanation}</span>}
        </>
      ) : (
        'Counting…'
      )}
    </p>
  )
}

type FilterBarProps = {
  filter: Filter
  onChange: (filter: Filter) => void
  /** At the end of the line. */
  children?: ReactNode
}

/** Shows the filter of a list: in words and as fields. */
export const FilterBar = ({ filter, onChange, children }: FilterBarProps) => {
  const [open, setOpen] = useState(false)
  const [text, setText] = useState<string>()
  const isEmpty = Object.keys(filter).length === 0
  useKeys({ f: { does: 'Show or hide filters', run: () => setOpen(!open) } })
  return (
    <div className={styles.bar}>
      <div className={styles.line}>
        <search>
          <form
            className={styles.search}
            onSubmit={(event) => {
              event.preventDefault()
              const { text: _, ...rest } = filter
              const said = (text ?? filter.text ?? '').trim()
              setText(undefined)
              onChange(said === '' ? rest : { ...rest, text: said })
            }}
          >
            <Search aria-hidden="true" />
            <input
              type="search"
              aria-label="Search transcripts"
              placeholder="Search transcripts…"
              maxLength={500}
              value={text ?? filter.text ?? ''}
              onChange={({ target }) => setText(target.value)}
            />
          </form>
        </search>
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          <ListFilter aria-hidden="true" /> Filter
        </Button>
        {!isEmpty && (
          <Button look="quiet" onClick={() => onChange({})}>
            Clear
          </Button>
        )}
        {children}
      </div>
      {open && (
        <section className={styles.panel} aria-label="Filter">
          <FilterFields filter={filter} onChange={onChange} />
        </section>
      )}
      <FilterWords filter={filter} />
    </div>
  )
}
