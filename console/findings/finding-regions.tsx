import { Link } from '@tanstack/react-router'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { listOptions, useList } from '../api/queries.ts'
import { formatClock } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { Section } from '../ui/page.tsx'
import { FaultNote } from '../ui/states.tsx'
import styles from './finding.module.css'

const regionsOptions = (id: string) =>
  listOptions(['findings', id, 'regions'], (cursor, signal) =>
    answer(api.GET('/v1/findings/{id}/regions', { params: { path: { id }, query: { limit: 20, ...cursor } }, signal })),
  )

/** Shows the regions of recordings that people marked for this finding. */
export const FindingRegions = ({ id }: { id: string }) => {
  const { rows, error, retry, more, isFetchingMore } = useList(regionsOptions(id))
  const people = useNames('members')
  if (!error && !rows?.length) return null
  return (
    <Section title="Regions">
      {error && <FaultNote error={error} retry={retry} />}
      <ul>
        {rows?.map(({ id: regionId, conversationId, startMs, note, authorUserId }) => (
          <li key={regionId} className={styles.attached}>
            <Link
              to="/conversations/$id"
              params={{ id: conversationId }}
              search={{ at: startMs / 1_000 }}
              className={styles.attachedLink}
            >
              {note}
            </Link>
            <span className={styles.soft}>
              {formatClock(startMs / 1_000)}, {people.nameOf(authorUserId)}
            </span>
          </li>
        ))}
      </ul>
      {more && (
        <Button small busy={isFetchingMore} onClick={more}>
          Show more
        </Button>
      )}
    </Section>
  )
}
