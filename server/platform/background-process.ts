import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'

/**
 * Runs work in a separate process, so that the service stays responsive and the process's memory is freed afterwards.
 */

/** Requests take precedence over this work on the CPU. */
const niceness = 10

const lowerPriority = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) setPriority(pid, niceness)
  } catch {
    // Either the process has already ended, or the system doesn't support priorities. Neither prevents the work.
  }
}

/** Starts a file in a process with a lower priority. */
export const forkInBackground = (file: string, options: ForkOptions): ChildProcess => {
  const child = fork(file, options)
  lowerPriority(child)
  return child
}

type Ended<Message> = { message: Message | undefined; ending: string }

/**
 * Sends an order to a process, if there is one, and waits until the process has ended. Returns its last message, and
 * how it ended. If aborted, kills the process and throws.
 */
export const runToEnd = async <Message>(
  child: ChildProcess,
  order: object | undefined,
  signal: AbortSignal,
): Promise<Ended<Message>> => {
  let message: Message | undefined
  child.on('message', (last: Message) => {
    message = last
  })
  // The returned ending describes the same failure.
  child.on('error', () => {})
  if (order) child.send(order, () => {})
  const ending = await endOf(child, signal)
  return { message, ending }
}

/**
 * Waits until a process has ended and all of its messages have arrived. Returns how the process ended, such as `code
 * 1`. If aborted, kills the process and throws.
 */
export const endOf = async (child: ChildProcess, signal: AbortSignal): Promise<string> => {
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  try {
    // The last message can arrive after the process has ended, but before its channel closes.
    const [[code, killedBy]] = await Promise.all([once(child, 'close'), once(child, 'disconnect')])
    signal.throwIfAborted()
    return killedBy ?? `code ${code}`
  } finally {
    signal.removeEventListener('abort', kill)
  }
}
