// Shows browser notifications, if the person has allowed them in this browser.

import type { Notification as Stored } from './queries.ts'

const enabledKey = 'earshot-browser-notifications'
const newestKey = 'earshot-newest-notification'

/** Returns whether the browser supports notifications, which it only does on secure pages. */
export const canNotify = (): boolean => 'Notification' in window

export const isNotifying = (): boolean =>
  canNotify() && Notification.permission === 'granted' && localStorage.getItem(enabledKey) === 'on'

/** Asks the browser for permission, which it only grants after a click. Returns whether permission was granted. */
export const startNotifying = async (): Promise<boolean> => {
  if ((await Notification.requestPermission()) !== 'granted') return false
  localStorage.setItem(enabledKey, 'on')
  return true
}

export const stopNotifying = (): void => localStorage.removeItem(enabledKey)

/**
 * Shows unread notifications that are newer than the newest one that any tab has seen. IDs ascend with time.
 * Notifications from before this browser first checked are not shown.
 */
export const notifyOf = (unread: Stored[]): void => {
  const seen = localStorage.getItem(newestKey)
  const newest = unread[0]?.id ?? ''
  if (seen !== null && newest <= seen) return
  localStorage.setItem(newestKey, newest)
  if (seen === null || !isNotifying()) return
  for (const { id, text, url } of unread.filter((each) => each.id > seen)) {
    // If several tabs show the same notification, it replaces the earlier one.
    const shown = new Notification('Earshot', { body: text, tag: id })
    shown.onclick = () => {
      window.focus()
      location.assign(new URL(url).pathname)
    }
  }
}
