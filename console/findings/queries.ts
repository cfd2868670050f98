import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { listOptions, queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import type { FindingsFilter } from './search.ts'

export type Finding = Schemas['Finding']
export type FindingStatus = Finding['status']
export type Priority = Finding['priority']
export type Comment = Schemas['FindingComment']
export type Move = Schemas['FindingMove']

export const findingsOptions = (filter: FindingsFilter) =>
  listOptions(['findings', 'list', filter], (cursor, signal) =>
    answer(api.GET('/v1/findings', { params: { query: { limit: 50, ...filter, ...cursor } }, signal })),
  )

export const findingOptions = (id: string) =>
  queryOptions({
    queryKey: ['findings', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/findings/{id}', { params: { path: { id } }, signal })),
  })

export const commentsOptions = (id: string) =>
  listOptions(['findings', id, 'comments'], (cursor, signal) =>
    answer(
      api.GET('/v1/findings/{id}/comments', { params: { path: { id }, query: { limit: 50, ...cursor } }, signal }),
    ),
  )

export const historyOptions = (id: string) =>
  listOptions(['findings', id, 'history'], (cursor, signal) =>
    answer(api.GET('/v1/findings/{id}/history', { params: { path: { id }, query: { limit: 20, ...cursor } }, signal })),
  )

export const attachedOptions = (id: string) =>
  listOptions(['findings', id, 'conversations'], (cursor, signal) =>
    answer(
      api.GET('/v1/findings/{id}/conversations', { params: { path: { id }, query: { limit: 20, ...cursor } }, signal }),
    ),
  )

/** The latest findings, into which another finding can be merged. */
export const mergeableOptions = queryOptions({
  queryKey: ['findings', 'mergeable'],
  queryFn: ({ signal }) => answer(api.GET('/v1/findings', { params: { query: { limit: 200 } }, signal })),
})

/** Refetches findings, the lists that contain them, and the findings shown on conversations. */
export const refreshFindings = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [kind, , part] }) =>
      kind === 'findings' || (kind === 'conversations' && part === 'findings'),
  })
