// Receives notifications from other processes over one connection, which reconnects when it is lost. Notifications are
// lost in the meantime, so subscribers are called after each reconnection.

import pg from 'pg'
import type { Log } from '../log.ts'

export type Listener = {
  /**
   * Subscribes to a channel. Resolves when notifications reach the handler. If the connection is down, resolves
   * immediately, and notifications arrive after it is restored. `onReconnect` is called when notifications work again
   * after a loss, so that the subscriber can drop outdated data.
   */
  on: (channel: string, handler: (payload: string) => void, onReconnect?: () => void) => Promise<void>
  isConnected: () => boolean
  close: () => Promise<void>
}

type Subscriber = { channel: string; handler: (payload: string) => void; onReconnect: (() => void) | undefined }

// Together, these determine how long it takes to detect a connection that died silently.
const heartbeatEveryMs = 2_000
const heartbeatTimeoutMs = 2_500
const closeTimeoutMs = 1_000
const minBackoffMs = 50
const maxBackoffMs = 2_000

const within = <T>(promise: Promise<T>, timeoutMs: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
  })
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}

const listen = (channel: string) => `LISTEN ${pg.escapeIdentifier(channel)}`

/** Opens the connection. Rejects if it fails the first time. After that, reconnects whenever it is lost. */
export const openListener = async (connection: pg.ClientConfig, log: Log): Promise<Listener> => {
  const subscribers: Subscriber[] = []
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let connecting: Promise<void> | undefined
  let failures = 0
  let closed = false

  const guarded = (call: () => void): void => {
    try {
      call()
    } catch (error) {
      log.error({ err: error }, 'a notification handler failed')
    }
  }

  const connect = async (): Promise<void> => {
    const next = new pg.Client({ ...connection, connectionTimeoutMillis: heartbeatTimeoutMs, keepAlive: true })
    next.on('error', () => {})
    next.on('notification', ({ channel, payload }) => {
      for (const subscriber of subscribers) {
        if (subscriber.channel === channel) guarded(() => subscriber.handler(payload ?? ''))
      }
    })
    try {
      await within(next.connect(), heartbeatTimeoutMs)
      const listened = new Set<string>()
      // Someone may subscribe in the meantime, so this repeats until the list contains no new channels.
      for (const { channel } of subscribers) {
        if (listened.has(channel)) continue
        await within(next.query(listen(channel)), heartbeatTimeoutMs)
        listened.add(channel)
      }
    } catch (error) {
      abandon(next)
      throw error
    }
    if (closed) return abandon(next)
    client = next
    failures = 0
    next.once('end', () => lose(next))
    scheduleHeartbeat(next)
  }

  const scheduleHeartbeat = (current: pg.Client): void => {
    timer = setTimeout(() => {
      within(current.query('SELECT'), heartbeatTimeoutMs).then(
        () => {
          if (current === client) scheduleHeartbeat(current)
        },
        (error) => lose(current, error),
      )
    }, heartbeatEveryMs)
  }

  /**
   * Ends a connection. During a query, pg destroys the socket instead of waiting for a response that may never come.
   */
  const abandon = (dead: pg.Client): void => {
    dead.query('SELECT').catch(() => {})
    dead.end().catch(() => {})
  }

  const lose = (lost: pg.Client, error?: Error): void => {
    if (lost !== client || closed) return
    client = undefined
    clearTimeout(timer)
    log.warn({ err: error }, 'lost the connection for notifications')
    abandon(lost)
    reconnectLater(0)
  }

  const reconnectLater = (delayMs: number): void => {
    timer = setTimeout(() => {
      connecting = reconnect()
    }, delayMs)
  }

  const reconnect = async (): Promise<void> => {
    try {
      await connect()
    } catch (error) {
      if (closed) return
      log.debug({ err: error }, 'no connection for notifications yet')
      return reconnectLater(Math.min(minBackoffMs * 2 ** failures++, maxBackoffMs))
    }
    if (closed) return
    log.info('the connection for notifications is restored')
    for (const { onReconnect } of subscribers) if (onReconnect) guarded(onReconnect)
  }

  await connect()
  return {
    on: async (channel, handler, onReconnect) => {
      subscribers.push({ channel, handler, onReconnect })
      // If this fails, the connection is lost, and the next one listens to all channels.
      await client?.query(listen(channel)).catch(() => {})
    },
    isConnected: () => client !== undefined,
    close: async () => {
      closed = true
      clearTimeout(timer)
      const last = client
      client = undefined
      await connecting
      if (last) await within(last.end(), closeTimeoutMs).catch(() => abandon(last))
    },
  }
}
