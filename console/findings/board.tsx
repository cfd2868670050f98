import { Link, useNavigate } from '@tanstack/react-router'
import { MessageSquare, MessagesSquare } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { formatCount, plural, sentenceCase } from '../lib/format.ts'
import { Badge, Count } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { useKeys } from '../ui/keys.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './findings.module.css'
import { type Finding, type FindingStatus, findingsOptions } from './queries.ts'
import type { FindingsFilter } from './search.ts'
import { useTriage, useTriageKeys } from './triage.ts'
import { PriorityMark, StatusBadge, statuses } from './words.tsx'

const Card = ({ finding, selected }: { finding: Finding; selected: boolean }) => {
  const { nameOf } = useNames('members')
  const card = useRef<HTMLElement>(null)
  useEffect(() => {
    if (selected) card.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [selected])
  const { id, title, priority, tags, assigneeUserId, conversationCount, commentCount, createdAt } = finding
  return (
    <article ref={card} className={styles.card} aria-current={selected || undefined}>
      <Link to="/findings/$id" params={{ id }}>
        {title}
      </Link>
      {tags.length > 0 && (
        <span className={styles.cardTags}>
          {tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </span>
      )}
      <span className={styles.cardFoot}>
        <PriorityMark priority={priority} bare />
        <span className={styles.small} title={plural(conversationCount, 'conversation')}>
          <MessagesSquare role="img" aria-label="Conversations" /> {formatCount(conversationCount)}
        </span>
        {commentCount > 0 && (
          <span className={styles.small} title={plural(commentCount, 'comment')}>
            <MessageSquare role="img" aria-label="Comments" /> {formatCount(commentCount)}
          </span>
        )}
        <Time at={createdAt} ago />
        {assigneeUserId && <span>{nameOf(assigneeUserId)}</span>}
      </span>
    </article>
  )
}

const useColumn = (filter: FindingsFilter, status: FindingStatus) => useList(findingsOptions({ ...filter, status }))

type BoardProps = { filter: FindingsFilter; selected: string | undefined; onSelect: (id: string | undefined) => void }

/**
 * Shows a board with a column for each status. Keys move the selection between columns and change the status of the
 * selected finding.
 */
export const Board = ({ filter, selected, onSelect }: BoardProps) => {
  const navigate = useNavigate()
  const columns = {
    open: useColumn(filter, 'open'),
    acknowledged: useColumn(filter, 'acknowledged'),
    resolved: useColumn(filter, 'resolved'),
    ignored: useColumn(filter, 'ignored'),
  }
  const rowsOf = (status: FindingStatus): Finding[] => columns[status].rows ?? []
  const all = statuses.flatMap(rowsOf)
  const finding = all.find(({ id }) => id === selected)
  const column = statuses.find((status) => rowsOf(status).some(({ id }) => id === selected))
  const triage = useTriage()
  const down = (by: number) => {
    const rows = column ? rowsOf(column) : all
    const at = rows.findIndex(({ id }) => id === selected)
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))]
    if (next) onSelect(next.id)
    if (column && at + by >= rows.length - 1) columns[column].more?.()
  }
  const across = (by: number) => {
    const filled = statuses.filter((status) => rowsOf(status).length > 0)
    const at = column ? filled.indexOf(column) : -1
    const next = filled[Math.min(filled.length - 1, Math.max(0, at + by))]
    const row = column ? rowsOf(column).findIndex(({ id }) => id === selected) : 0
    const rows = next ? rowsOf(next) : []
    const card = rows[Math.min(rows.length - 1, Math.max(0, row))]
    if (card) onSelect(card.id)
  }
  useKeys({
    j: { does: 'Next finding', run: () => down(1) },
    k: { does: 'Previous finding', run: () => down(-1) },
    l: { does: 'Next column', run: () => across(1) },
    h: { does: 'Previous column', run: () => across(-1) },
    Enter: {
      does: 'Open finding',
      run: () => selected && void navigate({ to: '/findings/$id', params: { id: selected } }),
    },
    Escape: { does: 'Clear selection', run: () => onSelect(undefined) },
  })
  useTriageKeys(finding, (move) => {
    if (move.status) {
      // The next finding becomes selected.
      const rows = column ? rowsOf(column) : []
      const at = rows.findIndex(({ id }) => id === move.finding.id)
      onSelect((rows[at + 1] ?? rows[at - 1])?.id)
    }
    triage.mutate(move)
  })
  return (
    <>
      {triage.error && <FaultNote error={triage.error} />}
      <div className={styles.board}>
        {statuses.map((status) => {
          const { rows, error, isPending, more, isFetchingMore, retry } = columns[status]
          return (
            <section key={status} className={styles.column} aria-label={sentenceCase(status)}>
              <div className={styles.columnHead}>
                <h2>
                  <StatusBadge status={status} />
                </h2>
                {rows && (
                  <Count>
                    {formatCount(rows.length)}
                    {more && '+'}
                  </Count>
                )}
              </div>
              {error && <FaultNote error={error} retry={retry} />}
              {isPending && <Loading lines={4} />}
              {rows && (
                <div className={styles.cards}>
                  {rows.map((row) => (
                    <Card key={row.id} finding={row} selected={row.id === selected} />
                  ))}
                  {rows.length === 0 && <p className={styles.soft}>None</p>}
                  {more && (
                    <Button small busy={isFetchingMore} onClick={more}>
                      Show more
                    </Button>
                  )}
                </div>
              )}
            </section>
          )
        })}
      </div>
    </>
  )
}
