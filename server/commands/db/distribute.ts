import type pg from 'pg'
import { type DistributionProgress, distribute } from '../../platform/db/citus/distribute.ts'
import { readNode } from '../../platform/db/citus/nodes.ts'
import { type Called, WronglyCalled } from '../call.ts'
import { print } from '../columns.ts'
import { openProgress } from '../progress.ts'
import { bytes, timeLeft } from './figures.ts'

const readShards = (given: string | undefined): number | undefined => {
  if (given === undefined) return undefined
  const shards = /^\d{1,5}$/.test(given) ? Number(given) : 0
  if (shards >= 1 && shards <= 64_000) return shards
  throw new WronglyCalled(`--shards must be a number from 1 to 64000, not ${JSON.stringify(given)}.`)
}

export const runDistribute = async (called: Called, connection: pg.ClientConfig): Promise<number> => {
  const dryRun = called.flag('dry-run')
  const progress = openProgress(called.flag('quiet') || dryRun, { lines: true })
  const startedAt = performance.now()
  const show = ({ table, doneBytes, totalBytes }: DistributionProgress) => {
    const left = timeLeft(performance.now() - startedAt, doneBytes, totalBytes)
    progress.show('placing', doneBytes, totalBytes, `${table}, ${bytes(doneBytes)} of ${bytes(totalBytes)}${left}`)
  }
  try {
    const count = await distribute(connection, {
      dryRun,
      nodes: called.list('add-node').map(readNode),
      shards: readShards(called.text('shards')),
      onStatement: ({ text }) => {
        progress.end()
        print(`${text};\n`)
      },
      onProgress: show,
    })
    progress.end()
    if (count === 0) return print('All tables are already placed correctly.\n')
    return dryRun ? 0 : print(`Placed ${count} tables and verified their rows.\n`)
  } finally {
    progress.end()
  }
}
