// The keys of a page: each part of it names its own, and `?` shows them all.

import {
  createContext,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Dialog } from './dialog.tsx'
import styles from './keys.module.css'

type Binding = {
  does: string
  run: (event: KeyboardEvent) => void
  /** Only while the focus is within; otherwise wherever nobody types. */
  within?: RefObject<HTMLElement | null>
  /** Also while somebody types. */
  always?: boolean
}

/** By key as the browser names it, with `mod+` before it for ⌘ or Ctrl. A later part of the page wins over an earlier. */
type Bindings = Record<string, Binding>

const Registry = createContext<{ add: (bindings: RefObject<Bindings>) => () => void } | undefined>(undefined)

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.closest('[role="menu"],[role="listbox"],[role="dialog"]') !== null ||
    (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) &&
      !/^(checkbox|radio|button|range)$/.test(target.getAttribute('type') ?? '')))

const isPressed = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest('button,a,summary,[role="tab"]') !== null

/** Some keyboards reach brackets and the like by Alt or AltGr alone. */
const isComposed = ({ altKey, key }: KeyboardEvent) => altKey && /^[^a-z0-9\s]$/i.test(key)

const nameOf = (event: KeyboardEvent) =>
  `${(event.metaKey || event.ctrlKey) && !isComposed(event) ? 'mod+' : ''}${event.key}`

/** Held down these go on; what does something does it once. */
const goesOn = /^(Arrow.*|[jkhl[\],.])$/

const applies = ({ within, always }: Binding, event: KeyboardEvent) => {
  const { target, key } = event
  if (isTyping(target)) return always === true
  // Enter and space press what has the focus.
  if ((key === 'Enter' || key === ' ') && isPressed(target)) return false
  return within === undefined || (target instanceof Node && within.current?.contains(target) === true)
}

const words: Record<string, string> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowLeft: '←',
  ArrowRight: '→',
  ' ': 'space',
  Escape: 'esc',
  Enter: 'enter',
}

const inWords = (name: string) => {
  const key = name.replace('mod+', '')
  return `${name.startsWith('mod+') ? '⌘/Ctrl ' : ''}${words[key] ?? key}`
}

export const Keys = ({ children }: { children: ReactNode }) => {
  const all = useRef(new Set<RefObject<Bindings>>())
  const [shown, setShown] = useState<[string, string][]>()
  const registry = useMemo(
    () => ({
      add: (bindings: RefObject<Bindings>) => {
        all.current.add(bindings)
        return () => void all.current.delete(bindings)
      },
    }),
    [],
  )
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || (event.altKey && !isComposed(event))) return
      if (event.key === '?' && !isTyping(event.target)) {
        const listed = [...all.current].flatMap(({ current }) => Object.entries(current))
        setShown(listed.map(([name, { does }]) => [inWords(name), does]))
        return
      }
      for (const { current } of [...all.current].reverse()) {
        const binding = current[nameOf(event)]
        if (!binding || !applies(binding, event)) continue
        event.preventDefault()
        if (event.repeat && !goesOn.test(event.key)) return
        return binding.run(event)
      }
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
  return (
    <Registry.Provider value={registry}>
      {children}
      <Dialog title="Keys of this page" open={shown !== undefined} onClose={() => setShown(undefined)}>
        <dl className={styles.keys}>
          {[['?', 'Show these keys'] as const, ...(shown ?? [])].map(([name, does]) => (
            <div key={name + does}>
              <dt>
                <kbd>{name}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </Dialog>
    </Registry.Provider>
  )
}

/** Ties keys to this part of the page for as long as it is shown. */
export const useKeys = (bindings: Bindings): void => {
  const registry = useContext(Registry)
  const latest = useRef(bindings)
  // Before it is drawn: whoever sees it may press at once.
  useLayoutEffect(() => {
    latest.current = bindings
  })
  useLayoutEffect(() => registry?.add(latest), [registry])
}

/** A key beside the word of what it does. */
export const Key = ({ children }: { children: ReactNode }) => (
  <span className={styles.key} aria-hidden="true">
    {children}
  </span>
)
