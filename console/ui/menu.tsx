import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'
import styles from './menu.module.css'

type Entry = { label: ReactNode; onSelect: () => void; danger?: boolean; disabled?: boolean }

/** A button that opens a short list of things to do. */
export const Menu = ({ trigger, entries }: { trigger: ReactElement; entries: Entry[] }) => (
  <Base.Root>
    <Base.Trigger render={trigger} />
    <Base.Portal>
      <Base.Positioner className={styles.positioner} sideOffset={4} align="end">
        <Base.Popup className={styles.popup}>
          {entries.map(({ label, onSelect, danger, disabled = false }, index) => (
            <Base.Item
              // biome-ignore lint/suspicious/noArrayIndexKey: the entries of a menu do not move
              key={index}
              className={danger ? `${styles.item} ${styles.danger}` : styles.item}
              disabled={disabled}
              onClick={onSelect}
            >
              {label}
            </Base.Item>
          ))}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)
