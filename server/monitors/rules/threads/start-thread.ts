import { Worker } from 'node:worker_threads'
import { cells, openPosition } from './position.ts'
import type { Answers, Work } from './thread.ts'

/** Threads that evaluate rules, and an eye on each: one that stands still is ended. */

/** How a thread came to its end with work in hand, and where it stood. */
export type End = {
  why: 'deadline' | 'memory' | 'error'
  hasBegun: boolean
  pair: number
  isReading: boolean
  error?: unknown
}

export type Thread = {
  /** A thread that came to its end takes no other work. */
  run: (work: Work) => Promise<Answers | End>
  /** The answers come soon, and are not whole: others wait for the thread, or nobody for the answers. */
  giveUp: () => void
  close: () => Promise<void>
}

export type Limits = {
  /** For one rule of one conversation. */
  deadlineMs: number
  /** Of each thread. Nothing is meant to come near it, because the engine may end the whole process there. */
  memoryMb: number
}

/** Reading a long transcript takes longer than a rule may. */
const readingDeadlines = 10
/** In a deadline. A machine that is busy elsewhere misses beats too, so that it is not taken for a rule that never ends. */
const beats = 4

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

export const startThread = ({ deadlineMs, memoryMb }: Limits): Thread => {
  const position = openPosition()
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    workerData: position,
    // Those of the process may be for what it was started with, which the thread is not.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 24 },
  })
  worker.unref()
  let settle: ((ended: Answers | Pick<End, 'why' | 'error'>) => void) | undefined
  let isOver = false
  const over = { why: 'error', error: new Error('the thread that evaluates rules has ended') } as const

  const stand = (): Omit<End, 'why' | 'error'> => ({
    hasBegun: Atomics.load(position, cells.steps) > 0,
    pair: Atomics.load(position, cells.pair),
    isReading: Atomics.load(position, cells.isReading) === 1,
  })
  worker.on('message', (answers: Answers) => settle?.(answers))
  worker.on('error', (error) => settle?.({ why: isOutOfMemory(error) ? 'memory' : 'error', error }))
  worker.on('exit', () => {
    isOver = true
    settle?.(over)
  })

  /** Ends the thread when the count of its steps stays the same for a deadline. */
  const watch = (): NodeJS.Timeout => {
    let last = -1
    let still = 0
    const timer = setInterval(() => {
      const steps = Atomics.load(position, cells.steps)
      still = steps === last ? still + 1 : 0
      last = steps
      if (steps === 0 || still < beats * (stand().isReading ? readingDeadlines : 1)) return
      settle?.({ why: 'deadline' })
      void worker.terminate()
    }, deadlineMs / beats)
    return timer.unref()
  }

  return {
    run: async (work) => {
      for (const cell of Object.values(cells)) Atomics.store(position, cell, 0)
      // Who waits for answers wants the process to live; an idle thread does not.
      worker.ref()
      const timer = watch()
      try {
        const ended = await new Promise<Parameters<NonNullable<typeof settle>>[0]>((resolve) => {
          settle = resolve
          if (isOver) resolve(over)
          else worker.postMessage(work)
        })
        return 'why' in ended ? { ...ended, ...stand() } : ended
      } finally {
        settle = undefined
        clearInterval(timer)
        worker.unref()
      }
    },
    giveUp: () => {
      Atomics.store(position, cells.isGivenUp, 1)
    },
    close: async () => {
      await worker.terminate()
    },
  }
}
