import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { useMay } from '../api/session.ts'
import { chosenTime, timeOptions, withTime } from '../filters/periods.ts'
import { NotFound } from '../layout/not-found.tsx'
import { ownZone } from '../lib/zones.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/controls.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Page } from '../ui/page.tsx'
import { Await, Empty, FaultNote } from '../ui/states.tsx'
import styles from './boards.module.css'
import { ChartCard } from './chart.tsx'
import { type Board as BoardRecord, boardOptions, refreshBoards } from './queries.ts'
import type { BoardSearch } from './search.ts'

const comparisons = [
  { value: 'none', label: 'No comparison' },
  { value: 'previous_period', label: 'Previous period' },
  { value: 'previous_year', label: 'Previous year' },
]

const BoardActions = ({ board }: { board: BoardRecord }) => {
  const [deleting, setDeleting] = useState(false)
  const navigate = useNavigate()
  const duplicate = useMutation({
    mutationFn: () => answer(api.POST('/v1/boards/{id}/duplicate', { params: { path: { id: board.id } }, body: {} })),
    onSuccess: async ({ id, name }) => {
      await refreshBoards()
      announce(`Board “${name}” created`)
      await navigate({ to: '/boards/$id', params: { id } })
    },
  })
  return (
    <>
      {duplicate.error && <FaultNote error={duplicate.error} />}
      <Button busy={duplicate.isPending} onClick={() => duplicate.mutate()}>
        Duplicate
      </Button>
      {!board.isBuiltIn && (
        <Button look="quiet" onClick={() => setDeleting(true)}>
          Delete
        </Button>
      )}
      <Confirm
        title={`Delete board “${board.name}”?`}
        action="Delete board"
        open={deleting}
        onClose={() => setDeleting(false)}
        run={async () => {
          await api.DELETE('/v1/boards/{id}', { params: { path: { id: board.id } } })
          await refreshBoards()
          await navigate({ to: '/boards' })
        }}
      >
        This deletes the board for everyone in your organization. Conversations are kept.
      </Confirm>
    </>
  )
}

/** Returns what the charts show: the board's filter and comparison, unless the address has others. */
const shownOf = ({ filter, compareTo }: BoardRecord, { time, compare }: BoardSearch) => {
  const zoned = filter.period ? { ...filter, period: { ...filter.period, timezone: ownZone() } } : filter
  const chosen = compare ?? compareTo ?? 'none'
  return {
    filter: time === undefined ? zoned : withTime(zoned, time, ownZone()),
    compareTo: chosen === 'none' ? undefined : chosen,
  }
}

export const Board = () => {
  const { id } = useParams({ from: '/app/boards/$id' })
  const search = useSearch({ from: '/app/boards/$id' })
  const navigate = useNavigate({ from: '/boards/$id' })
  const query = useQuery(boardOptions(id))
  const mayWrite = useMay('member')
  const charts = useRef<HTMLDivElement>(null)
  const [isFull, setIsFull] = useState(false)
  useEffect(() => {
    const update = () => setIsFull(document.fullscreenElement !== null)
    document.addEventListener('fullscreenchange', update)
    return () => document.removeEventListener('fullscreenchange', update)
  }, [])
  if (isNotFound(query.error)) return <NotFound />
  const board = query.data
  const shown = board && shownOf(board, search)
  const change = (next: BoardSearch) => void navigate({ search: { ...search, ...next }, replace: true })
  return (
    <Page
      title={board?.name ?? 'Board'}
      above={<Link to="/boards">Boards</Link>}
      context={board?.description}
      actions={board && mayWrite && <BoardActions board={board} />}
    >
      <Await query={query} lines={8}>
        {({ charts: cards }) =>
          shown && (
            <>
              <div className={styles.controls}>
                <Select
                  aria-label="Period"
                  value={chosenTime(shown.filter)}
                  // A chart over time needs a period.
                  options={timeOptions(shown.filter).filter(
                    ({ value }) => value !== '' && (value !== 'dates' || chosenTime(shown.filter) === 'dates'),
                  )}
                  onChange={({ target }) => change({ time: target.value })}
                />
                <Select
                  aria-label="Compare with"
                  value={shown.compareTo ?? 'none'}
                  options={comparisons}
                  onChange={({ target }) => change({ compare: target.value as BoardSearch['compare'] & string })}
                />
                <Button look="quiet" onClick={() => void charts.current?.requestFullscreen()}>
                  Full screen
                </Button>
              </div>
              <div ref={charts} className={isFull ? `${styles.charts} ${styles.full}` : styles.charts}>
                {cards.length === 0 && <Empty title="No charts yet" />}
                {cards.map((chart) => (
                  <ChartCard key={chart.id} chart={chart} shown={shown} />
                ))}
              </div>
            </>
          )
        }
      </Await>
    </Page>
  )
}
