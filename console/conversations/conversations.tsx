import { useNavigate, useSearch } from '@tanstack/react-router'
import { Columns3, Maximize2, Rows2, Rows4, X } from 'lucide-react'
import { useState } from 'react'
import { useList } from '../api/queries.ts'
import { useMay, useMe } from '../api/session.ts'
import { FilterBar } from '../filters/filter-bar.tsx'
import { formatMoment } from '../lib/format.ts'
import { Button, ButtonLink, IconButton } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { type Density, LongTable } from '../ui/long-table.tsx'
import { Page } from '../ui/page.tsx'
import split from '../ui/split.module.css'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import type { Sort } from '../ui/table-head.tsx'
import { includedFor, useColumns } from './columns.tsx'
import { defaultColumns, type ViewColumn } from './default-columns.ts'
import { useDensity } from './density.ts'
import { ExportMenu } from './export-menu.tsx'
import { NewConversations } from './new-conversations.tsx'
import { conversationsOptions, type Found, type Included } from './queries.ts'
import { type Filter, mostSimilarFirst, type readConversationsSearch } from './search.ts'
import type { Position } from './use-position.ts'
import { Views } from './views.tsx'

const HowToSend = lazy(async () => (await import('./how-to-send.tsx')).HowToSend)

/** This component loads on demand, because the list doesn't need it. */
const ConversationView = lazy(
  async () => (await import('./conversation-view.tsx')).ConversationView,
  <Loading lines={8} />,
)

const ColumnsDialog = lazy(async () => (await import('./columns-dialog.tsx')).ColumnsDialog)
const BulkBar = lazy(async () => (await import('./bulk-bar.tsx')).BulkBar)
const NothingSimilar = lazy(async () => (await import('./nothing-similar.tsx')).NothingSimilar)

const newestFirst: Sort = { by: 'startedAt', direction: 'desc' }

const isNewestFirst = ({ by, direction }: Sort): boolean => by === 'startedAt' && direction === 'desc'

const withWidth = (columns: ViewColumn[], key: string, width: number): ViewColumn[] =>
  columns.map((column) => (column.key === key ? { key, width } : column))

const moved = (columns: ViewColumn[], key: string, to: string): ViewColumn[] => {
  const [from, target] = [key, to].map((each) => columns.findIndex((column) => column.key === each)) as [number, number]
  const column = columns[from]
  return column && target >= 0 ? columns.toSpliced(from, 1).toSpliced(target, 0, column) : columns
}

/** Returns the data that the columns need, limited to the organization's entitlements. */
const useIncluded = (columns: ViewColumn[]): Included[] => {
  const { entitlements } = useMe()
  const mayInclude = (included: Included) => {
    if (included === 'results' || included === 'cost') return entitlements.monitors
    return included !== 'metrics' || entitlements.metrics
  }
  return includedFor(columns, mayInclude)
}

type Search = ReturnType<typeof readConversationsSearch>

/** A list sorts by similarity when a meaning is added, and no longer when it is removed. */
const withSortFor = ({ sort, ...search }: Search, filter: Filter): Search => {
  const isAdded = filter.similarTo !== undefined && search.filter?.similarTo === undefined
  const isRemoved = filter.similarTo === undefined && sort?.by === mostSimilarFirst.by
  const next = isRemoved ? undefined : (sort ?? (isAdded ? mostSimilarFirst : undefined))
  return next ? { ...search, sort: next } : search
}

const withoutPanel = ({ open: _, at: __, turn: ___, ...rest }: Search): Search => rest

/** Returns functions that change the address. */
const useMoves = () => {
  const navigate = useNavigate({ from: '/conversations' })
  const change = (search: (before: Search) => Search) => void navigate({ search, replace: true })
  return {
    onFilter: (filter: Filter) =>
      change((before) => {
        const { filter: _, ...rest } = withSortFor(withoutPanel(before), filter)
        return Object.keys(filter).length > 0 ? { ...rest, filter } : rest
      }),
    onColumns: (columns: ViewColumn[] | undefined) =>
      change(({ columns: _, ...rest }) => (columns ? { ...rest, columns } : rest)),
    onSort: (sort: Sort) => change(({ sort: _, ...rest }) => (isNewestFirst(sort) ? rest : { ...rest, sort })),
    onSelect: (id: string | undefined, turn?: number) =>
      change((before) => ({
        ...withoutPanel(before),
        ...(id !== undefined && { open: id, ...(turn !== undefined && { turn }) }),
      })),
    onPlace: (place: Position) => change(({ at: _, turn: __, ...rest }) => ({ ...rest, ...place })),
    onOpen: (id: string) => void navigate({ to: '/conversations/$id', params: { id }, search: {} }),
  }
}

type Moves = ReturnType<typeof useMoves>

/** Shows the list when it has no rows: while it is loading, after it failed, or if nothing matches. */
const WithoutRows = ({
  list,
  isFiltered,
  isByMeaning,
  onResetSort,
}: {
  list: Pick<ReturnType<typeof useList<Found>>, 'rows' | 'error' | 'isPending' | 'retry'>
  isFiltered: boolean
  isByMeaning: boolean
  onResetSort: (() => void) | undefined
}) => {
  const { rows, error, isPending, retry } = list
  if (isPending) return <Loading lines={12} />
  if (error) {
    return (
      <div>
        <FaultNote error={error} retry={retry} />
        {onResetSort && <Button onClick={onResetSort}>Sort by start instead</Button>}
      </div>
    )
  }
  if (rows?.length !== 0) return null
  if (!isFiltered) return <HowToSend />
  if (isByMeaning) return <NothingSimilar />
  return (
    <Empty title="No conversations match">
      <p>Remove a filter or choose a longer period.</p>
    </Empty>
  )
}

type PanelProps = Pick<Moves, 'onSelect' | 'onPlace'> & { open: string; place: Position }

const Panel = ({ open, place, onSelect, onPlace }: PanelProps) => (
  <aside className={split.panel} aria-label="Selected conversation">
    <div className={split.panelHead}>
      <ButtonLink small look="quiet" to="/conversations/$id" params={{ id: open }} search={place}>
        <Maximize2 aria-hidden="true" /> Open full page
      </ButtonLink>
      <IconButton label="Close panel" icon={<X />} onClick={() => onSelect(undefined)} />
    </div>
    <ConversationView key={open} id={open} narrow place={place} onPlace={onPlace} />
  </aside>
)

const nameIn = (rows: Found[], id: string): string => {
  const row = rows.find((each) => each.id === id)
  return row ? `conversation of ${formatMoment(row.startedAt)}` : 'conversation'
}

type RowsProps = {
  list: ReturnType<typeof useList<Found>>
  rows: Found[]
  columns: ViewColumn[] | undefined
  isByMeaning: boolean
  sort: Sort
  open: string | undefined
  density: Density
  checked: ReadonlySet<string>
  onCheck: (ids: ReadonlySet<string>) => void
  moves: Moves
}

const Rows = ({ list, rows, columns, isByMeaning, sort, open, density, checked, onCheck, moves }: RowsProps) => {
  const mayWrite = useMay('member')
  const tableColumns = useColumns(columns, isByMeaning)
  const { onColumns, onSort, onSelect, onOpen } = moves
  const shown = columns ?? defaultColumns
  return (
    <LongTable
      label="Conversations"
      columns={tableColumns}
      rows={rows}
      idOf={({ id }) => id}
      more={list.more}
      isFetchingMore={list.isFetchingMore}
      selected={open}
      onSelect={(id) => onSelect(id, rows.find((row) => row.id === id)?.similarPassage?.firstTurn)}
      onOpen={onOpen}
      density={density}
      arrange={{
        sort,
        onSort,
        onResize: (key, width) => onColumns(withWidth(shown, key, width)),
        onMove: (key, to) => onColumns(moved(shown, key, to)),
      }}
      {...(mayWrite && { checked: { ids: checked, onChange: onCheck, nameOf: (id) => nameIn(rows, id) } })}
    />
  )
}

const none: ReadonlySet<string> = new Set()

/** Returns the selected rows for one filter. */
const useChecked = (filter: Filter) => {
  const key = JSON.stringify(filter)
  const [checked, setChecked] = useState({ key, ids: none })
  return [checked.key === key ? checked.ids : none, (ids: ReadonlySet<string>) => setChecked({ key, ids })] as const
}

/** Shows the list's settings: its row height and its columns. */
const ListTools = ({
  density,
  onDensity,
  columns,
  rows,
  onColumns,
}: {
  density: Density
  onDensity: (density: Density) => void
  columns: ViewColumn[]
  rows: Found[]
  onColumns: Moves['onColumns']
}) => {
  const [choosing, setChoosing] = useState(false)
  const isCompact = density === 'compact'
  return (
    <>
      <IconButton
        label={isCompact ? 'Show taller rows' : 'Show compact rows'}
        icon={isCompact ? <Rows2 /> : <Rows4 />}
        onClick={() => onDensity(isCompact ? 'normal' : 'compact')}
      />
      <IconButton label="Choose columns" icon={<Columns3 />} onClick={() => setChoosing(true)} />
      {choosing && (
        <ColumnsDialog columns={columns} rows={rows} onChange={onColumns} onClose={() => setChoosing(false)} />
      )}
    </>
  )
}

export const Conversations = () => {
  const { filter = {}, view, columns, sort = newestFirst, open, at, turn } = useSearch({ from: '/app/conversations' })
  const moves = useMoves()
  const shownColumns = columns ?? defaultColumns
  const include = useIncluded(shownColumns)
  const isUsualOrder = isNewestFirst(sort)
  const listing = { filter, include, ...(!isUsualOrder && { sort }) }
  const list = useList(conversationsOptions(listing))
  const [density, setDensity] = useDensity()
  const [checked, setChecked] = useChecked(filter)
  const mayWrite = useMay('member')
  const isFiltered = Object.keys(filter).length > 0
  const { rows = [] } = list
  const state = { ...(isFiltered && { filter }), ...(columns && { columns }), ...(!isUsualOrder && { sort }) }
  return (
    <Page title="Conversations" fixed actions={<ExportMenu state={state} />}>
      <Views state={state} view={view} />
      <FilterBar filter={filter} onChange={moves.onFilter}>
        <ListTools
          density={density}
          onDensity={setDensity}
          columns={shownColumns}
          rows={rows}
          onColumns={moves.onColumns}
        />
      </FilterBar>
      {mayWrite && (
        <BulkBar
          checked={checked}
          state={state}
          mayHaveMore={list.more !== undefined && checked.size === rows.length}
          onClear={() => setChecked(none)}
        />
      )}
      <div className={open ? `${split.split} ${split.open}` : split.split}>
        <div className={split.list}>
          <WithoutRows
            list={list}
            isFiltered={isFiltered}
            isByMeaning={filter.similarTo !== undefined}
            onResetSort={isUsualOrder ? undefined : () => moves.onSort(newestFirst)}
          />
          {isUsualOrder && <NewConversations listing={listing} />}
          {rows.length > 0 && (
            <Rows
              list={list}
              rows={rows}
              columns={columns}
              isByMeaning={filter.similarTo !== undefined}
              sort={sort}
              open={open}
              density={density}
              checked={checked}
              onCheck={setChecked}
              moves={moves}
            />
          )}
        </div>
        {open && (
          <Panel
            open={open}
            place={{ ...(at !== undefined && { at }), ...(turn !== undefined && { turn }) }}
            onSelect={moves.onSelect}
            onPlace={moves.onPlace}
          />
        )}
      </div>
    </Page>
  )
}
