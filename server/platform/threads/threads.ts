import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { ApiError } from '../errors.ts'
import { openTurns } from '../turns.ts'
import type { ThreadTask } from './define-task.ts'
import type { TaskOrder, TaskReply } from './serve-tasks.ts'

/**
 * Runs tasks in threads, one after the other. Threads start on demand and end when they are idle. Owners of tasks take
 * turns.
 */

export type Threads = {
  /** Runs a task. Rejects with 503 if too many tasks are already waiting. */
  run: <Input, Output>(owner: string, task: ThreadTask<Input, Output>, input: Input) => Promise<Output>
  close: () => Promise<void>
}

type Options = {
  threads?: number
  /** The maximum number of waiting tasks, for all owners together. Each has its input in memory. */
  line?: number
}

const idleMs = 30_000
/** The time limit for one task. Tasks within the limits of requests never come close to it. */
const deadlineMs = 60_000
/**
 * The memory limit of each thread. The limits of requests keep tasks well below it, because the engine may end the
 * process there.
 */
const memoryMb = 1_024

const tooMuch = () => new ApiError('tooLarge', 'Reading this takes too much time or memory. Send less at once.')
const closed = () => new ApiError('unavailable', 'The process is shutting down.')

export const openThreads = (
  file: URL,
  { threads = Math.max(1, Math.min(4, availableParallelism() - 1)), line = 500 }: Options = {},
): Threads => {
  // If there is more than one thread, an owner can't use all of them, so that others don't have to wait for its tasks.
  const turns = openTurns(threads, { perOwner: Math.max(1, threads - 1), line })
  const idle = new Map<Worker, NodeJS.Timeout>()
  const open = new Set<Worker>()
  let isClosed = false

  const start = (): Worker => {
    // The process's options may only make sense for its own start, not for a thread.
    const worker = new Worker(file, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
    })
    worker.unref()
    open.add(worker)
    worker.once('exit', () => forget(worker))
    return worker
  }

  const forget = (worker: Worker): void => {
    open.delete(worker)
    clearTimeout(idle.get(worker))
    idle.delete(worker)
  }

  /** Ends a thread. It is no longer used, although it takes a moment to end. */
  const end = (worker: Worker): void => {
    forget(worker)
    void worker.terminate()
  }

  const take = (): Worker => {
    const [free] = idle.keys()
    if (!free) return start()
    clearTimeout(idle.get(free))
    idle.delete(free)
    return free
  }

  const giveBack = (worker: Worker): void => {
    if (isClosed) return
    worker.unref()
    idle.set(worker, setTimeout(() => end(worker), idleMs).unref())
  }

  const work = (worker: Worker, order: TaskOrder): Promise<unknown> =>
    new Promise((resolve, reject) => {
      worker.ref()
      const settle = (): void => {
        clearTimeout(timer)
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      }
      const fail = (error: unknown): void => {
        settle()
        // The thread is ending, so the next task must use another one.
        end(worker)
        reject(error)
      }
      const onMessage = (done: TaskReply) => {
        settle()
        giveBack(worker)
        if ('output' in done) resolve(done.output)
        else reject(new ApiError(done.refused.kind, done.refused.message, done.refused.details))
      }
      const onError = (error: Error & { code?: string }) =>
        fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch() : error)
      const onExit = () => fail(isClosed ? closed() : tooMuch())
      const timer = setTimeout(() => void worker.terminate(), deadlineMs)
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      worker.postMessage(order)
    })

  const run = async (owner: string, { name }: { name: string }, input: unknown): Promise<unknown> => {
    if (isClosed) throw closed()
    const leave = await turns.enter(owner)
    try {
      if (isClosed) throw closed()
      return await work(take(), { name, input })
    } finally {
      leave()
    }
  }

  return {
    // A thread returns the result of the task with that name.
    run: run as Threads['run'],
    close: async () => {
      isClosed = true
      turns.close(closed())
      await Promise.all([...open].map((worker) => worker.terminate()))
    },
  }
}
