import { useEffect, useState } from 'react'
import { firstUse } from '../lib/first-use.ts'
import { lateCode, reportMissingCode, useMissingCode } from '../lib/late-code.ts'
import styles from './announce.module.css'
import { MissingCode } from './missing-code.tsx'
import type { Announcement, Toasts } from './toasts.tsx'

const code = lateCode(async () => (await import('./toasts.tsx')).Toasts)

const waiting: Announcement[] = []

let onWaiting = (): void => undefined

let show = (announcement: Announcement): void => {
  waiting.push(announcement)
  onWaiting()
}

/** Says once, at the corner of the window and to screen readers, that something is done. */
export const announce = (title: string, description?: string): void =>
  show({ title, ...(description !== undefined && { description }) })

const onReady = (shows: typeof show) => {
  show = shows
  for (const announcement of waiting.splice(0)) show(announcement)
}

/** Shows announcements, most of which follow from something that somebody did, and reports missing code. */
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
    // Without them nothing is missing until there is something to announce.
    firstUse.then(load).catch(() => undefined)
  }, [])
  return (
    <>
      {Loaded && <Loaded onReady={onReady} />}
      {isMissing && (
        <div className={styles.missing}>
          <MissingCode>
            {unshown.map(({ title, description }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: announcements are only added
              <p key={at}>{description === undefined ? title : `${title}: ${description}`}</p>
            ))}
          </MissingCode>
        </div>
      )}
    </>
  )
}
