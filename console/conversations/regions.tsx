import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { answer, api } from '../api/client.ts'
import { useNames } from '../api/names.ts'
import { queryClient, useList } from '../api/queries.ts'
import { useMay, useMe } from '../api/session.ts'
import { formatMs } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { FaultNote } from '../ui/states.tsx'
import asideStyles from './aside.module.css'
import { MarkRegion } from './mark-region.tsx'
import { PlayFrom } from './play-from.tsx'
import { findingsOfOptions } from './queries.ts'
import styles from './regions.module.css'
import { type Region, regionsOptions } from './sound-queries.ts'
import type { Range } from './stage.tsx'

const RegionLine = ({ region, finding }: { region: Region; finding: string | undefined }) => {
  const people = useNames('members')
  const { member } = useMe()
  const isAdmin = useMay('admin')
  const { id, conversationId, startMs, endMs, channel, note, authorUserId, findingId } = region
  const remove = useMutation({
    mutationFn: async () => {
      const path = { id: conversationId, regionId: id }
      await answer(api.DELETE('/v1/conversations/{id}/regions/{regionId}', { params: { path } }))
      await queryClient.invalidateQueries({ queryKey: ['conversations', conversationId, 'regions'] })
      announce('Region deleted')
    },
  })
  return (
    <li className={asideStyles.evidence}>
      <PlayFrom ms={startMs}>
        <span className={styles.note}>{note}</span>
      </PlayFrom>
      <div className={asideStyles.line}>
        <span className={asideStyles.small}>
          {people.nameOf(authorUserId)}, {formatMs(endMs - startMs)}
          {channel !== null && `, channel ${channel + 1}`}
        </span>
        {findingId !== null && (
          <Link to="/findings/$id" params={{ id: findingId }} className={asideStyles.small}>
            {finding ?? 'Finding'}
          </Link>
        )}
        {(authorUserId === member.userId || isAdmin) && (
          <Button small look="quiet" busy={remove.isPending} onClick={() => remove.mutate()}>
            Delete region
          </Button>
        )}
      </div>
      {remove.error && <FaultNote error={remove.error} />}
    </li>
  )
}

type RegionsProps = {
  /** The conversation's ID. */
  id: string
  /** The span that is being marked. */
  range: Range | undefined
  /** Called when the span was marked, or when marking was cancelled. */
  onClose: () => void
}

/** Shows the regions of the recording that people have marked, and marks new ones. */
export const Regions = ({ id, range, onClose }: RegionsProps) => {
  const { rows, error, retry, more, isFetchingMore } = useList(regionsOptions(id))
  const isEmpty = !range && !error && !rows?.length
  return isEmpty ? null : (
    <section className={styles.regions} aria-label="Regions">
      {range && <MarkRegion key={`${range.from} ${range.to}`} id={id} range={range} onClose={onClose} />}
      {error && <FaultNote error={error} retry={retry} />}
      {rows && rows.length > 0 && <RegionList id={id} regions={rows} />}
      {more && (
        <Button small busy={isFetchingMore} onClick={more}>
          Show more
        </Button>
      )}
    </section>
  )
}

const RegionList = ({ id, regions }: { id: string; regions: Region[] }) => {
  const { rows: findings = [] } = useList(findingsOfOptions(id))
  const titles = new Map(findings.map((finding) => [finding.id, finding.title]))
  return (
    <ul className={styles.list}>
      {regions
        .toSorted((a, b) => a.startMs - b.startMs)
        .map((region) => (
          <RegionLine key={region.id} region={region} finding={titles.get(region.findingId ?? '')} />
        ))}
    </ul>
  )
}
