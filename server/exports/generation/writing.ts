// Passes slices to the writing thread while the next slices are read.

import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { BlobOptions } from '../../platform/blobs/blobs.ts'
import type { FormatName } from '../formats/formats.ts'
import type { Layout } from '../layout.ts'
import type { Slice } from '../slice.ts'
import { errorOf, type Failure } from './messages.ts'
import type { Generated } from './order.ts'

type Stored = Omit<Generated, 'rows'>

export type FileDestination = { format: FormatName; key: string; storage: BlobOptions['config'] }

/** The messages sent to the thread. */
export type Given = { type: 'begin'; layout: Layout } | { type: 'slice'; slice: Slice } | { type: 'end' | 'abandon' }

/** The messages sent by the thread. */
export type WriterMessage =
  | { type: 'written'; rows: number }
  | { type: 'stored'; stored: Stored }
  | { type: 'failed'; failure: Failure }

/** The number of slices that can wait while another one is written. */
const mostWaiting = 2

/** Returns the memory of a slice, which is transferred instead of copied. It must not contain anything else. */
const memoryOf = ({ calls, results }: Slice): ArrayBufferLike[] => {
  const { versions, results: words, scores, evaluatedAt, reasoning } = results
  const arrays = [calls.bytes, calls.starts, calls.lengths, versions, words, scores, evaluatedAt]
  if (reasoning) arrays.push(reasoning.bytes, reasoning.starts, reasoning.lengths)
  return arrays.map(({ buffer }) => buffer)
}

export const openWriting = (destination: FileDestination, onWritten: (rows: number) => void) => {
  const worker = new Worker(join(import.meta.dirname, 'writing-thread.ts'), { workerData: destination })
  const exited = once(worker, 'exit')
  const result = Promise.withResolvers<Stored>()
  // The caller only awaits the result at the end, but it learns about a failure when it passes the next slice.
  result.promise.catch(() => {})
  let failure: Error | undefined
  let waiting = 0
  let onChange = () => {}
  const fail = (error: Error) => {
    failure ??= error
    result.reject(failure)
    onChange()
  }
  worker.on('message', (told: WriterMessage) => {
    if (told.type === 'stored') result.resolve(told.stored)
    else if (told.type === 'failed') fail(errorOf(told.failure))
    else {
      waiting -= 1
      onWritten(told.rows)
      onChange()
    }
  })
  worker.on('error', fail)
  exited.then(
    () => fail(new Error('The thread that writes has ended')),
    () => {},
  )
  const give = (given: Given) =>
    worker.postMessage(given, given.type === 'slice' ? (memoryOf(given.slice) as ArrayBuffer[]) : [])
  return {
    begin: (layout: Layout) => give({ type: 'begin', layout }),
    /**
     * Passes a slice to the thread, and resolves when another one can be passed. The caller no longer owns the slice.
     */
    write: async (slice: Slice): Promise<void> => {
      waiting += 1
      give({ type: 'slice', slice })
      while (waiting > mostWaiting && !failure) {
        const changed = Promise.withResolvers<void>()
        onChange = changed.resolve
        await changed.promise
      }
      if (failure) throw failure
    },
    /** Resolves when the file is complete. */
    end: (): Promise<Stored> => {
      give({ type: 'end' })
      return result.promise
    },
    /** Resolves when the file is deleted. */
    abandon: async (): Promise<void> => {
      give({ type: 'abandon' })
      await exited.catch(() => {})
    },
  }
}
