import { useNavigate } from '@tanstack/react-router'
import { Maximize2, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { formatCount } from '../lib/format.ts'
import { ButtonLink, IconButton } from '../ui/button.tsx'
import { useKeys } from '../ui/keys.tsx'
import { LongTable } from '../ui/long-table.tsx'
import split from '../ui/split.module.css'
import { FaultNote, Loading } from '../ui/states.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { FindingView } from './finding-view.tsx'
import styles from './findings.module.css'
import { type Finding, findingsOptions } from './queries.ts'
import type { FindingsFilter } from './search.ts'
import { useTriage, useTriageKeys } from './triage.ts'
import { PriorityMark, StatusBadge } from './words.tsx'

const useColumns = (): Column<Finding>[] => {
  const { nameOf } = useNames('members')
  return [
    {
      key: 'priority',
      label: '',
      width: '36px',
      cell: ({ priority }) => <PriorityMark priority={priority} bare />,
    },
    { key: 'title', label: 'Finding', width: '3fr', cell: ({ title }) => title },
    { key: 'status', label: 'Status', width: '132px', cell: ({ status }) => <StatusBadge status={status} /> },
    { key: 'tags', label: 'Tags', from: 720, cell: ({ tags }) => tags.join(', ') },
    {
      key: 'assignee',
      label: 'Assignee',
      from: 720 as const,
      cell: ({ assigneeUserId }) => assigneeUserId && nameOf(assigneeUserId),
    },
    {
      key: 'conversations',
      label: 'Conversations',
      width: '112px',
      numeric: true,
      from: 720 as const,
      cell: ({ conversationCount }) => formatCount(conversationCount),
    },
    {
      key: 'comments',
      label: 'Comments',
      width: '92px',
      numeric: true,
      from: 960 as const,
      cell: ({ commentCount }) => formatCount(commentCount),
    },
    { key: 'filed', label: 'Created', width: '116px', from: 480, cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]
}

type ListProps = {
  filter: FindingsFilter
  open: string | undefined
  onSelect: (id: string | undefined) => void
  empty: ReactNode
}

export const FindingsList = ({ filter, open, onSelect, empty }: ListProps) => {
  const navigate = useNavigate()
  const columns = useColumns()
  const { rows, error, isPending, more, isFetchingMore, retry } = useList(findingsOptions(filter))
  const openPage = (id: string) => void navigate({ to: '/findings/$id', params: { id } })
  useKeys({ Enter: { does: 'Open full page', run: () => open && openPage(open) } })
  const triage = useTriage()
  useTriageKeys(
    rows?.find(({ id }) => id === open),
    triage.mutate,
  )
  return (
    <div className={open ? `${split.split} ${split.open}` : split.split}>
      <div className={split.list}>
        {error && <FaultNote error={error} retry={retry} />}
        {triage.error && <FaultNote error={triage.error} />}
        {isPending && <Loading lines={10} />}
        {rows?.length === 0 && empty}
        {rows !== undefined && rows.length > 0 && (
          <LongTable
            label="Findings"
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            more={more}
            isFetchingMore={isFetchingMore}
            selected={open}
            onSelect={onSelect}
            onOpen={openPage}
          />
        )}
      </div>
      {open && (
        <section className={split.panel} aria-label="Selected finding">
          <div className={split.panelHead}>
            <ButtonLink small look="quiet" to="/findings/$id" params={{ id: open }}>
              <Maximize2 aria-hidden="true" /> Open full page
            </ButtonLink>
            <IconButton label="Close panel" icon={<X />} onClick={() => onSelect(undefined)} />
          </div>
          <div className={styles.panelBody}>
            <FindingView key={open} id={open} titled />
          </div>
        </section>
      )}
    </div>
  )
}
