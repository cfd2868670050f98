import { type Editor, useEditorState } from '@tiptap/react'
import { type RefObject, useEffect, useId, useState } from 'react'
import { useNames } from '../api/names.ts'
import styles from './rich-text.module.css'

/**
 * Matches an @ at the start of a word, and the name that is typed after it. An object, such as another mention, also
 * ends a word.
 */
const typedPattern = /(?:^|[\s(\ufffc])@([\p{L}\p{N} .'’-]{0,40})$/u

const mostShown = 8

type Typed = { query: string; from: number; to: number }

/** Returns the mention that is being typed before the cursor. */
const typedIn = (editor: Editor): Typed | null => {
  const { empty, $from } = editor.state.selection
  if (!empty || editor.isActive('codeBlock') || editor.isActive('code')) return null
  const before = $from.parent.textBetween(0, $from.parentOffset, undefined, '\ufffc')
  const query = typedPattern.exec(before)?.[1]
  return query === undefined ? null : { query, from: $from.pos - query.length - 1, to: $from.pos }
}

const matches = (name: string, query: string): boolean =>
  ` ${name}`.toLowerCase().includes(` ${query.trimStart().toLowerCase()}`)

type Key = (event: KeyboardEvent) => boolean

type MentionMenuProps = {
  editor: Editor
  /** Receives the keys pressed in the editor before the editor does. Returns whether the menu handled the key. */
  onKey: RefObject<Key>
}

/** Offers members after an @. The cursor stays in the text, and the usual keys move through the menu. */
export const MentionMenu = ({ editor, onKey }: MentionMenuProps) => {
  const listId = useId()
  const { options } = useNames('members')
  const typed = useEditorState({ editor, selector: ({ editor: seen }) => (seen.isFocused ? typedIn(seen) : null) })
  const [position, setPosition] = useState(0)
  // The position at which Escape closed the menu.
  const [closedAt, setClosedAt] = useState<number>()
  const shown =
    typed && typed.from !== closedAt
      ? options.filter(({ label }) => matches(label, typed.query)).slice(0, mostShown)
      : []
  const active = shown[Math.min(position, shown.length - 1)]
  const activeId = active && `${listId}-${active.value}`

  const choose = ({ value: id, label }: (typeof shown)[number]) => {
    if (!typed) return
    const mention = { type: 'mention', attrs: { id, label, mentionSuggestionChar: '@' } }
    const { from, to } = typed
    editor
      .chain()
      .focus()
      .insertContentAt({ from, to }, [mention, { type: 'text', text: ' ' }])
      .run()
  }
  const move = (by: number) => setPosition((Math.min(position, shown.length - 1) + by + shown.length) % shown.length)

  useEffect(() => {
    onKey.current = (event) => {
      if (!active || event.isComposing || event.metaKey || event.ctrlKey) return false
      const uses: Record<string, (() => void) | undefined> = {
        ArrowDown: () => move(1),
        ArrowUp: () => move(-1),
        Enter: () => choose(active),
        Tab: () => choose(active),
        Escape: () => setClosedAt(typed?.from),
      }
      const use = uses[event.key]
      if (!use) return false
      use()
      event.preventDefault()
      event.stopPropagation()
      return true
    }
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another query starts at its best match
  useEffect(() => setPosition(0), [typed?.query])
  useEffect(() => {
    if (typed === null) setClosedAt(undefined)
  }, [typed])
  useEffect(() => {
    const { dom } = editor.view
    const attributes = { 'aria-autocomplete': 'list', 'aria-controls': listId, 'aria-activedescendant': activeId }
    for (const [name, value] of Object.entries(attributes)) {
      if (activeId !== undefined && value !== undefined) dom.setAttribute(name, value)
      else dom.removeAttribute(name)
    }
  }, [editor, listId, activeId])

  if (!active) return null
  return (
    <div className={styles.mentions} id={listId} role="listbox" aria-label="Members">
      {shown.map((option) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the editor receives the keys
        <div
          key={option.value}
          id={`${listId}-${option.value}`}
          className={styles.option}
          role="option"
          tabIndex={-1}
          aria-selected={option === active}
          // This keeps the focus in the text.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => choose(option)}
        >
          {option.label}
        </div>
      ))}
    </div>
  )
}
