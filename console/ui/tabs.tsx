import { type KeyboardEvent, type ReactNode, useId } from 'react'
import styles from './tabs.module.css'

type Tab = { value: string; label: ReactNode; content: ReactNode }

/** Returns the tab that an arrow key moves to. After the last tab, it moves to the first one. */
const steps: Record<string, (at: number, count: number) => number> = {
  ArrowLeft: (at, count) => (at + count - 1) % count,
  ArrowRight: (at, count) => (at + 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
}

/** Shows a page's tabs. The caller keeps the selected tab in the URL. */
export const Tabs = ({
  label,
  value,
  onChange,
  tabs,
}: {
  label: string
  value: string
  onChange: (value: string) => void
  tabs: Tab[]
}) => {
  const id = useId()
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = steps[event.key]
    const elements: EventTarget[] = Array.from(event.currentTarget.children)
    const at = elements.indexOf(event.target)
    if (!step || at < 0) return
    event.preventDefault()
    const next = elements[step(at, elements.length)]
    if (next instanceof HTMLElement) next.focus()
  }
  return (
    <div>
      <div className={styles.list} role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => {
          const isSelected = tab.value === value
          return (
            <button
              key={tab.value}
              id={`${id}${tab.value}`}
              type="button"
              role="tab"
              className={styles.tab}
              aria-selected={isSelected}
              {...(isSelected && { 'aria-controls': `${id}panel` })}
              tabIndex={isSelected ? 0 : -1}
              onClick={() => isSelected || onChange(tab.value)}
            >
              {tab.label}
            </button>
          )
        })}
      </div>
      {tabs.map(
        (tab) =>
          tab.value === value && (
            <div
              key={tab.value}
              id={`${id}panel`}
              role="tabpanel"
              aria-labelledby={`${id}${tab.value}`}
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a panel is reached from its tab by keyboard
              tabIndex={0}
              className={styles.panel}
            >
              {tab.content}
            </div>
          ),
      )}
    </div>
  )
}
