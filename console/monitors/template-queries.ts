import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Template = Schemas['MonitorTemplate']

export const templatesOptions = queryOptions({
  queryKey: ['monitor-templates'],
  queryFn: ({ signal }) => answer(api.GET('/v1/monitor-templates', { signal })),
  staleTime: Number.POSITIVE_INFINITY,
})
