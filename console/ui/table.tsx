// A table of all its rows, for what fits on a page; long-table.tsx draws only the rows in sight.

import { type ReactNode, useRef } from 'react'
import { Button } from './button.tsx'
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

export const cellClass = ({ numeric }: { numeric?: boolean }) => (numeric ? styles.numeric : undefined)

/** The columns that there is room for. */
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
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
