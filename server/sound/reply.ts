import { Undecodable } from './decoding/decode.ts'

/** Runs inside a process that works on one recording. `run-process.ts` starts the process. */

export type Reply<Result> = { result: Result } | { undecodable: string } | { failed: string }

/** The file descriptor of the open recording. */
export const recordingFd = 4

const memoryMb = 300

/** Checks the memory repeatedly while the recording is read. */
const checkMemory = (): void => {
  if (process.memoryUsage.rss() > memoryMb * 1024 * 1024) {
    throw new Undecodable('Reading the recording takes too much memory.')
  }
}

const replyOf = (error: unknown): Reply<never> => {
  if (error instanceof Undecodable) return { undecodable: error.message }
  return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

/** Sends the result to the parent process, and exits. */
export const replyWith = <Result>(work: (options: { onBlock: () => void }) => Promise<Result>): void => {
  // Nobody needs the result if the parent process has exited.
  process.on('disconnect', () => process.exit(1))
  const reply = (message: Reply<Result>): void => {
    process.send?.(message, () => process.exit(0))
  }
  work({ onBlock: checkMemory }).then(
    (result) => reply({ result }),
    (error: unknown) => reply(replyOf(error)),
  )
}
