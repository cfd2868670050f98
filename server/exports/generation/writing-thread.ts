// Writes the file of an export in its own thread. Another thread reads at the same time, and both have about the same
// amount of work.

import { on } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { openStore } from '../../platform/blobs/blobs.ts'
import { systemClock } from '../../platform/clock.ts'
import { loadFormat } from '../formats/formats.ts'
import type { Cells, Slice } from '../slice.ts'
import { failureOf } from './messages.ts'
import type { FileDestination, Given, WriterMessage } from './writing.ts'

const port = parentPort
if (!port) throw new Error('This module must run in a thread')

// The thread that started this one has passed these values.
const { format: name, key, storage } = workerData as FileDestination
const tell = (message: WriterMessage) => port.postMessage(message)

/** Restores buffers, which arrive as plain byte arrays. */
const withBuffer = <C extends Cells>(cells: C): C => {
  const { buffer, byteOffset, length } = cells.bytes
  return { ...cells, bytes: Buffer.from(buffer, byteOffset, length) }
}

const revived = ({ rows, calls, results }: Slice): Slice => ({
  rows,
  calls: withBuffer(calls),
  results: { ...results, reasoning: results.reasoning && withBuffer(results.reasoning) },
})

const messages = on(port, 'message')
const next = async (): Promise<Given> => {
  // The messages only end when the thread does.
  const [given] = (await messages.next()).value as [Given]
  return given
}

const slices = async function* (): AsyncGenerator<Slice> {
  for (;;) {
    const given = await next()
    if (given.type === 'abandon') throw new Error('Reading has failed')
    if (given.type !== 'slice') return
    const slice = revived(given.slice)
    yield slice
    tell({ type: 'written', rows: slice.rows })
  }
}

try {
  const [format, store] = await Promise.all([loadFormat(name), openStore(storage, systemClock)])
  const first = await next()
  if (first.type === 'begin') {
    const stored = await store.put(key, format.write(first.layout, slices()), { contentType: format.contentType })
    tell({ type: 'stored', stored })
  }
} catch (error) {
  tell({ type: 'failed', failure: failureOf(error) })
}
port.close()
