import { Link } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { Section } from '../ui/page.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './finding.module.css'
import { type Finding, historyOptions, type Move } from './queries.ts'
import { priorityWords } from './words.tsx'

/** What a move did, in words. */
const inWords = ({ kind, fromStatus, toStatus, fromPriority, toPriority }: Move): string => {
  if (kind === 'merge') return 'merged it into another'
  const parts = [
    ...(fromStatus === toStatus ? [] : [`moved it from ${fromStatus} to ${toStatus}`]),
    ...(fromPriority === toPriority
      ? []
      : [`changed ${priorityWords[fromPriority].toLowerCase()} to ${priorityWords[toPriority].toLowerCase()}`]),
  ]
  return parts.join(' and ') || 'moved it'
}

export const History = ({ finding }: { finding: Finding }) => {
  const { nameOf } = useNames('members')
  const { rows, error, more, isFetchingMore, retry } = useList(historyOptions(finding.id))
  return (
    <Section title="History">
      {error && <FaultNote error={error} retry={retry} />}
      {!error && rows === undefined && <Loading lines={2} />}
      <ol className={styles.history}>
        {rows?.map((move) => (
          <li key={move.id}>
            <p>
              {move.byUserId === null ? 'Earshot' : nameOf(move.byUserId)} {inWords(move)}
              {move.findingId !== finding.id && (
                <>
                  {' '}
                  <Link to="/findings/$id" params={{ id: move.findingId }}>
                    (a merged one)
                  </Link>
                </>
              )}
              <span className={styles.soft}>
                {' · '}
                <Time at={move.createdAt} />
              </span>
            </p>
            {move.reason !== null && <p className={styles.reason}>{move.reason}</p>}
          </li>
        ))}
        <li>
          <p>
            {finding.createdByUserId === null ? 'Earshot' : nameOf(finding.createdByUserId)} filed it
            <span className={styles.soft}>
              {' · '}
              <Time at={finding.createdAt} />
            </span>
          </p>
        </li>
      </ol>
      {more && (
        <Button small busy={isFetchingMore} onClick={more}>
          Show more
        </Button>
      )}
    </Section>
  )
}
