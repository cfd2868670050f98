import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import type { Schemas } from '../api/schema.d.ts'

/** How many conversations a filter selects, and what it selects in words. */
export const countOptions = (filter: Schemas['Filter']) =>
  queryOptions({
    queryKey: ['conversations', 'count', filter],
    queryFn: ({ signal }) => answer(api.POST('/v1/conversations/count', { body: { filter }, signal })),
    staleTime: 10_000,
  })

/** The count of a filter; that of the one before it, while it is not known yet. */
export const useCount = (filter: Schemas['Filter']) =>
  useQuery({ ...countOptions(filter), placeholderData: (before) => before })
