import { fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runToEnd } from '../platform/background-process.ts'

/** Speaks text with Flite, in a separate process. */

/** The most distinguishable voices in the package. */
export type Voice = 'awb' | 'rms' | 'slt'

export type Line = { voice: Voice; text: string }

export type SpeechTask = { folder: string; lines: Line[] }

export type SpokenLine = { samples: Int16Array; sampleRate: number }

/** Node warns whenever a program uses WASI. */
const options = ['--disable-warning=ExperimentalWarning']

export const speakLines = async (lines: Line[], signal: AbortSignal): Promise<SpokenLine[]> => {
  signal.throwIfAborted()
  const folder = await mkdtemp(join(tmpdir(), 'earshot-speech-'))
  try {
    // Someone is waiting for the speech, so the process has the same priority as the service.
    const child = fork(join(import.meta.dirname, 'speech-process.ts'), {
      execArgv: options,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const task: SpeechTask = { folder, lines }
    const { message: spoken, ending } = await runToEnd<SpokenLine[]>(child, task, signal)
    if (!spoken) throw new Error(`The speech process ended with ${ending}`)
    return spoken
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
