import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Bell as BellIcon } from 'lucide-react'
import { useEffect } from 'react'
import { formatCount } from '../lib/format.ts'
import styles from './bell.module.css'
import { notifyOf } from './browser.ts'
import { unreadOptions } from './queries.ts'

/** The maximum number to show. Larger numbers don't fit and wouldn't be more useful. */
const mostShown = 99

/** Links to the inbox, with the number of unread notifications. */
export const Bell = () => {
  const { data } = useQuery(unreadOptions)
  const { unreadCount: count = 0, data: unread } = data ?? {}
  useEffect(() => {
    if (unread) notifyOf(unread)
  }, [unread])
  const label = count > 0 ? `Notifications, ${formatCount(count)} unread` : 'Notifications'
  return (
    <Link className={styles.bell} to="/notifications" aria-label={label} title={label}>
      <BellIcon aria-hidden="true" />
      {count > 0 && (
        <span className={styles.count} aria-hidden="true">
          {count > mostShown ? `${mostShown}+` : count}
        </span>
      )}
    </Link>
  )
}
