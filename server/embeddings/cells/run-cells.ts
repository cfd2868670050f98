import { join } from 'node:path'
import { forkInBackground, runToEnd } from '../../platform/background-process.ts'
import type { Vectors } from './cluster.ts'

export type CellsOrder = { vectors: Vectors; cells: number } | { vectors: Vectors; centers: Vectors }
export type CellsReply = { centers: Vectors } | { assigned: Int32Array }

const run = async (order: CellsOrder, signal: AbortSignal): Promise<CellsReply> => {
  signal.throwIfAborted()
  const child = forkInBackground(join(import.meta.dirname, 'process.ts'), {
    execArgv: ['--max-old-space-size=256', '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  })
  const { message: reply, ending } = await runToEnd<CellsReply>(child, order, signal)
  if (!reply) throw new Error(`The process that sorts vectors ended with ${ending}`)
  return reply
}

/** Returns the centers of this many cells. The sample must be in random order. */
export const learn = async (vectors: Vectors, cells: number, signal: AbortSignal): Promise<Vectors> => {
  const reply = await run({ vectors, cells }, signal)
  if (!('centers' in reply)) throw new Error('The process returned no centers')
  return reply.centers
}

/** Returns the number of the nearest center for each vector. */
export const assign = async (vectors: Vectors, centers: Vectors, signal: AbortSignal): Promise<Int32Array> => {
  const reply = await run({ vectors, centers }, signal)
  if (!('assigned' in reply)) throw new Error('The process returned no cells')
  return reply.assigned
}
