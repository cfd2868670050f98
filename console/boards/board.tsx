import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { isNotFound } from '../api/fault.ts'
import { useMay } from '../api/session.ts'
import type { Filter } from '../filters/filter.ts'
import { FilterChips } from '../filters/filter-chips.tsx'
import { compareToOf, withoutTime } from '../filters/range.ts'
import { RangePicker } from '../filters/range-picker.tsx'
import { useRange } from '../filters/use-range.ts'
import { NotFound } from '../layout/not-found.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { Await, Empty, FaultNote } from '../ui/states.tsx'
import { BoardActions } from './board-actions.tsx'
import styles from './boards.module.css'
import { updateBoard } from './changes.ts'
import { savePicture } from './chart.tsx'
import { ChartGrid } from './chart-grid.tsx'
import { type Board as BoardRecord, boardOptions, refreshBoards, type Shown } from './queries.ts'
import type { BoardSearch } from './search.ts'

/** Returns the charts' filter and comparison: those of the board, unless the address contains others. */
const useShown = (board: BoardRecord) => {
  const search = useSearch({ from: '/app/boards/$id' })
  const navigate = useNavigate({ from: '/boards/$id' })
  const change = (next: BoardSearch) => void navigate({ search: next, replace: true, resetScroll: false })
  const { period, since, until } = board.filter
  const range = useRange({
    page: `board:${board.id}`,
    search,
    defaults: {
      time: { ...(period && { period }), ...(since && { since }), ...(until && { until }) },
      compare: board.compareTo ?? 'none',
    },
    navigate: (next) => change({ ...(search.filter && { filter: search.filter }), ...next }),
  })
  const own = search.filter ?? withoutTime(board.filter)
  const { compare, time } = range
  return {
    range,
    filter: own,
    shown: { filter: { ...own, ...time }, compareTo: compareToOf(compare, range.timezone) } satisfies Shown,
    isChanged: range.isChanged || search.filter !== undefined,
    setFilter: (filter: Filter) => change({ ...search, filter }),
    reset: () => {
      range.forget()
      change({})
    },
  }
}

type ShownState = ReturnType<typeof useShown>

/** Shows the period and filter of the whole board. They are only stored for everyone when a member saves them. */
const Controls = ({ board, state }: { board: BoardRecord; state: ShownState }) => {
  const { range, filter, shown, isChanged, setFilter, reset } = state
  const mayWrite = useMay('member') && !board.isBuiltIn
  const save = useMutation({
    mutationFn: () => {
      const { compareTo = null } = shown
      // Comparison dates are not stored, because they would stay the same while the period moves on.
      const isStored = compareTo === null || typeof compareTo === 'string'
      return updateBoard(board.id, { filter: shown.filter, ...(isStored && { compareTo }) })
    },
    onSuccess: async () => {
      await refreshBoards()
      reset()
    },
  })
  return (
    <>
      <div className={styles.controls}>
        <RangePicker time={range.time} timezone={range.timezone} compare={range.compare} onChange={range.choose} />
        <FilterChips filter={filter} onChange={setFilter} without={['since', 'until']} hasKey />
        {isChanged && (
          <>
            {mayWrite && (
              <Button busy={save.isPending} onClick={() => save.mutate()}>
                Save for everyone
              </Button>
            )}
            <Button look="quiet" onClick={reset}>
              Reset
            </Button>
          </>
        )}
      </div>
      {save.error && <FaultNote error={save.error} />}
    </>
  )
}

const useFullScreen = () => {
  const [isFull, setIsFull] = useState(false)
  useEffect(() => {
    const update = () => setIsFull(document.fullscreenElement !== null)
    document.addEventListener('fullscreenchange', update)
    return () => document.removeEventListener('fullscreenchange', update)
  }, [])
  return isFull
}

const Loaded = ({ board }: { board: BoardRecord }) => {
  const state = useShown(board)
  const mayWrite = useMay('member') && !board.isBuiltIn
  const charts = useRef<HTMLDivElement>(null)
  const isFull = useFullScreen()
  return (
    <Page
      title={board.name}
      above={<Link to="/boards">Boards</Link>}
      context={board.description}
      actions={
        <BoardActions
          board={board}
          onFullScreen={() => void charts.current?.requestFullscreen()}
          onPicture={() => void savePicture(charts.current, board.name)}
        />
      }
    >
      <Controls board={board} state={state} />
      {board.charts.length === 0 ? (
        <Empty
          title="No charts yet"
          action={
            mayWrite && (
              <ButtonLink to="/boards/$id/charts/$chartId" params={{ id: board.id, chartId: 'new' }}>
                Add chart
              </ButtonLink>
            )
          }
        >
          <p>A chart counts conversations, or shows how often a monitor finds them affected, by group or over time.</p>
        </Empty>
      ) : (
        <ChartGrid ref={charts} board={board} shown={state.shown} mayChange={mayWrite} isFull={isFull} />
      )}
    </Page>
  )
}

export const Board = () => {
  const { id } = useParams({ from: '/app/boards/$id' })
  const query = useQuery(boardOptions(id))
  if (isNotFound(query.error)) return <NotFound />
  if (query.data) return <Loaded key={id} board={query.data} />
  return (
    <Page title="Board" above={<Link to="/boards">Boards</Link>}>
      <Await query={query} lines={8}>
        {() => null}
      </Await>
    </Page>
  )
}
