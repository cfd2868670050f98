import { Menu as Base } from '@base-ui/react/menu'
import type { ComponentProps, ReactElement, ReactNode } from 'react'
import styles from './menu.module.css'

type Entry = { label: ReactNode; onSelect: () => void; danger?: boolean; disabled?: boolean }

export type MenuProps = { trigger: ReactElement<ComponentProps<'button'>>; entries: Entry[] }

export const LoadedMenu = ({ trigger, entries, defaultOpen }: MenuProps & { defaultOpen: boolean }) => (
  <Base.Root defaultOpen={defaultOpen}>
    <Base.Trigger render={trigger} />
    <Base.Portal>
      <Base.Positioner className={styles.positioner} sideOffset={4} align="end">
        <Base.Popup className={styles.popup}>
          {entries.map(({ label, onSelect, danger, disabled = false }, index) => (
            <Base.Item
              // biome-ignore lint/suspicious/noArrayIndexKey: menu entries keep their positions
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
