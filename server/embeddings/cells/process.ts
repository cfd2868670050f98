// Learns cells, or sorts vectors into them, in a separate process, which exits after one order.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openKernel } from '../../platform/matrices/kernel.ts'
import { dimensions } from '../encoder/sentence-encoder.ts'
import { assignCells, bytesFor, learnCenters } from './cluster.ts'
import type { CellsOrder, CellsReply } from './run-cells.ts'

const code = readFileSync(join(import.meta.dirname, '../../../dist/voice/kernel.wasm'))

const carryOut = (order: CellsOrder): CellsReply => {
  const cells = 'cells' in order ? order.cells : order.centers.length / dimensions
  const kernel = openKernel(code, { bytes: bytesFor(cells) })
  if ('cells' in order) return { centers: learnCenters(kernel, order.vectors, cells) }
  return { assigned: assignCells(kernel, order.vectors, order.centers) }
}

// Nobody needs the result if the parent process has exited.
process.on('disconnect', () => process.exit(1))
process.once('message', (order: CellsOrder) => {
  process.send?.(carryOut(order), () => process.exit(0))
})
