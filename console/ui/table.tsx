// Shows a table that renders all its rows. Use long-table.tsx for lists that don't fit on a page.

import { type ReactNode, useRef } from 'react'
import { Button } from './button.tsx'
import styles from './table.module.css'
import { useWidth } from './use-width.ts'

export type Column<T> = {
  key: string
  label: ReactNode
  /** The column's width in CSS grid units. */
  width?: string
  numeric?: boolean
  /** The column's minimum width in pixels in a list that scrolls sideways. */
  min?: number
  /** The sort order after a click on the header. */
  sortBy?: string
  /** The minimum width of the table, in pixels, at which the column is visible. */
  from?: 480 | 720 | 960
  cell: (row: T) => ReactNode
}

export const cellClass = ({ numeric }: { numeric?: boolean }) => (numeric ? styles.numeric : undefined)

/** Returns the columns that fit. */
export const columnsWithin = <T,>(columns: Column<T>[], width: number) =>
  columns.filter(({ from = 0 }) => width >= from)

export type TableProps<T> = {
  label: string
  columns: Column<T>[]
  rows: T[]
  idOf: (row: T) => string
  more?: (() => void) | undefined
  isFetchingMore?: boolean
}

export const Table = <T,>({ label, columns, rows, idOf, more, isFetchingMore = false }: TableProps<T>) => {
  const scroller = useRef<HTMLElement>(null)
  const shown = columnsWithin(columns, useWidth(scroller))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section ref={scroller} className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            {shown.map((column) => (
              <th key={column.key} scope="col" className={cellClass(column)}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={idOf(row)}>
              {shown.map((column) => (
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
}
