import { kinds } from './kinds.ts'
import type { Notification } from './queries.ts'

/** The filter of the inbox. */
export type NotificationsSearch = { unread?: true; kind?: Notification['kind'] }

export const readNotificationsSearch = ({ unread, kind }: Record<string, unknown>): NotificationsSearch => {
  const known = kinds.find((each) => each === kind)
  return { ...(unread === true && { unread }), ...(known && { kind: known }) }
}
