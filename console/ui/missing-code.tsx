import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import styles from './states.module.css'

/**
 * Shown in place of code that couldn't be loaded. The user decides when to reload, because reloading could lose input.
 */
export const MissingCode = ({ children }: { children?: ReactNode }) => (
  <div className={styles.fault} role="alert">
    {children}
    <p>Part of this page couldn’t be loaded. Earshot may have been updated since you opened it.</p>
    <div className={styles.ways}>
      <Button small onClick={() => location.reload()}>
        Reload page
      </Button>
    </div>
  </div>
)
