import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { listOptions, queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'

export type Notification = Schemas['Notification']
export type Preferences = Schemas['NotificationPreferences']

/** The newest unread notifications, and the number of all unread notifications. */
export const unreadOptions = queryOptions({
  queryKey: ['notifications', 'unread'],
  queryFn: ({ signal }) =>
    answer(api.GET('/v1/notifications', { params: { query: { limit: 5, unread: true } }, signal })),
})

export const notificationsOptions = ({ unread, kind }: { unread?: boolean; kind?: Notification['kind'] }) =>
  listOptions(['notifications', 'list', unread, kind], (cursor, signal) =>
    answer(
      api.GET('/v1/notifications', {
        params: { query: { limit: 50, ...(unread && { unread }), ...(kind && { kinds: kind }), ...cursor } },
        signal,
      }),
    ),
  )

export const preferencesOptions = queryOptions({
  queryKey: ['notification-preferences'],
  queryFn: ({ signal }) => answer(api.GET('/v1/notification-preferences', { signal })),
})

const refreshNotifications = () => queryClient.invalidateQueries({ queryKey: ['notifications'] })

export const markRead = async (body: { ids: string[] } | { all: true }): Promise<void> => {
  await answer(api.POST('/v1/notifications/read', { body }))
  await refreshNotifications()
}
