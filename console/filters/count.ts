import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import type { Schemas } from '../api/schema.d.ts'

/** Requests the number of conversations that match a filter, and the filter in words. */
export const countOptions = (filter: Schemas['Filter']) =>
  queryOptions({
    queryKey: ['conversations', 'count', filter],
    queryFn: ({ signal }) => answer(api.POST('/v1/conversations/count', { body: { filter }, signal })),
    staleTime: 10_000,
  })

/** Returns the count of a filter, or the previous filter's count while it is loading. */
export const useCount = (filter: Schemas['Filter']) =>
  useQuery({ ...countOptions(filter), placeholderData: (before) => before })
