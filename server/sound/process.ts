// The process that measures one recording. A file that makes it use too much memory or time only ends this process.

import { Undecodable } from './decoding/decode.ts'
import { type MeasuredFile, measureFile } from './measure-file.ts'

export type MeasuringReply = { measured: MeasuredFile } | { undecodable: string } | { failed: string }

/** The recording is open under this number. */
const recordingFd = 4

const memoryMb = 300

/** Nobody needs the measures if the parent process is gone. */
process.on('disconnect', () => process.exit(1))

const reply = (message: MeasuringReply): void => {
  process.send?.(message, () => process.exit(0))
}

/** Called again and again while the recording is read. */
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
