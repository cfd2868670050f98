// Measures one recording in its own process, so that a file that needs too much memory or time only ends this process.

import { Undecodable } from './decoding/decode.ts'
import { type MeasuredFile, measureFile } from './measure-file.ts'

export type MeasuringReply = { measured: MeasuredFile } | { undecodable: string } | { failed: string }

/** The file descriptor of the open recording. */
const recordingFd = 4

const memoryMb = 300

/** Nobody needs the measures if the parent process is gone. */
process.on('disconnect', () => process.exit(1))

const reply = (message: MeasuringReply): void => {
  process.send?.(message, () => process.exit(0))
}

/** Checks the memory repeatedly while the recording is read. */
const checkMemory = (): void => {
  if (process.memoryUsage.rss() > memoryMb * 1024 * 1024) {
    throw new Undecodable('Reading the recording takes too much memory.')
  }
}

const answerOf = (error: unknown): MeasuringReply => {
  if (error instanceof Undecodable) return { undecodable: error.message }
  return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

measureFile(recordingFd, { onBlock: checkMemory }).then(
  (measured) => reply({ measured }),
  (error: unknown) => reply(answerOf(error)),
)
