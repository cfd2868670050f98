import { type ReactNode, useDeferredValue } from 'react'
import { FaultNote, Loading } from './states.tsx'
import { type Column, Table } from './table.tsx'

type ListTableProps<T> = {
  /** The result of `useList`. */
  list: {
    rows: T[] | undefined
    error: Error | null
    isPending: boolean
    isFetchingMore: boolean
    more: (() => void) | undefined
    retry: () => void
  }
  label: string
  columns: Column<T>[]
  /** Shown instead of the table if there are no rows. */
  empty: ReactNode
  /** The number of placeholder lines while loading. */
  lines?: number
}

/** Shows a table of a paged list, with its loading, error, and empty states. */
export const ListTable = <T extends { id: string }>({ list, label, columns, empty, lines }: ListTableProps<T>) => {
  const { rows, error, isPending, isFetchingMore, more, retry } = list
  // Rows are rendered in small steps, so that the browser can handle input in between.
  const isShown = useDeferredValue(rows !== undefined)
  return (
    <>
      {error && <FaultNote error={error} retry={retry} />}
      {(isPending || (rows !== undefined && !isShown)) && <Loading {...(lines !== undefined && { lines })} />}
      {isShown && rows?.length === 0 && empty}
      {isShown && rows !== undefined && rows.length > 0 && (
        <Table
          label={label}
          columns={columns}
          rows={rows}
          idOf={({ id }) => id}
          more={more}
          isFetchingMore={isFetchingMore}
        />
      )}
    </>
  )
}
