import { useEffect, useState } from 'react'
import { firstUse } from '../lib/first-use.ts'
import type { Announcement, Toasts } from './toasts.tsx'

const waiting: Announcement[] = []

const { promise: needed, resolve: need } = Promise.withResolvers<void>()

let show = (announcement: Announcement): void => {
  waiting.push(announcement)
  need()
}

/** Says once, at the corner of the window and to screen readers, that something is done. */
export const announce = (title: string, description?: string): void =>
  show({ title, ...(description !== undefined && { description }) })

const onReady = (shows: typeof show) => {
  show = shows
  for (const announcement of waiting.splice(0)) show(announcement)
}

/** The place of announcements, which mostly follow from something that somebody did. */
export const Announcements = () => {
  const [Loaded, setLoaded] = useState<typeof Toasts>()
  useEffect(() => {
    void Promise.race([firstUse, needed])
      .then(() => import('./toasts.tsx'))
      .then((module) => setLoaded(() => module.Toasts))
  }, [])
  return Loaded && <Loaded onReady={onReady} />
}
