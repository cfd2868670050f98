// Starts the process that turns texts into vectors when it is needed, and ends the process when it is idle.

import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { forkInBackground } from '../../platform/background-process.ts'
import { batchesOf } from '../../platform/batches.ts'
import type { Embedded } from '../../platform/embedder.ts'
import { ApiError } from '../../platform/errors.ts'
import { openTurns } from '../../platform/turns.ts'

export type EncoderOrder = { texts: string[] }
export type EncoderReply = { embedded: Embedded[] } | { failed: string }

export type Encoder = {
  encode: (owner: string, texts: string[], signal: AbortSignal) => Promise<Embedded[]>
  close: () => Promise<void>
}

const file = join(import.meta.dirname, 'process.ts')
const options = {
  execArgv: ['--max-old-space-size=128', '--max-semi-space-size=16', '--disable-warning=ExperimentalWarning'],
  stdio: ['ignore', 'ignore', 'ignore', 'ipc'] as ['ignore', 'ignore', 'ignore', 'ipc'],
  serialization: 'advanced' as const,
}

/** The maximum number of texts in an order. Between the orders of a request, other owners get a turn. */
const textsAtOnce = 32
/** The maximum length of a text. The network reads even less. */
const longestText = 2_000
const idleMs = 60_000
/** The time limit for an order. An order takes much less time, even on a busy processor. */
const deadlineMs = 60_000
/** The maximum number of waiting requests. */
const line = 200

class ProcessEnded extends ApiError {
  constructor() {
    super('unavailable', 'The process that embeds texts ended. Try again later.')
  }
}

const tooSlow = () => new ApiError('unavailable', 'Embedding texts took too long. Try again later.')
const closed = () => new ApiError('unavailable', 'The process is shutting down.')

/** The background encoder has the lowest priority for the processor. */
export const openEncoder = ({ isBackground }: { isBackground: boolean }): Encoder => {
  const turns = openTurns(1, { line })
  let running: ChildProcess | undefined
  let idle: NodeJS.Timeout | undefined
  let isClosed = false

  const start = (): ChildProcess => {
    const child = isBackground ? forkInBackground(file, options) : fork(file, options)
    // An idle process must not keep the service running.
    child.unref()
    child.channel?.unref()
    child.on('error', () => stop(child))
    child.once('exit', () => {
      if (running === child) running = undefined
    })
    return child
  }

  const stop = (child: ChildProcess): void => {
    if (running === child) running = undefined
    child.kill('SIGKILL')
  }

  const orderOnce = (texts: string[]): Promise<Embedded[]> =>
    new Promise((resolve, reject) => {
      running ??= start()
      const child = running
      clearTimeout(idle)
      child.ref()
      child.channel?.ref()
      let isSettled = false
      const settle = (): void => {
        isSettled = true
        clearTimeout(timer)
        child.off('message', onMessage).off('exit', onExit).off('error', onExit)
        child.unref()
        child.channel?.unref()
        idle = setTimeout(() => stop(child), idleMs).unref()
      }
      const onMessage = (reply: EncoderReply): void => {
        settle()
        if ('embedded' in reply) resolve(reply.embedded)
        else reject(new Error(reply.failed))
      }
      const fail = (error: Error): void => {
        if (isSettled) return
        settle()
        stop(child)
        reject(isClosed ? closed() : error)
      }
      const onExit = (): void => fail(new ProcessEnded())
      const timer = setTimeout(() => fail(tooSlow()), deadlineMs)
      child.on('message', onMessage).once('exit', onExit).once('error', onExit)
      child.send({ texts: texts.map((text) => text.slice(0, longestText)) } satisfies EncoderOrder, (error) => {
        if (error) onExit()
      })
    })

  /** Retries once in a new process if the process ends, for example to free its memory. */
  const order = (texts: string[]): Promise<Embedded[]> =>
    orderOnce(texts).catch((error: unknown) => {
      if (!(error instanceof ProcessEnded) || isClosed) throw error
      return orderOnce(texts)
    })

  const encode: Encoder['encode'] = async (owner, texts, signal) => {
    const embedded: Embedded[] = []
    for (const some of batchesOf(texts, textsAtOnce)) {
      signal.throwIfAborted()
      if (isClosed) throw closed()
      const leave = await turns.enter(owner, { signal })
      try {
        if (isClosed) throw closed()
        embedded.push(...(await order(some)))
      } finally {
        leave()
      }
    }
    return embedded
  }

  return {
    encode,
    close: async () => {
      isClosed = true
      clearTimeout(idle)
      turns.close(closed())
      if (running) stop(running)
    },
  }
}
