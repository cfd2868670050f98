import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type Ref, useEffect, useId, useRef, useState } from 'react'
import { formatCount } from '../lib/format.ts'
import styles from './filter-chips.module.css'
import type { Part, Vocabulary } from './say-phrase.ts'
import type { Known, Suggestion } from './suggest-phrases.ts'

const loadSuggestions = async () => ({ suggest: (await import('./suggest-phrases.ts')).suggest })

type PhraseProps = {
  label: string
  placeholder?: string
  typed: string
  onType: (typed: string) => void
  /** The typed text without `not` and `or`, which suggestions repeat. */
  phrase: string
  prefix: string
  words: Vocabulary
  known: Known
  without: readonly string[]
  isFocused?: boolean
  onFocus?: () => void
  onChoose: (part: Part) => void
  onLeave: () => void
  /** Called on Backspace in the empty field. */
  onRemoveLast?: () => void
  ref?: Ref<HTMLInputElement>
}

/** Shows a field for a phrase, with suggestions. The arrow keys move, and Enter or Tab chooses. */
export const Phrase = ({
  label,
  placeholder,
  typed,
  onType,
  phrase,
  prefix,
  words,
  known,
  without,
  isFocused = false,
  onFocus,
  onChoose,
  onLeave,
  onRemoveLast,
  ref,
}: PhraseProps) => {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const [open, setOpen] = useState(isFocused)
  const [marked, setMarked] = useState(0)
  useEffect(() => {
    if (!isFocused) return
    field.current?.focus()
    field.current?.select()
  }, [isFocused])
  const { data: suggesting } = useQuery({
    queryKey: ['phrases'],
    queryFn: loadSuggestions,
    enabled: open,
  })
  const suggestions = (open && suggesting?.suggest(phrase, words, known, without)) || []
  const at = Math.min(marked, suggestions.length - 1)
  const choose = ({ text, part }: Suggestion) => {
    if (part) onChoose(part)
    else onType(prefix + text)
    setMarked(0)
  }
  const type = (text: string) => {
    onType(text)
    setOpen(true)
    setMarked(0)
  }
  const move = (by: number) => {
    setOpen(true)
    if (suggestions.length > 0) setMarked((at + by + suggestions.length) % suggestions.length)
    return true
  }
  /** The actions of the keys. They return false if they do nothing. */
  const keys: Record<string, () => boolean> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => {
      const chosen = suggestions[at]
      if (chosen && (typed.trim() !== '' || marked > 0)) choose(chosen)
      else if (!suggesting && typed.trim()) {
        // What is typed in the meantime is the next phrase.
        onType('')
        void loadSuggestions().then(({ suggest }) => suggest(phrase, words, known, without).slice(0, 1).forEach(choose))
      }
      return true
    },
    // Accepts the suggestion if something was typed. Otherwise, Tab moves the focus as usual.
    Tab: () => {
      const chosen = suggestions[at]
      if (!chosen || chosen.part || typed.trim() === '') return false
      choose(chosen)
      return true
    },
    Escape: () => {
      if (!open && typed === '') return false
      setOpen(false)
      onType('')
      onLeave()
      return true
    },
    Backspace: () => {
      if (typed !== '' || !onRemoveLast) return false
      onRemoveLast()
      return true
    },
  }
  const press = (event: KeyboardEvent) => {
    if (!keys[event.key]?.()) return
    // Enter submits no form, and Escape closes no panel.
    event.preventDefault()
    event.stopPropagation()
  }
  const isListed = suggestions.length > 0
  return (
    <div className={styles.phrase}>
      <input
        ref={(element) => {
          field.current = element
          if (typeof ref === 'function') ref(element)
          else if (ref) ref.current = element
        }}
        type="text"
        role="combobox"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={isListed}
        aria-controls={`${id}list`}
        aria-activedescendant={isListed ? `${id}${at}` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        maxLength={500}
        value={typed}
        onChange={({ target }) => type(target.value)}
        onFocus={() => {
          setOpen(true)
          onFocus?.()
        }}
        onClick={() => setOpen(true)}
        onBlur={() => {
          setOpen(false)
          onLeave()
        }}
        onKeyDown={press}
      />
      <div id={`${id}list`} role="listbox" aria-label="Suggestions" hidden={!isListed} className={styles.suggestions}>
        {suggestions.map((suggestion, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active option
          <div
            key={suggestion.text}
            id={`${id}${index}`}
            role="option"
            aria-selected={index === at}
            className={styles.suggestion}
            // The field keeps the focus.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => choose(suggestion)}
          >
            <span>
              {prefix}
              {suggestion.text}
              {!suggestion.part && '…'}
            </span>
            {suggestion.count !== undefined && <span className={styles.count}>{formatCount(suggestion.count)}</span>}
          </div>
        ))}
      </div>
    </div>
  )
}
