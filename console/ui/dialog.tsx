import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import styles from './dialog.module.css'
import { Field, Input } from './form.tsx'
import { FaultNote } from './states.tsx'

type DialogProps = {
  title: string
  open: boolean
  onClose: () => void
  wide?: boolean
  /** Holds what would be lost: a click beside it does not close it. */
  holds?: boolean
  children: ReactNode
}

export const Dialog = ({ title, open, onClose, wide = false, holds = false, children }: DialogProps) => {
  const popup = useRef<HTMLDivElement>(null)
  // What is to be filled in has the focus; by touch that would open a keyboard over it.
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

type ConfirmProps = {
  title: string
  /** Names what goes, and what stays. */
  children: ReactNode
  action: string
  open: boolean
  onClose: () => void
  /** Does it; a Fault that it throws is shown. */
  run: () => Promise<unknown>
  /** To be typed first, where nothing brings back what goes. */
  typed?: string
}

/** A question before what cannot be undone. */
export const Confirm = ({ title, children, action, open, onClose, run, typed }: ConfirmProps) => {
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<unknown>()
  const close = () => {
    setText('')
    setFault(undefined)
    onClose()
  }
  const act = async () => {
    setBusy(true)
    setFault(undefined)
    await run().then(close, setFault)
    setBusy(false)
  }
  return (
    <Dialog title={title} open={open} onClose={close}>
      <div className={styles.body}>{children}</div>
      {typed && (
        <Field label={`Type “${typed}” to go on`}>
          {(ids) => <Input {...ids} value={text} onChange={({ target }) => setText(target.value)} autoComplete="off" />}
        </Field>
      )}
      {fault !== undefined && <FaultNote error={fault} />}
      <div className={styles.ways}>
        <Button onClick={close}>Cancel</Button>
        <Button look="danger" busy={busy} disabled={typed !== undefined && text !== typed} onClick={() => void act()}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
