import { Search } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { plural } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { FaultNote } from '../ui/states.tsx'
import { useCount } from './count.ts'
import type { Filter } from './filter.ts'
import styles from './filter-bar.module.css'
import { FilterChips } from './filter-chips.tsx'

/** Describes a filter in words, with the number of conversations. */
export const FilterWords = ({ filter }: { filter: Filter }) => {
  const { data, error } = useCount(filter)
  if (error && !data) return <FaultNote error={error} />
  return (
    <p className={styles.words} aria-live="polite">
      {data ? (
        <>
          <strong>{plural(data.count, 'conversation')}</strong>{' '}
          {Object.keys(filter).length > 0 && <span>{data.explanation.replace(/^conversations, /, '')}</span>}
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
  /** Shown at the end of the line. */
  children?: ReactNode
}

/** The pause in typing after which the list is updated. */
const pauseMs = 350

/** Shows a search field for words. The list is updated during typing. */
const SearchField = ({ text, onChange }: { text: string; onChange: (text: string) => void }) => {
  const [typed, setTyped] = useState<string>()
  const latest = useRef(onChange)
  useEffect(() => {
    latest.current = onChange
  })
  useEffect(() => {
    if (typed === undefined) return
    const timer = setTimeout(() => latest.current(typed.trim()), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <search>
      <form
        className={styles.search}
        onSubmit={(event) => {
          event.preventDefault()
          onChange((typed ?? text).trim())
          setTyped(undefined)
        }}
      >
        <Search aria-hidden="true" />
        <input
          type="search"
          aria-label="Search transcripts"
          placeholder="Search transcripts…"
          maxLength={500}
          value={typed ?? text}
          onChange={({ target }) => setTyped(target.value)}
          onBlur={() => {
            if (typed !== undefined && typed.trim() !== text) onChange(typed.trim())
            setTyped(undefined)
          }}
        />
      </form>
    </search>
  )
}

/** Shows the filter of a list: a search, chips, and the filter in words. */
export const FilterBar = ({ filter, onChange, children }: FilterBarProps) => {
  const { text = '', ...others } = filter
  const isEmpty = Object.keys(filter).length === 0
  const search = (said: string) => {
    if (said !== text) onChange(said === '' ? others : { ...others, text: said })
  }
  return (
    <div className={styles.bar}>
      <div className={styles.line}>
        <SearchField text={text} onChange={search} />
        <FilterChips
          filter={others}
          onChange={(next) => onChange(text === '' ? next : { ...next, text })}
          without={['text']}
          hasKey
        />
        {!isEmpty && (
          <Button look="quiet" onClick={() => onChange({})}>
            Clear
          </Button>
        )}
        {children}
      </div>
      <FilterWords filter={filter} />
    </div>
  )
}
