// biome-ignore-all lint/a11y/useSemanticElements: rows that are placed one by one cannot be those of a <table>
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and says which row is the active one
// Tables: a plain one for what fits on a page, and one that draws only the rows in sight, for what does not.

import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from './button.tsx'
import { useKeys } from './keys.tsx'
import styles from './table.module.css'
import { useWidth } from './use-width.ts'

export type Column<T> = {
  key: string
  label: ReactNode
  /** How the column shares the width: a length, or parts of what is left, as in CSS grids. */
  width?: string
  numeric?: boolean
  /** Not shown where the table is narrower than this many pixels. */
  from?: 480 | 720 | 960
  cell: (row: T) => ReactNode
}

const cellClass = ({ numeric, from }: { numeric?: boolean; from?: number | undefined }) =>
  [numeric && styles.numeric, from && styles[`from${from}`]].filter(Boolean).join(' ')

type TableProps<T> = {
  label: string
  columns: Column<T>[]
  rows: T[]
  idOf: (row: T) => string
  more?: (() => void) | undefined
  isFetchingMore?: boolean
}

export const Table = <T,>({ label, columns, rows, idOf, more, isFetchingMore = false }: TableProps<T>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <section className={styles.scroll} aria-label={label} tabIndex={0}>
    <table className={styles.table}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.key} scope="col" className={cellClass(column)}>
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={idOf(row)}>
            {columns.map((column) => (
              <td key={column.key} className={cellClass(column)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    {more && (
      <div className={styles.more}>
        <Button small busy={isFetchingMore} onClick={more}>
          Show more
        </Button>
      </div>
    )}
  </section>
)

const rowHeight = 34
const rowsBeforeTheEnd = 40
/** So many are seen above the row that a list opens at. */
const rowsAbove = 8

type LongTableProps<T> = TableProps<T> & {
  /** The row whose panel is open, or that is marked. */
  selected: string | undefined
  onSelect: (id: string | undefined) => void
  /** Enter, or a second click. */
  onOpen: (id: string) => void
}

/** Rows without end: `j` and `k` move, Enter opens, Escape closes, and more are fetched before the end comes in sight. */
export const LongTable = <T,>({
  label,
  columns,
  rows,
  idOf,
  more,
  isFetchingMore = false,
  selected,
  onSelect,
  onOpen,
}: LongTableProps<T>) => {
  const scroller = useRef<HTMLDivElement>(null)
  const at = selected === undefined ? -1 : rows.findIndex((row) => idOf(row) === selected)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 24,
    // A list that is come back to, or whose link was pasted, shows the row that it speaks of.
    initialOffset: Math.max(0, (at - rowsAbove) * rowHeight),
  })
  const move = (by: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, at + by))
    const row = rows[next]
    if (row === undefined) return
    virtual.scrollToIndex(next)
    onSelect(idOf(row))
  }
  useKeys({
    j: { does: 'Next row', run: () => move(1) },
    k: { does: 'Row before', run: () => move(-1) },
    ArrowDown: { does: 'Next row', run: () => move(1), within: scroller },
    ArrowUp: { does: 'Row before', run: () => move(-1), within: scroller },
    Enter: { does: 'Open the row', run: () => selected !== undefined && onOpen(selected), within: scroller },
    Escape: { does: 'Close the panel', run: () => onSelect(undefined) },
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (more && last >= rows.length - rowsBeforeTheEnd) more()
  }, [more, last, rows.length])
  const width = useWidth(scroller, Number.POSITIVE_INFINITY)
  const shown = columns.filter(({ from = 0 }) => width >= from)
  const template = shown.map(({ width = '1fr' }) => `minmax(0, ${width})`).join(' ')
  return (
    <div
      ref={scroller}
      className={`${styles.scroll} ${styles.long}`}
      role="grid"
      aria-label={label}
      aria-rowcount={more ? -1 : rows.length + 1}
      aria-activedescendant={selected === undefined ? undefined : `row-${selected}`}
      tabIndex={0}
    >
      <div role="row" className={`${styles.gridRow} ${styles.gridHead}`} style={{ gridTemplateColumns: template }}>
        {shown.map((column) => (
          <div key={column.key} role="columnheader" className={cellClass({ ...column, from: undefined })}>
            {column.label}
          </div>
        ))}
      </div>
      <div role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rows[index] as T
          const id = idOf(row)
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the grid takes the keys of all its rows
            <div
              key={id}
              id={`row-${id}`}
              role="row"
              tabIndex={-1}
              aria-rowindex={index + 2}
              aria-selected={id === selected}
              className={styles.gridRow}
              style={{ gridTemplateColumns: template, transform: `translateY(${start}px)` }}
              onClick={() => (id === selected ? onOpen(id) : onSelect(id))}
            >
              {shown.map((column) => (
                <div key={column.key} role="gridcell" className={cellClass({ ...column, from: undefined })}>
                  {column.cell(row)}
                </div>
              ))}
            </div>
          )
        })}
      </div>
      {isFetchingMore && <div className={styles.fetching} aria-hidden="true" />}
    </div>
  )
}
