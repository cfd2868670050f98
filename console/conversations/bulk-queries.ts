// Sends requests for bulk actions: actions on many conversations that the server runs in the background.

import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import type { Filter } from './search.ts'

export type BulkAction = Schemas['BulkAction']
export type Action = BulkAction['action']

/** Rows that were selected one by one, or all that match a filter. */
export type Selection = { ids: string[] } | { filter: Filter; total: number }

/** The maximum number of listed conversations that the server accepts. */
export const mostListed = 1_000

export const sizeOf = (selection: Selection): number => ('ids' in selection ? selection.ids.length : selection.total)

export const bulkActionsOptions = queryOptions({
  queryKey: ['bulk-actions'],
  queryFn: async ({ signal }) =>
    (await answer(api.GET('/v1/conversations/bulk', { params: { query: { limit: 20 } }, signal }))).data,
})

const refresh = () => queryClient.invalidateQueries({ queryKey: ['bulk-actions'] })

/** Starts an action. `expectedTotal` keeps it from including conversations that arrived since they were counted. */
export const startBulkAction = async (selection: Selection, action: Action, expectedTotal?: number): Promise<void> => {
  const selected = 'ids' in selection ? { ids: selection.ids } : { filter: selection.filter }
  const body = { ...selected, action, ...(expectedTotal !== undefined && { expectedTotal }) }
  await answer(api.POST('/v1/conversations/bulk', { body }))
  await refresh()
}

export const cancelBulkAction = async (id: string): Promise<void> => {
  await answer(api.POST('/v1/conversations/bulk/{id}/cancel', { params: { path: { id } }, body: {} }))
  await refresh()
}

export const undoBulkAction = async (id: string): Promise<void> => {
  await answer(api.POST('/v1/conversations/bulk/{id}/undo', { params: { path: { id } }, body: {} }))
  await refresh()
}

export const isUnfinished = ({ status }: BulkAction): boolean => status === 'queued' || status === 'running'
