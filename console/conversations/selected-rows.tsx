import { useState } from 'react'
import { plural } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import styles from './conversations.module.css'

const PutInBucket = lazy(async () => (await import('./put-in-bucket.tsx')).PutInBucket)
const AttachFinding = lazy(async () => (await import('./attach-finding.tsx')).AttachFinding)

/** What can be done with the selected rows together. */
export const SelectedRows = ({ ids, onClear }: { ids: string[]; onClear: () => void }) => {
  const [open, setOpen] = useState<'bucket' | 'finding'>()
  const close = () => setOpen(undefined)
  return (
    <section className={styles.tools} aria-label="Selected rows">
      <strong className={styles.count} role="status">
        {plural(ids.length, 'conversation')} selected
      </strong>
      <Button small onClick={() => setOpen('bucket')}>
        Add to bucket
      </Button>
      <Button small onClick={() => setOpen('finding')}>
        Attach to finding
      </Button>
      <Button small look="quiet" onClick={onClear}>
        Clear selection
      </Button>
      {open === 'bucket' && <PutInBucket ids={ids} onClose={close} />}
      {open === 'finding' && <AttachFinding conversationIds={ids} attached={[]} onClose={close} />}
    </section>
  )
}
