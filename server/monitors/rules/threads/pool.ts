import { openTurns } from '../../../platform/turns.ts'
import { type Limits, startThread, type Thread } from './start-thread.ts'

/** Starts as many threads as needed, up to a maximum. A thread that stays idle ends. Owners take turns. */

export type Pool = {
  /** Resolves with a thread when it is the owner's turn. */
  take: (owner: string, signal?: AbortSignal) => Promise<Thread>
  /** Returns whether another owner is waiting for a turn. */
  isWanted: (owner: string) => boolean
  /** Returns a thread to the pool, unless it was terminated. */
  giveBack: (thread: Thread, isSound: boolean) => Promise<void>
  close: () => Promise<void>
}

export type PoolOptions = Limits & { threads: number; idleMs: number }

export const openPool = ({ threads, idleMs, ...limits }: PoolOptions): Pool => {
  const turns = openTurns(threads)
  const open = new Set<Thread>()
  const idle = new Map<Thread, NodeJS.Timeout>()
  /** Ends the current turn of each running thread. */
  const leaves = new Map<Thread, () => void>()
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
  const closed = () => new Error('the rule evaluator is closed')

  return {
    take: async (owner, signal) => {
      if (isClosed) throw closed()
      const leave = await turns.enter(owner, { signal })
      if (isClosed) throw closed()
      const [waiting] = idle.keys()
      const thread = waiting ?? start()
      clearTimeout(idle.get(thread))
      idle.delete(thread)
      leaves.set(thread, leave)
      return thread
    },
    isWanted: turns.isWanted,
    giveBack: async (thread, isSound) => {
      if (isClosed) return
      const ended = isSound ? undefined : end(thread)
      if (isSound) idle.set(thread, setTimeout(() => void end(thread), idleMs).unref())
      leaves.get(thread)?.()
      leaves.delete(thread)
      await ended
    },
    close: async () => {
      isClosed = true
      turns.close(closed())
      await Promise.all([...open].map(end))
    },
  }
}
