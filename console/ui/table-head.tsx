// Shows headers that sort, resize, and move their columns. The columns dialog provides the same functions by keyboard.

import { ArrowDown, ArrowUp } from 'lucide-react'
import { type DragEvent, type PointerEvent, useRef } from 'react'
import type { Column } from './table.tsx'
import styles from './table-head.module.css'

export type Sort = { by: string; direction: 'asc' | 'desc' }

export type Arrange = {
  sort: Sort
  onSort: (sort: Sort) => void
  /** Called once with the header's new width in pixels. */
  onResize: (key: string, width: number) => void
  /** Moves a column to the position of another one. */
  onMove: (key: string, to: string) => void
}

const narrowest = 40
const widest = 1_000

/**
 * Returns the sort after a click. The first click sorts the highest or latest first, and the next click reverses the
 * order.
 */
const nextOf = ({ by, direction }: Sort, sortBy: string): Sort =>
  by === sortBy && direction === 'desc' ? { by, direction: 'asc' } : { by: sortBy, direction: 'desc' }

const ariaSort = { asc: 'ascending', desc: 'descending' } as const

/** Returns the value of a header's `aria-sort`, or undefined if the list isn't sorted by it. */
export const sortedAs = (sort: Sort | undefined, sortBy: string | undefined) =>
  sort && sort.by === sortBy ? ariaSort[sort.direction] : undefined

const dragType = 'text/x-column'

type HeadCellProps<T> = {
  column: Column<T>
  arrange: Arrange
  /** Called while the header is dragged. */
  onResizing: (width: number) => void
}

export const HeadCell = <T,>({ column, arrange, onResizing }: HeadCellProps<T>) => {
  const { sort, onSort, onResize, onMove } = arrange
  const { key, label, sortBy, numeric } = column
  const cell = useRef<HTMLDivElement>(null)
  const isSorted = sortBy !== undefined && sort.by === sortBy
  const Arrow = sort.direction === 'asc' ? ArrowUp : ArrowDown
  const resize = (event: PointerEvent<HTMLSpanElement>) => {
    event.preventDefault()
    const handle = event.currentTarget
    const from = event.clientX - (cell.current?.parentElement?.clientWidth ?? 0)
    handle.setPointerCapture(event.pointerId)
    let width: number | undefined
    const move = ({ clientX }: globalThis.PointerEvent) => {
      width = Math.round(Math.min(widest, Math.max(narrowest, clientX - from)))
      onResizing(width)
    }
    const end = () => {
      handle.removeEventListener('pointermove', move)
      if (width !== undefined) onResize(key, width)
    }
    handle.addEventListener('pointermove', move)
    handle.addEventListener('lostpointercapture', end, { once: true })
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dragging has its keyboard equivalent in the dialog
    <div
      ref={cell}
      className={numeric ? `${styles.head} ${styles.right}` : styles.head}
      draggable
      onDragStart={({ dataTransfer }) => dataTransfer.setData(dragType, key)}
      onDragOver={(event: DragEvent) => event.dataTransfer.types.includes(dragType) && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        const moved = event.dataTransfer.getData(dragType)
        if (moved !== '' && moved !== key) onMove(moved, key)
      }}
    >
      {sortBy === undefined ? (
        <span className={styles.label}>{label}</span>
      ) : (
        <button type="button" className={styles.sort} onClick={() => onSort(nextOf(sort, sortBy))}>
          <span className={styles.label}>{label}</span>
          {isSorted && <Arrow aria-hidden="true" />}
        </button>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: widths can be typed in the dialog */}
      <span
        className={styles.handle}
        onPointerDown={resize}
        draggable
        onDragStart={(event) => {
          event.preventDefault()
          event.stopPropagation()
        }}
      />
    </div>
  )
}
