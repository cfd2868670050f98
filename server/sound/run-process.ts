import type { FileHandle } from 'node:fs/promises'
import { forkInBackground, runToEnd } from '../platform/background-process.ts'
import { Undecodable } from './decoding/decode.ts'
import type { Reply } from './reply.ts'

/** Node's arguments for a process that works on a recording. */
export const processOptions = [
  '--max-old-space-size=128',
  '--max-semi-space-size=16',
  '--disable-warning=ExperimentalWarning',
]

type Work = {
  /** The file that the process runs. */
  file: string
  /** Open files. The process receives them in this order, the recording first. */
  files: FileHandle[]
  /** A message to the process. */
  order?: object
}

/**
 * Works on an open recording in a separate process. Throws Undecodable if the recording can't be read, and other errors if
 * the work failed.
 */
export const runProcess = async <Result>({ file, files, order }: Work, signal: AbortSignal): Promise<Result> => {
  signal.throwIfAborted()
  const child = forkInBackground(file, {
    execArgv: processOptions,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', ...files.map(({ fd }) => fd)],
  })
  const { message: reply, ending } = await runToEnd<Reply<Result>>(child, order, signal)
  if (reply === undefined) throw new Error(`The recording process ended with ${ending}`)
  if ('undecodable' in reply) throw new Undecodable(reply.undecodable)
  if ('failed' in reply) throw new Error(reply.failed)
  return reply.result
}
