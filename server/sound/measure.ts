import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { endOf, forkInBackground } from '../platform/background-process.ts'
import { Undecodable } from './decoding/decode.ts'
import type { MeasuredFile } from './measure-file.ts'
import type { MeasuringReply } from './process.ts'

/** The arguments of Node in the process that measures. */
export const measuringOptions = [
  '--max-old-space-size=128',
  '--max-semi-space-size=16',
  '--disable-warning=ExperimentalWarning',
]

/**
 * Measures an open recording in a separate process. Throws Undecodable if the recording can't be read, and other errors
 * if measuring it failed.
 */
export const measureRecording = async (recording: FileHandle, signal: AbortSignal): Promise<MeasuredFile> => {
  signal.throwIfAborted()
  const child = forkInBackground(join(import.meta.dirname, 'process.ts'), {
    execArgv: measuringOptions,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', recording.fd],
  })
  let answer: MeasuringReply | undefined
  child.on('message', (message: MeasuringReply) => {
    answer = message
  })
  // The exit handler reports the same errors.
  child.on('error', () => {})
  const ending = await endOf(child, signal)
  if (answer === undefined) throw new Error(`The process of a recording ended with ${ending}`)
  if ('undecodable' in answer) throw new Undecodable(answer.undecodable)
  if ('failed' in answer) throw new Error(answer.failed)
  return answer.measured
}
