import { Worker } from 'node:worker_threads'
import { cells, openPosition } from './position.ts'
import type { RuleWork, WorkAnswers } from './thread.ts'

/** Runs threads that evaluate rules, and watches them. A stuck thread is terminated. */

/** The reason why a thread ended before its work was done, and the position at which it ended. */
export type End = {
  why: 'deadline' | 'memory' | 'error'
  hasBegun: boolean
  pair: number
  isReading: boolean
  error?: unknown
}

export type Thread = {
  /** Evaluates rules. A terminated thread accepts no more work. */
  run: (work: RuleWork) => Promise<WorkAnswers | End>
  /**
   * Asks for partial results soon, because other owners are waiting for the thread, or nobody is waiting for the
   * results.
   */
  giveUp: () => void
  close: () => Promise<void>
}

export type Limits = {
  /** The time limit for one rule and one conversation. */
  deadlineMs: number
  /**
   * The memory limit of each thread. Nothing should come close to it, because the engine may end the whole process
   * there.
   */
  memoryMb: number
}

/** Reading a long transcript may take this many times as long as a rule. */
const readingDeadlines = 10
/**
 * The number of checks that the watcher makes within the time limit. A busy machine also delays the watcher, so a slow
 * rule is not mistaken for an endless one.
 */
const beats = 4

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

export const startThread = ({ deadlineMs, memoryMb }: Limits): Thread => {
  const position = openPosition()
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    workerData: position,
    // The process's arguments may only make sense for its own start, not for the thread.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 24 },
  })
  worker.unref()
  let settle: ((ended: WorkAnswers | Pick<End, 'why' | 'error'>) => void) | undefined
  let isOver = false
  const over = { why: 'error', error: new Error('the thread that evaluates rules has ended') } as const

  const stand = (): Omit<End, 'why' | 'error'> => ({
    hasBegun: Atomics.load(position, cells.steps) > 0,
    pair: Atomics.load(position, cells.pair),
    isReading: Atomics.load(position, cells.isReading) === 1,
  })
  worker.on('message', (answers: WorkAnswers) => settle?.(answers))
  worker.on('error', (error) => settle?.({ why: isOutOfMemory(error) ? 'memory' : 'error', error }))
  worker.on('exit', () => {
    isOver = true
    settle?.(over)
  })

  /** Terminates the thread if its step counter does not change for the timeout. */
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
      // Pending results keep the process alive, but an idle thread does not.
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
