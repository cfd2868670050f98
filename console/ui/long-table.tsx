// biome-ignore-all lint/a11y/useSemanticElements: absolutely positioned rows can't be <tr> elements
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names the active row

import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type MouseEvent, useEffect, useRef, useState } from 'react'
import { useKeys } from './keys.tsx'
import styles from './table.module.css'
import { type Column, cellClass, columnsWithin, type TableProps } from './table.tsx'
import { type Arrange, HeadCell, sortedAs } from './table-head.tsx'
import { useWidth } from './use-width.ts'

const rowHeights = { normal: 34, compact: 27 } as const
export type Density = keyof typeof rowHeights

const rowsBeforeTheEnd = 40
/** The number of rows visible above the open row when the list first renders. */
const rowsAbove = 8
const checkWidth = 32

/** Rows that people select in order to act on them together. */
export type Checked = {
  ids: ReadonlySet<string>
  onChange: (ids: ReadonlySet<string>) => void
  /** Names a row for screen readers. */
  nameOf: (id: string) => string
}

type LongTableProps<T> = TableProps<T> & {
  /** The row that is marked or has an open panel. */
  selected: string | undefined
  onSelect: (id: string | undefined) => void
  /** Called on Enter, or on a second click. */
  onOpen: (id: string) => void
  density?: Density
  /** Headers that sort, resize, and move columns. */
  arrange?: Arrange
  checked?: Checked
}

const withAll = (ids: ReadonlySet<string>, more: string[]): Set<string> => new Set([...ids, ...more])

/** Selects rows by checkbox, with shift up to another row, and by keyboard. */
const useChecking = <T,>(rows: T[], idOf: (row: T) => string, checked: Checked | undefined) => {
  /** The row at which a selection with shift starts. */
  const anchor = useRef<number>(undefined)
  const idsBetween = (from: number, to: number) =>
    rows.slice(Math.min(from, to), Math.max(from, to) + 1).map((row) => idOf(row))
  const toggle = (index: number) => {
    const row = rows[index]
    if (!checked || row === undefined) return
    const ids = new Set(checked.ids)
    if (!ids.delete(idOf(row))) ids.add(idOf(row))
    anchor.current = index
    checked.onChange(ids)
  }
  const extend = (to: number) => {
    if (!checked || rows[to] === undefined) return
    anchor.current ??= to
    checked.onChange(withAll(checked.ids, idsBetween(anchor.current, to)))
  }
  const begin = (index: number) => {
    anchor.current ??= index
  }
  return { toggle, extend, begin }
}

type Width = { template: string; least: number | undefined }

/**
 * Returns fixed widths, or shares of the remaining space. A list with minimum widths for its columns scrolls sideways.
 */
const widthsOf = <T,>(columns: Column<T>[], hasChecks: boolean): Width => {
  const checks = hasChecks ? [`${checkWidth}px`] : []
  const template = [...checks, ...columns.map(({ width = '1fr', min = 0 }) => `minmax(${min}px, ${width})`)].join(' ')
  const least = columns.reduce(
    (sum, { width, min = 0 }) => sum + (width?.endsWith('px') ? Number.parseInt(width, 10) : min),
    0,
  )
  return {
    template,
    least: columns.some(({ min }) => min !== undefined) ? least + (hasChecks ? checkWidth : 0) : undefined,
  }
}

/**
 * Shows a virtualized list. `j` and `k` move, Enter opens a row, and Escape closes it. `x` and the arrow keys with
 * shift select rows. More rows are fetched before the end becomes visible.
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
  density = 'normal',
  arrange,
  checked,
}: LongTableProps<T>) => {
  const scroller = useRef<HTMLDivElement>(null)
  const rowHeight = rowHeights[density]
  const at = selected === undefined ? -1 : rows.findIndex((row) => idOf(row) === selected)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 24,
    // After navigating back or opening a link, the list starts at the selected row.
    initialOffset: Math.max(0, (at - rowsAbove) * rowHeight),
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height changes all positions
  useEffect(() => virtual.measure(), [rowHeight])
  const checking = useChecking(rows, idOf, checked)
  const move = (by: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, at + by))
    const row = rows[next]
    if (row === undefined) return undefined
    virtual.scrollToIndex(next)
    onSelect(idOf(row))
    return next
  }
  const extend = (by: number) => {
    if (at >= 0) checking.begin(at)
    const next = move(by)
    if (next !== undefined) checking.extend(next)
  }
  const clear = () => {
    if (checked && checked.ids.size > 0) checked.onChange(new Set())
    else onSelect(undefined)
  }
  useKeys({
    j: { does: 'Next row', run: () => void move(1) },
    k: { does: 'Previous row', run: () => void move(-1) },
    ArrowDown: {
      does: 'Next row',
      run: ({ shiftKey }) => (shiftKey && checked ? extend(1) : void move(1)),
      within: scroller,
    },
    ArrowUp: {
      does: 'Previous row',
      run: ({ shiftKey }) => (shiftKey && checked ? extend(-1) : void move(-1)),
      within: scroller,
    },
    Enter: { does: 'Open row', run: () => selected !== undefined && onOpen(selected), within: scroller },
    Escape: { does: checked ? 'Clear selection, close panel' : 'Close panel', run: clear },
    ...(checked && {
      x: { does: 'Select row; shift and arrow keys select more', run: () => at >= 0 && checking.toggle(at) },
      'mod+a': {
        does: 'Select all loaded rows',
        run: () => checked.onChange(new Set(rows.map((row) => idOf(row)))),
        within: scroller,
      },
    }),
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (more && last >= rows.length - rowsBeforeTheEnd) more()
  }, [more, last, rows.length])
  const width = useWidth(scroller, Number.POSITIVE_INFINITY)
  const [resizing, setResizing] = useState<{ key: string; width: number }>()
  const shown = columnsWithin(columns, width).map((column) =>
    column.key === resizing?.key ? { ...column, width: `${resizing.width}px`, min: resizing.width } : column,
  )
  const { template, least } = widthsOf(shown, checked !== undefined)
  const press = (event: MouseEvent, id: string, index: number) => {
    if (checked && event.shiftKey) {
      if (at >= 0) checking.begin(at)
      // Otherwise, the browser would select the text in between.
      getSelection()?.removeAllRanges()
      return checking.extend(index)
    }
    return id === selected ? onOpen(id) : onSelect(id)
  }
  return (
    <div
      ref={scroller}
      className={`${styles.scroll} ${styles.long}`}
      role="grid"
      aria-label={label}
      aria-rowcount={more ? -1 : rows.length + 1}
      aria-activedescendant={selected === undefined ? undefined : `row-${selected}`}
      tabIndex={0}
      style={{ '--row': `${rowHeight}px` } as CSSProperties}
    >
      <div
        role="row"
        className={`${styles.gridRow} ${styles.gridHead}`}
        style={{ gridTemplateColumns: template, minWidth: least }}
      >
        {checked && (
          <div role="columnheader">
            <input
              type="checkbox"
              aria-label="Select all loaded rows"
              checked={rows.length > 0 && rows.every((row) => checked.ids.has(idOf(row)))}
              onChange={({ target }) => checked.onChange(new Set(target.checked ? rows.map((row) => idOf(row)) : []))}
            />
          </div>
        )}
        {shown.map((column) => (
          <div
            key={column.key}
            role="columnheader"
            className={cellClass(column)}
            aria-sort={sortedAs(arrange?.sort, column.sortBy)}
          >
            {arrange ? (
              <HeadCell
                column={column}
                arrange={{
                  ...arrange,
                  onResize: (key, to) => {
                    setResizing(undefined)
                    arrange.onResize(key, to)
                  },
                }}
                onResizing={(to) => setResizing({ key: column.key, width: to })}
              />
            ) : (
              column.label
            )}
          </div>
        ))}
      </div>
      <div role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize(), minWidth: least }}>
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
              className={checked?.ids.has(id) ? `${styles.gridRow} ${styles.checked}` : styles.gridRow}
              style={{ gridTemplateColumns: template, transform: `translateY(${start}px)` }}
              onClick={(event) => press(event, id, index)}
            >
              {checked && (
                // biome-ignore lint/a11y/useKeyWithClickEvents: only keeps the row from opening
                <div role="gridcell" onClick={(event) => event.stopPropagation()}>
                  <input
                    type="checkbox"
                    tabIndex={-1}
                    aria-label={`Select ${checked.nameOf(id)}`}
                    checked={checked.ids.has(id)}
                    onClick={(event) => {
                      if (event.shiftKey) checking.extend(index)
                      else checking.toggle(index)
                    }}
                    onChange={() => undefined}
                  />
                </div>
              )}
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
