import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { ApiError } from '../errors.ts'
import type { Task } from './define-task.ts'
import type { Done, Order } from './serve-tasks.ts'

/** Threads that run tasks one after the other. They start when they are needed, and end when they are not. */

export type Threads = {
  run: <Input, Output>(task: Task<Input, Output>, input: Input) => Promise<Output>
  close: () => Promise<void>
}

const idleMs = 30_000
/** Of one task. None of those that fit the limits of requests comes near it. */
const deadlineMs = 60_000
/** Of a thread. The limits of requests keep tasks well below it, because the engine may end the process there. */
const memoryMb = 1_024

type Waiting = { order: Order; resolve: (output: unknown) => void; reject: (error: unknown) => void }

const tooMuch = () =>
  new ApiError('tooLarge', 'Reading this takes more time or memory than a request may; send less at once.')

export const openThreads = (file: URL): Threads => {
  const most = Math.max(1, Math.min(4, availableParallelism() - 1))
  const waiting: Waiting[] = []
  const idle = new Map<Worker, NodeJS.Timeout>()
  const open = new Set<Worker>()
  let isClosed = false

  const start = (): Worker => {
    // Options of the process may be for what it was started with, which a thread is not.
    const worker = new Worker(file, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
    })
    worker.unref()
    open.add(worker)
    worker.once('exit', () => {
      open.delete(worker)
      clearTimeout(idle.get(worker))
      idle.delete(worker)
    })
    return worker
  }

  const work = (worker: Worker, { order, resolve, reject }: Waiting): void => {
    worker.ref()
    const settle = (done: () => void): void => {
      clearTimeout(timer)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      worker.unref()
      done()
    }
    const onMessage = (done: Done) =>
      settle(() => {
        if ('output' in done) resolve(done.output)
        else reject(new ApiError(done.refused.kind, done.refused.message, done.refused.details))
        next(worker)
      })
    const onError = (error: Error & { code?: string }) =>
      settle(() => {
        reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch() : error)
        next()
      })
    const onExit = () =>
      settle(() => {
        reject(isClosed ? new ApiError('unavailable', 'The process is about to end.') : tooMuch())
        next()
      })
    const timer = setTimeout(() => void worker.terminate(), deadlineMs)
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    worker.postMessage(order)
  }

  /** No longer handed out from here on, though it takes a moment to end. */
  const end = (worker: Worker): void => {
    idle.delete(worker)
    open.delete(worker)
    void worker.terminate()
  }

  const next = (worker?: Worker): void => {
    if (isClosed) return
    const first = waiting.shift()
    if (first) work(worker ?? start(), first)
    else if (worker) idle.set(worker, setTimeout(() => end(worker), idleMs).unref())
  }

  const run = ({ name }: { name: string }, input: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(new ApiError('unavailable', 'The process is about to end.'))
      waiting.push({ order: { name, input }, resolve, reject })
      const [free] = idle.keys()
      if (free) {
        clearTimeout(idle.get(free))
        idle.delete(free)
        next(free)
      } else if (open.size < most) next(start())
    })

  return {
    // A thread answers what the task of that name returns.
    run: run as Threads['run'],
    close: async () => {
      isClosed = true
      for (const { reject } of waiting.splice(0)) reject(new ApiError('unavailable', 'The process is about to end.'))
      await Promise.all([...open].map((worker) => worker.terminate()))
    },
  }
}
