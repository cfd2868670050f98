import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FaultNote } from '../ui/states.tsx'
import type { Action } from './bulk-queries.ts'
import { TagChooser } from './tag-chooser.tsx'
import styles from './tags.module.css'

/** Asks for tags to add to the selected rows, and tags to remove from them. */
export const TagRows = ({ start, onClose }: { start: (action: Action) => Promise<void>; onClose: () => void }) => {
  const [add, setAdd] = useState<string[]>([])
  const [remove, setRemove] = useState<string[]>([])
  const send = useMutation({
    mutationFn: () => start({ kind: 'tag', ...(add.length > 0 && { add }), ...(remove.length > 0 && { remove }) }),
    onSuccess: onClose,
  })
  return (
    <Dialog title="Tag conversations" open onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate()
        }}
      >
        <TagChooser label="Add tags" value={add} onChange={setAdd} />
        <TagChooser label="Remove tags" value={remove} onChange={setRemove} />
        {send.error && <FaultNote error={send.error} />}
        <div className={styles.ways}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={send.isPending} disabled={add.length + remove.length === 0}>
            Tag conversations
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
