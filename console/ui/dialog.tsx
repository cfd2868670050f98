import { type ReactNode, useState } from 'react'
import { firstUse } from '../lib/first-use.ts'
import { Button } from './button.tsx'
import { Field, Input } from './controls.tsx'
import styles from './dialog.module.css'
import type { DialogProps } from './dialog-window.tsx'
import { lazy } from './lazy.tsx'
import { FaultNote } from './states.tsx'

const load = async () => (await import('./dialog-window.tsx')).DialogWindow

// No page opens with a dialog, so the code only loads when someone first uses the page.
firstUse.then(load).catch(() => undefined)

const DialogWindow = lazy(load)

export const Dialog = (props: DialogProps) => {
  const [wasOpened, setWasOpened] = useState(props.open)
  if (props.open && !wasOpened) setWasOpened(true)
  return wasOpened && <DialogWindow {...props} />
}

type ConfirmProps = {
  title: string
  /** Explains what will be deleted and what will be kept. */
  children: ReactNode
  action: string
  open: boolean
  onClose: () => void
  /** Runs the action. A Fault that it throws is shown. */
  run: () => Promise<unknown>
  /** The text to type before an action that can't be undone. */
  typed?: string
}

/** Asks for confirmation before a destructive action. */
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
        <Field label={`Type “${typed}” to confirm`}>
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
