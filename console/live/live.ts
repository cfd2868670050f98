// Keeps all pages current with one event stream per browser. The tabs agree on one tab that reads the stream and passes
// events on to the others. Without a stream, visible data is requested again from time to time.

import { Fault } from '../api/fault.ts'
import { isNotifying } from '../notifications/browser.ts'
import { type LiveEvent, readEvents } from './event-stream.ts'
import { applyEvent, catchUp, stopApplying } from './outdated.ts'

type Message = { event: LiveEvent } | { position: string } | { isOpen: boolean } | { asks: true }

const name = 'earshot-live'
/** The maximum time between messages in which the reading tab confirms that the stream is open. */
const silenceMs = 50_000
const fallbackMs = 30_000
/**
 * The time for which the stream stays open while the page is hidden, because people often look at another tab for only
 * a moment.
 */
const hiddenMs = 60_000
const longestPauseMs = 30_000

type Handler = (event: LiveEvent) => void
const handlers = new Set<Handler>()

/** Calls back for each event until the returned function is called. */
export const onEvent = (handler: Handler): (() => void) => {
  handlers.add(handler)
  return () => void handlers.delete(handler)
}

/** Returns whether a resource may have changed. */
export const isAbout = ({ kind, resource, id }: LiveEvent, wanted: string, wantedId?: string): boolean =>
  kind === 'resync' || (resource === wanted && (wantedId === undefined || id === undefined || id === wantedId))

/** Resolves when a resource may have changed. */
export const nextChange = (resource: string, id: string): Promise<void> =>
  new Promise((resolve) => {
    const stop = onEvent((event) => {
      if (!isAbout(event, resource, id)) return
      stop()
      resolve()
    })
  })

const apply = (event: LiveEvent): void => {
  applyEvent(event)
  for (const handler of handlers) handler(event)
}

const resync: LiveEvent = { kind: 'resync', resource: 'all' }

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })

/** Follows the changes of the organization until the returned function is called. */
export const startLive = (): (() => void) => {
  const channel = new BroadcastChannel(name)
  let position: string | undefined
  let heardAt = Number.NEGATIVE_INFINITY
  /** Whether this tab reads the stream, and whether any tab does. */
  let isReading = false
  let isOpen = false
  let hasStopped = false
  let reading: AbortController | undefined
  let hiding: ReturnType<typeof setTimeout> | undefined

  const tell = (message: Message): void => {
    if (!hasStopped) channel.postMessage(message)
  }

  const read = async (signal: AbortSignal): Promise<void> => {
    isReading = true
    let failures = 0
    let retryMs = 2_000
    while (!signal.aborted) {
      try {
        await readEvents({
          lastEventId: position,
          signal,
          onOpen: () => {
            failures = 0
            // The stream doesn't contain changes from before it opened.
            if (position === undefined) catchUp()
            isOpen = true
            tell({ isOpen })
          },
          onEvent: (event) => {
            apply(event)
            tell({ event })
          },
          onPosition: (id) => {
            position = id
            tell({ position: id })
          },
          onRetry: (ms) => {
            retryMs = ms
          },
        })
      } catch (error) {
        failures++
        // Requesting any visible data leads to the sign-in page.
        if (error instanceof Fault && error.status === 401) apply(resync)
      }
      isOpen = false
      tell({ isOpen })
      await pause(Math.min(longestPauseMs, retryMs * 2 ** failures), signal)
    }
    isReading = false
  }

  const begin = (): void => {
    if (reading) return
    reading = new AbortController()
    const { signal } = reading
    // Locks only exist on pages served over TLS or from this machine. Without locks, each tab reads its own stream.
    if (!navigator.locks) void read(signal)
    else void navigator.locks.request(name, { signal }, () => read(signal)).catch(() => {})
    tell({ asks: true })
  }

  const stop = (): void => {
    reading?.abort()
    reading = undefined
    isOpen = false
  }

  const onVisibility = (): void => {
    clearTimeout(hiding)
    if (!document.hidden) begin()
    // Browser notifications are for people who are looking at something else, so the stream stays open for them.
    else if (!isNotifying()) hiding = setTimeout(stop, hiddenMs)
  }

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if ('asks' in data) {
      if (isReading) tell({ isOpen })
      return
    }
    if (isReading) return
    heardAt = performance.now()
    isOpen = 'isOpen' in data ? data.isOpen : true
    if ('position' in data) position = data.position
    if ('event' in data) apply(data.event)
  }

  const fallback = setInterval(() => {
    if (!isReading && performance.now() - heardAt > silenceMs) isOpen = false
    if (!isOpen && !document.hidden) apply(resync)
  }, fallbackMs)

  document.addEventListener('visibilitychange', onVisibility)
  if (!document.hidden || isNotifying()) begin()
  return () => {
    hasStopped = true
    stop()
    stopApplying()
    clearTimeout(hiding)
    clearInterval(fallback)
    document.removeEventListener('visibilitychange', onVisibility)
    channel.close()
  }
}
