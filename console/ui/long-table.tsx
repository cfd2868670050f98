// biome-ignore-all lint/a11y/useSemanticElements: rows that are placed one by one cannot be those of a <table>
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and says which row is the active one

import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { useKeys } from './keys.tsx'
import styles from './table.module.css'
import { cellClass, columnsWithin, type TableProps } from './table.tsx'
import { useWidth } from './use-width.ts'

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
    Escape: { does: 'Close panel', run: () => onSelect(undefined) },
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (more && last >= rows.length - rowsBeforeTheEnd) more()
  }, [more, last, rows.length])
  const width = useWidth(scroller, Number.POSITIVE_INFINITY)
  const shown = columnsWithin(columns, width)
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
          <div key={column.key} role="columnheader" className={cellClass(column)}>
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
                <div key={column.key} role="gridcell" className={cellClass(column)}>
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
