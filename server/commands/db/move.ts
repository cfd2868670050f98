import type pg from 'pg'
import { isolate } from '../../platform/db/citus/isolate.ts'
import { readNode } from '../../platform/db/citus/nodes.ts'
import { rebalance } from '../../platform/db/citus/rebalance.ts'
import type { Called } from '../call.ts'
import { print } from '../columns.ts'
import { openProgress } from '../progress.ts'

export const runRebalance = async (called: Called, connection: pg.ClientConfig): Promise<number> => {
  const progress = openProgress(called.flag('quiet'), { lines: true })
  try {
    const moves = await rebalance(connection, {
      blockWrites: called.flag('block-writes'),
      nodes: called.list('add-node').map(readNode),
      onProgress: ({ done, total }) => progress.show('moving', done, total, `${done} of ${total} moves`),
    })
    progress.end()
    return print(moves === 0 ? 'The nodes are already balanced.\n' : `Moved ${moves} shards.\n`)
  } finally {
    progress.end()
  }
}

export const runIsolate = async (called: Called, connection: pg.ClientConfig): Promise<number> => {
  const node = called.text('node')
  const {
    slug,
    node: home,
    wasAlone,
    wasThere,
  } = await isolate(connection, {
    organization: called.args[0] ?? '',
    node: node === undefined ? undefined : readNode(node),
    blockWrites: called.flag('block-writes'),
    onStep: (step) => {
      if (!called.flag('quiet')) process.stderr.write(`${step}\n`)
    },
  })
  if (wasAlone && wasThere) return print(`${slug} already has its own shards on ${home}.\n`)
  return print(`${slug} now has its own shards on ${home}.\n`)
}
