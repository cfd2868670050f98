// biome-ignore-all lint/a11y/useSemanticElements: absolutely positioned rows can't be <tr> elements
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names the active row

import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { useKeys } from './keys.tsx'
import styles from './table.module.css'
import { cellClass, columnsWithin, type TableProps } from './table.tsx'
import { useWidth } from './use-width.ts'

const rowHeight = 34
const rowsBeforeTheEnd = 40
/** The number of rows visible above the open row when the list first renders. */
const rowsAbove = 8

type LongTableProps<T> = TableProps<T> & {
  /** The row that is marked or has its panel open. */
  selected: string | undefined
  onSelect: (id: string | undefined) => void
  /** Called on Enter, or on a second click. */
  onOpen: (id: string) => void
}

/**
 * A virtualized list. `j` and `k` move, Enter opens a row, and Escape closes it. More rows are fetched before the end
 * is visible.
 */
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
    // After navigating back or opening a link, the list starts at the selected row.
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
    k: { does: 'Previous row', run: () => move(-1) },
    ArrowDown: { does: 'Next row', run: () => move(1), within: scroller },
    ArrowUp: { does: 'Previous row', run: () => move(-1), within: scroller },
    Enter: { does: 'Open row', run: () => selected !== undefined && onOpen(selected), within: scroller },
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
            // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all rows
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
