import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { MeasuredFile } from './measure-file.ts'
import { runProcess } from './run-process.ts'

/** Measures an open recording in a separate process. Throws Undecodable if it can't be read. */
export const measureRecording = (recording: FileHandle, signal: AbortSignal): Promise<MeasuredFile> =>
  runProcess({ file: join(import.meta.dirname, 'process.ts'), files: [recording] }, signal)
