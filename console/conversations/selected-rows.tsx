import { useState } from 'react'
import { useMay, useMe } from '../api/session.ts'
import { useCount } from '../filters/count.ts'
import { formatCount, plural } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { lazy } from '../ui/lazy.tsx'
import { type Action, mostListed, type Selection, sizeOf, startBulkAction } from './bulk-queries.ts'
import styles from './conversations.module.css'
import { ExportMenu } from './export-menu.tsx'
import type { ListState } from './search.ts'

const PutInBucket = lazy(async () => (await import('./put-in-bucket.tsx')).PutInBucket)
const AttachFinding = lazy(async () => (await import('./attach-finding.tsx')).AttachFinding)
const TagRows = lazy(async () => (await import('./tag-rows.tsx')).TagRows)
const AssignReviewer = lazy(async () => (await import('./assign-reviewer.tsx')).AssignReviewer)
const RunMonitor = lazy(async () => (await import('./run-monitor.tsx')).RunMonitor)

type Opened = 'tag' | 'bucket' | 'finding' | 'reviewer' | 'monitor' | 'erase'

/** The maximum number of selected conversations that the server accepts. */
const mostSelected = 100_000

type SelectedRowsProps = {
  checked: ReadonlySet<string>
  state: ListState
  /** Whether more conversations match than are selected, so that all of them can be selected. */
  mayHaveMore: boolean
  onClear: () => void
}

const Dialogs = ({
  open,
  selection,
  start,
  onClose,
}: {
  open: Opened | undefined
  selection: Selection
  start: (action: Action, expectedTotal?: number) => Promise<void>
  onClose: () => void
}) => {
  const count = sizeOf(selection)
  return (
    <>
      {open === 'tag' && <TagRows start={start} onClose={onClose} />}
      {open === 'bucket' && (
        <PutInBucket start={(bucketId) => start({ kind: 'add_to_bucket', bucketId })} onClose={onClose} />
      )}
      {open === 'finding' && (
        <AttachFinding start={(findingId) => start({ kind: 'attach_to_finding', findingId })} onClose={onClose} />
      )}
      {open === 'reviewer' && (
        <AssignReviewer start={(userId) => start({ kind: 'assign_reviewer', userId })} onClose={onClose} />
      )}
      {open === 'monitor' && <RunMonitor selection={selection} onClose={onClose} />}
      <Confirm
        title={`Erase ${plural(count, 'conversation')}?`}
        action={`Erase ${plural(count, 'conversation')}`}
        typed={`erase ${count}`}
        open={open === 'erase'}
        onClose={onClose}
        run={() => start({ kind: 'erase' }, count)}
      >
        <p>
          This permanently deletes their transcripts, recordings, results, metrics, and reviews, and expires exports
          that contain them. It can’t be undone.
        </p>
      </Confirm>
    </>
  )
}

/** Shows the actions on all selected rows. */
export const SelectedRows = ({ checked, state, mayHaveMore, onClear }: SelectedRowsProps) => {
  const { filter = {} } = state
  const { entitlements } = useMe()
  const mayErase = useMay('admin')
  const [open, setOpen] = useState<Opened>()
  /** Selecting other rows ends the selection of all that match. */
  const [allBeside, setAllBeside] = useState<ReadonlySet<string>>()
  const hasAll = allBeside === checked
  const { data } = useCount(filter)
  const total = data?.count ?? 0
  const selection: Selection = hasAll ? { filter, total } : { ids: [...checked] }
  const count = sizeOf(selection)
  const isTooLong = count > (hasAll ? mostSelected : mostListed)
  const close = () => setOpen(undefined)
  const start = async (action: Action, expectedTotal?: number) => {
    await startBulkAction(selection, action, expectedTotal)
    close()
    onClear()
  }
  const button = (name: Opened, label: string) => (
    <Button small disabled={isTooLong} onClick={() => setOpen(name)}>
      {label}
    </Button>
  )
  return (
    <section className={styles.tools} aria-label="Selected rows">
      <strong className={styles.count} role="status">
        {hasAll && 'All '}
        {plural(count, 'conversation')} selected
      </strong>
      {!hasAll && mayHaveMore && total > checked.size && (
        <Button small look="quiet" onClick={() => setAllBeside(checked)}>
          Select all {formatCount(total)} that match
        </Button>
      )}
      {button('tag', 'Tag')}
      {button('bucket', 'Add to bucket')}
      {button('finding', 'Attach to finding')}
      {button('reviewer', 'Assign reviewer')}
      {entitlements.monitors && button('monitor', 'Run monitor')}
      <ExportMenu
        state={hasAll ? state : { ...state, filter: { conversationIds: [...checked] } }}
        label="Export selected"
        small
        disabled={isTooLong}
      />
      {mayErase && button('erase', 'Erase')}
      <Button small look="quiet" onClick={onClear}>
        Clear selection
      </Button>
      {isTooLong && (
        <p className={styles.soft}>
          {hasAll
            ? `Select at most ${formatCount(mostSelected)} at once. Narrow the filter.`
            : `Select at most ${formatCount(mostListed)} rows, or all that match.`}
        </p>
      )}
      <Dialogs open={open} selection={selection} start={start} onClose={close} />
    </section>
  )
}
