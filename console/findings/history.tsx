import { Link } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { Section } from '../ui/page.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './finding.module.css'
import { type Finding, historyOptions, type Move } from './queries.ts'

/** Describes a change. */
const inWords = ({ kind, fromStatus, toStatus, fromPriority, toPriority }: Move): string => {
  if (kind === 'merge') return 'merged this finding into another'
  const parts = [
    ...(fromStatus === toStatus ? [] : [`changed the status from ${fromStatus} to ${toStatus}`]),
    ...(fromPriority === toPriority ? [] : [`changed the priority from ${fromPriority} to ${toPriority}`]),
  ]
  return parts.join(' and ') || 'updated the finding'
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
                    (merged finding)
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
            {finding.createdByUserId === null ? 'Earshot' : nameOf(finding.createdByUserId)} created the finding
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
