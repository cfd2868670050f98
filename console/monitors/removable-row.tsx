import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from '../ui/button.tsx'
import styles from './removable-row.module.css'

/** Shows a list of rows that people add and remove. */
export const RemovableRows = ({ label, children }: { label?: string; children: ReactNode }) => (
  <ol className={styles.rows} aria-label={label}>
    {children}
  </ol>
)

export const RemovableRow = ({
  name,
  onRemove,
  children,
}: {
  name: string
  onRemove: () => void
  children: ReactNode
}) => (
  <li className={styles.row} aria-label={name}>
    {children}
    <IconButton label={`Remove ${name.toLowerCase()}`} icon={<X />} onClick={onRemove} />
  </li>
)
