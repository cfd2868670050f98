import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { listOptions, queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Company = Schemas['Company']

export const companiesOptions = listOptions(['companies', 'list'], (cursor, signal) =>
  answer(api.GET('/v1/companies', { params: { query: { limit: 50, ...cursor } }, signal })),
)

export const companyOptions = (id: string) =>
  queryOptions({
    queryKey: ['companies', id],
    queryFn: ({ signal }) => answer(api.GET('/v1/companies/{id}', { params: { path: { id } }, signal })),
  })

/** Refetches lists and names after a change. */
export const refreshCompanies = () => queryClient.invalidateQueries({ queryKey: ['companies'] })
