import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { listOptions, queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Schedule = Schemas['ExportSchedule']
export type ScheduleRun = Schemas['ExportScheduleRun']

export const schedulesOptions = listOptions(['export-schedules'], (cursor) =>
  answer(api.GET('/v1/export-schedules', { params: { query: { limit: 50, ...cursor } } })),
)

export const scheduleOptions = (id: string) =>
  queryOptions({
    queryKey: ['export-schedules', id],
    queryFn: () => answer(api.GET('/v1/export-schedules/{id}', { params: { path: { id } } })),
  })

export const runsOptions = (id: string) =>
  listOptions(['export-schedules', id, 'runs'], (cursor) =>
    answer(api.GET('/v1/export-schedules/{id}/runs', { params: { path: { id }, query: { limit: 20, ...cursor } } })),
  )

export const refreshSchedules = () => queryClient.invalidateQueries({ queryKey: ['export-schedules'] })
