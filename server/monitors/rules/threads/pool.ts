import { type Limits, startThread, type Thread } from './start-thread.ts'

/** As many threads as are needed, up to a number; each ends when it was not needed for a while. */

export type Pool = {
  /** Waits until there is one. */
  take: () => Promise<Thread>
  /** One that came to its end does not come back. */
  giveBack: (thread: Thread, isSound: boolean) => Promise<void>
  close: () => Promise<void>
}

export type PoolOptions = Limits & { threads: number; idleMs: number }

export const openPool = ({ threads, idleMs, ...limits }: PoolOptions): Pool => {
  const open = new Set<Thread>()
  const idle = new Map<Thread, NodeJS.Timeout>()
  const waiting: { resolve: (thread: Thread) => void; reject: (error: Error) => void }[] = []
  let isClosed = false

  const start = (): Thread => {
    const thread = startThread(limits)
    open.add(thread)
    return thread
  }
  const end = async (thread: Thread): Promise<void> => {
    clearTimeout(idle.get(thread))
    idle.delete(thread)
    open.delete(thread)
    await thread.close()
  }
  const closed = () => new Error('rules are evaluated no more')

  return {
    take: async () => {
      if (isClosed) throw closed()
      const [thread] = idle.keys()
      if (thread) {
        clearTimeout(idle.get(thread))
        idle.delete(thread)
        return thread
      }
      if (open.size < threads) return start()
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
    },
    giveBack: async (thread, isSound) => {
      if (isClosed) return
      const ended = isSound ? undefined : end(thread)
      const next = waiting.shift()
      if (next) next.resolve(isSound ? thread : start())
      else if (isSound) idle.set(thread, setTimeout(() => void end(thread), idleMs).unref())
      await ended
    },
    close: async () => {
      isClosed = true
      for (const { reject } of waiting.splice(0)) reject(closed())
      await Promise.all([...open].map(end))
    },
  }
}
