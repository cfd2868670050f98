import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { IconButton } from './button.tsx'
import styles from './dialog.module.css'

export type DialogProps = {
  title: string
  open: boolean
  onClose: () => void
  wide?: boolean
  /** Whether the dialog contains unsaved input, so that a click outside doesn't close it. */
  holds?: boolean
  children: ReactNode
}

export const DialogWindow = ({ title, open, onClose, wide = false, holds = false, children }: DialogProps) => {
  const popup = useRef<HTMLDivElement>(null)
  // The first field gets the focus, except on touch screens, where the on-screen keyboard would cover the dialog.
  const first = (by: string) =>
    by === 'touch' || (popup.current?.querySelector<HTMLElement>('input, textarea, select') ?? true)
  return (
    <Base.Root open={open} onOpenChange={(next) => next || onClose()} disablePointerDismissal={holds}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup ref={popup} initialFocus={first} className={wide ? `${styles.popup} ${styles.wide}` : styles.popup}>
          <header className={styles.head}>
            <Base.Title>{title}</Base.Title>
            <Base.Close render={<IconButton label="Close" icon={<X />} />} />
          </header>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
