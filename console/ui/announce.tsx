import { useEffect, useState } from 'react'
import { firstUse } from '../lib/first-use.ts'
import { lazyCode, reportMissingCode, useMissingCode } from '../lib/lazy-code.ts'
import styles from './announce.module.css'
import { MissingCode } from './missing-code.tsx'
import type { Announcement, Toasts } from './toasts.tsx'

const code = lazyCode(async () => (await import('./toasts.tsx')).Toasts)

const waiting: Announcement[] = []

let onWaiting = (): void => undefined

let show = (announcement: Announcement): void => {
  waiting.push(announcement)
  onWaiting()
}

/** Shows a notification in the corner of the window and announces it to screen readers. */
export const announce = (title: string, description?: string): void =>
  show({ title, ...(description !== undefined && { description }) })

const onReady = (shows: typeof show) => {
  show = shows
  for (const announcement of waiting.splice(0)) show(announcement)
}

/** Shows notifications, and reports code that couldn't be loaded. */
export const Announcements = () => {
  const [Loaded, setLoaded] = useState<typeof Toasts>()
  const [unshown, setUnshown] = useState<Announcement[]>([])
  const isMissing = useMissingCode()
  useEffect(() => {
    const load = async () => {
      const loaded = await code.load()
      setLoaded(() => loaded)
      setUnshown([])
    }
    onWaiting = () => {
      load().catch(() => {
        setUnshown([...waiting])
        reportMissingCode()
      })
    }
    if (waiting.length > 0) onWaiting()
    // If this fails, the next notification tries again.
    firstUse.then(load).catch(() => undefined)
  }, [])
  return (
    <>
      {Loaded && <Loaded onReady={onReady} />}
      {isMissing && (
        <div className={styles.missing}>
          <MissingCode>
            {unshown.map(({ title, description }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: notifications are only appended
              <p key={at}>{description === undefined ? title : `${title}: ${description}`}</p>
            ))}
          </MissingCode>
        </div>
      )}
    </>
  )
}
