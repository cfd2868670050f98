import { Worker } from 'node:worker_threads'
import { invalid } from '../../platform/errors.ts'
import type { PasswordQuestion, StrengthScore } from './thread.ts'

/**
 * The minimum score, out of 4. Guessing a password with a score of 3 takes about ten billion offline attempts against a
 * slow hash.
 */
const leastScore = 3
const leastLength = 12
/**
 * The thread stays for a moment, because people rarely choose passwords, but when they do, they try several in a row.
 */
const idleMs = 10_000

type Thread = { ask: (password: string, known: string[]) => Promise<number> }

let running: Thread | undefined

const start = (): Thread => {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })
  worker.unref()
  const waiting = new Map<number, { resolve: (score: number) => void; reject: (error: unknown) => void }>()
  let lastId = 0
  let idle: NodeJS.Timeout | undefined
  const end = (error: unknown) => {
    if (running === thread) running = undefined
    clearTimeout(idle)
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  const thread: Thread = {
    ask: (password, known) =>
      new Promise((resolve, reject) => {
        clearTimeout(idle)
        const id = ++lastId
        waiting.set(id, { resolve, reject })
        worker.postMessage({ id, password, known } satisfies PasswordQuestion)
      }),
  }
  worker.on('message', ({ id, score }: StrengthScore) => {
    waiting.get(id)?.resolve(score)
    waiting.delete(id)
    if (waiting.size > 0) return
    idle = setTimeout(() => {
      end(undefined)
      void worker.terminate()
    }, idleMs).unref()
  })
  worker.on('error', end)
  worker.on('exit', () => end(new Error('the password strength thread has ended')))
  return thread
}

export const isLongEnough = (password: string): boolean => [...password].length >= leastLength

export const tooShort = `must have at least ${leastLength} characters`

/** Returns whether a password is hard to guess, even for someone who knows these facts about its owner. */
export const isStrong = async (password: string, known: string[]): Promise<boolean> => {
  running ??= start()
  const words = known.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).filter((word) => word.length > 2)
  return (await running.ask(password, ['earshot', ...words])) >= leastScore
}

/** Throws if a new password is too short or easy to guess. `field` is its name in the request. */
export const requireStrong = async (field: string, password: string, known: string[]): Promise<void> => {
  if (!isLongEnough(password)) throw invalid(field, tooShort)
  if (await isStrong(password, known)) return
  throw invalid(field, 'is too easy to guess: use four or more unrelated words or a password manager')
}
