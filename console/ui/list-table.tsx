import { type ReactNode, useDeferredValue } from 'react'
import { FaultNote, Loading } from './states.tsx'
import { type Column, Table } from './table.tsx'

type ListTableProps<T> = {
  /** As `useList` answers it. */
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
  /** In place of the table where there is no row. */
  empty: ReactNode
  /** How much room it takes until it is there. */
  lines?: number
}

/** A list of the service as a table, page after page: also while it is on its way, where it failed and where it is empty. */
export const ListTable = <T extends { id: string }>({ list, label, columns, empty, lines }: ListTableProps<T>) => {
  const { rows, error, isPending, isFetchingMore, more, retry } = list
  // The first rows are drawn in small steps, between which the browser answers to the user.
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
