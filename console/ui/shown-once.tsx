import type { ReactNode } from 'react'
import { Copy } from './copy.tsx'
import styles from './shown-once.module.css'

/** Shows a secret that can't be shown again. */
export const ShownOnce = ({ name, value, children }: { name: string; value: string; children: ReactNode }) => (
  <div className={styles.secret} role="status">
    <p>{children}</p>
    <div className={styles.value}>
      <code>{value}</code>
      <Copy text={value} label={`Copy ${name}`} />
    </div>
  </div>
)
