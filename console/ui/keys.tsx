// Manages keyboard shortcuts. Each component of a page registers its own shortcuts, and `?` lists them.

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
  /** If set, the shortcut only works while the focus is inside. Otherwise, it works anywhere except in text fields. */
  within?: RefObject<HTMLElement | null>
  /** Whether the shortcut also works in text fields. */
  always?: boolean
}

/**
 * The shortcuts, by the browser's name for the key, with the prefix `mod+` for ⌘ or Ctrl. Components that mount later
 * take precedence.
 */
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

/**
 * Returns whether Alt or AltGr was only pressed to type a character. Some keyboards require this for brackets and
 * similar characters.
 */
const isComposed = ({ altKey, key }: KeyboardEvent) => altKey && /^[^a-z0-9\s]$/i.test(key)

const nameOf = (event: KeyboardEvent) =>
  `${(event.metaKey || event.ctrlKey) && !isComposed(event) ? 'mod+' : ''}${event.key}`

/** Matches the keys that repeat while they are held down. Other shortcuts run once. */
const repeats = /^(Arrow.*|[jkhl[\],.])$/

const applies = ({ within, always }: Binding, event: KeyboardEvent) => {
  const { target, key } = event
  if (isTyping(target)) return always === true
  // Enter and space activate the focused element.
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

const isForOthers = (event: KeyboardEvent) => event.defaultPrevented || (event.altKey && !isComposed(event))

/** Returns the binding of the component that mounted last. */
const bindingOf = (all: RefObject<Bindings>[], event: KeyboardEvent) =>
  all
    .map(({ current }) => current[nameOf(event)])
    .findLast((binding) => binding !== undefined && applies(binding, event))

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
    const showAll = () => {
      const listed = [...all.current].flatMap(({ current }) => Object.entries(current))
      setShown(listed.map(([name, { does }]) => [inWords(name), does]))
    }
    const listen = (event: KeyboardEvent) => {
      if (isForOthers(event)) return
      if (event.key === '?' && !isTyping(event.target)) return showAll()
      const binding = bindingOf([...all.current], event)
      if (!binding) return
      event.preventDefault()
      if (!event.repeat || repeats.test(event.key)) binding.run(event)
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
  return (
    <Registry.Provider value={registry}>
      {children}
      <Dialog title="Keyboard shortcuts" open={shown !== undefined} onClose={() => setShown(undefined)}>
        <dl className={styles.keys}>
          {[['?', 'Show keyboard shortcuts'] as const, ...(shown ?? [])].map(([name, does]) => (
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

/** Registers shortcuts while the component is mounted. */
export const useKeys = (bindings: Bindings): void => {
  const registry = useContext(Registry)
  const latest = useRef(bindings)
  // The shortcuts are registered before the browser paints, because people may press a key as soon as they see the
  // page.
  useLayoutEffect(() => {
    latest.current = bindings
  })
  useLayoutEffect(() => registry?.add(latest), [registry])
}

/** Displays a key next to the name of its action. */
export const Key = ({ children }: { children: ReactNode }) => (
  <span className={styles.key} aria-hidden="true">
    {children}
  </span>
)
