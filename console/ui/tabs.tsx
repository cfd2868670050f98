import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'
import styles from './tabs.module.css'

type Tab = { value: string; label: ReactNode; content: ReactNode }

/** Parts of one thing, of which one is seen. Which one is the caller's to keep, in the address. */
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
}) => (
  <Base.Root value={value} onValueChange={(next) => onChange(String(next))}>
    <Base.List className={styles.list} aria-label={label}>
      {tabs.map((tab) => (
        <Base.Tab key={tab.value} value={tab.value} className={styles.tab}>
          {tab.label}
        </Base.Tab>
      ))}
    </Base.List>
    {tabs.map((tab) => (
      <Base.Panel key={tab.value} value={tab.value} className={styles.panel}>
        {tab.content}
      </Base.Panel>
    ))}
  </Base.Root>
)
