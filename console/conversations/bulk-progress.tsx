import { useMutation, useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { formatCount, plural } from '../lib/format.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Progress } from '../ui/progress.tsx'
import { FaultNote } from '../ui/states.tsx'
import styles from './bulk-progress.module.css'
import { type BulkAction, bulkActionsOptions, cancelBulkAction, isUnfinished, undoBulkAction } from './bulk-queries.ts'

/** Finished actions stay visible for this long, unless they are dismissed. */
const shownMs = 15 * 60_000
const dismissedKey = 'dismissed-bulk-actions'

const readDismissed = (): string[] => JSON.parse(sessionStorage.getItem(dismissedKey) ?? '[]')

const quoted = (tags: string[] = []): string => tags.map((tag) => `“${tag}”`).join(', ')

const useWords = () => {
  const buckets = useNames('buckets')
  const members = useNames('members')
  const wordsOf = ({ action }: BulkAction): string => {
    switch (action.kind) {
      case 'tag': {
        const { add = [], remove = [] } = action
        return [add.length > 0 && `Add tag ${quoted(add)}`, remove.length > 0 && `Remove tag ${quoted(remove)}`]
          .filter(Boolean)
          .join('; ')
      }
      case 'add_to_bucket':
        return `Add to bucket ${buckets.nameOf(action.bucketId)}`
      case 'attach_to_finding':
        return 'Attach to finding'
      case 'assign_reviewer':
        return `Assign ${members.nameOf(action.userId)}`
      case 'erase':
        return 'Erase conversations'
    }
  }
  return (action: BulkAction): string => (action.undoesId === null ? wordsOf(action) : `Undo: ${wordsOf(action)}`)
}

/** Describes how an action ended. */
const endOf = ({ status, total, done, changed, failed, failure, undoneById, action }: BulkAction): string => {
  if (undoneById !== null) return 'Undone'
  const verb = action.kind === 'erase' ? 'erased' : 'changed'
  const parts = [
    status === 'cancelled' && `Cancelled after ${formatCount(done + failed)} of ${formatCount(total)}`,
    status === 'failed' && 'Failed',
    `${plural(changed, 'conversation')} ${verb}`,
    done > changed && `${formatCount(done - changed)} needed no change`,
    failed > 0 && `${formatCount(failed)} failed`,
  ]
  return [parts.filter(Boolean).join(', '), failure].filter(Boolean).join('. ')
}

const Line = ({ action, words, onDismiss }: { action: BulkAction; words: string; onDismiss: () => void }) => {
  const { id, done, failed, total } = action
  const cancel = useMutation({ mutationFn: () => cancelBulkAction(id) })
  const undo = useMutation({ mutationFn: () => undoBulkAction(id) })
  const error = cancel.error ?? undo.error
  return (
    <li className={styles.line}>
      <strong>{words}</strong>
      {isUnfinished(action) ? (
        <>
          <Progress label={words} done={done + failed} total={total} />
          <Button small busy={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel
          </Button>
        </>
      ) : (
        <>
          <span className={styles.end}>{endOf(action)}</span>
          {action.canUndo && (
            <Button small busy={undo.isPending} onClick={() => undo.mutate()}>
              Undo
            </Button>
          )}
          <IconButton label={`Dismiss “${words}”`} icon={<X />} onClick={onDismiss} />
        </>
      )}
      {error && <FaultNote error={error} />}
    </li>
  )
}

/** Calls back with the actions that have just ended. */
const useEnded = (actions: BulkAction[] | undefined, onEnded: (ended: BulkAction[]) => void): void => {
  const known = useRef<Set<string>>(undefined)
  const latest = useRef(onEnded)
  useEffect(() => {
    latest.current = onEnded
  })
  useEffect(() => {
    if (!actions) return
    const finished = actions.filter((action) => !isUnfinished(action))
    const ended = finished.filter(({ id }) => known.current?.has(id) === false)
    known.current = new Set(finished.map(({ id }) => id))
    if (ended.length > 0) latest.current(ended)
  }, [actions])
}

const outdated = ['conversations', 'conversation-tags', 'buckets', 'findings', 'reviews']

/** Shows the progress of the member's bulk actions, even after they have left the page, and offers to undo them. */
export const BulkProgress = () => {
  const { member } = useMe()
  const { data } = useQuery(bulkActionsOptions)
  const wordsOf = useWords()
  const [dismissed, setDismissed] = useState(readDismissed)
  const [said, setSaid] = useState('')
  useEnded(data, (ended) => {
    setSaid(ended.map((action) => `${wordsOf(action)}: ${endOf(action)}`).join('. '))
    for (const key of outdated) void queryClient.invalidateQueries({ queryKey: [key] })
  })
  const isShown = (action: BulkAction): boolean => {
    const { id, createdByUserId, finishedAt, undoneById } = action
    if (createdByUserId !== member.userId || dismissed.includes(id) || undoneById !== null) return false
    return finishedAt === null || Date.now() - Date.parse(finishedAt) < shownMs
  }
  const shown = (data ?? []).filter(isShown)
  const dismiss = (id: string) => {
    const next = [...dismissed, id]
    sessionStorage.setItem(dismissedKey, JSON.stringify(next))
    setDismissed(next)
  }
  return (
    <>
      <span role="status" className={styles.hidden}>
        {said}
      </span>
      {shown.length > 0 && (
        <section aria-label="Bulk actions">
          <ul className={styles.list}>
            {shown.map((action) => (
              <Line key={action.id} action={action} words={wordsOf(action)} onDismiss={() => dismiss(action.id)} />
            ))}
          </ul>
        </section>
      )}
    </>
  )
}
