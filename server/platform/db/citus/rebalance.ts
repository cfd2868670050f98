// Moves shards in the background until the cluster's nodes are balanced.

import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { setDatabase } from '../session.ts'
import { ClusterError, lockPlacement, requireCitus, withClient } from './connection.ts'
import { addNodes, type ClusterNode, requireLogicalWal, type Transfer, transferMode } from './nodes.ts'

export type Moves = { done: number; total: number }

type Options = Transfer & {
  /** The nodes to add first, unless they already belong to the cluster. */
  nodes: ClusterNode[]
  onProgress: (moves: Moves) => void
}

type Job = { id: string; state: string; details: { task_state_counts?: Record<string, number>; tasks?: Task[] } }
type Task = { state: string; message?: string }

const askEveryMs = 1_000

const readJob = async (client: pg.ClientBase, id: string): Promise<Job | undefined> => {
  const { rows } = await client.query<Job>(
    'SELECT job_id AS id, state, details FROM citus_rebalance_status(raw => true) WHERE job_id = $1',
    [id],
  )
  return rows[0]
}

/** Finds a rebalance that was started earlier and is still running. */
const findRunning = async (client: pg.ClientBase): Promise<string | undefined> => {
  const { rows } = await client.query<{ id: string }>(
    `SELECT job_id AS id FROM citus_rebalance_status(raw => true)
     WHERE state NOT IN ('finished', 'failed', 'cancelled') ORDER BY 1 DESC LIMIT 1`,
  )
  return rows[0]?.id
}

const start = async (client: pg.ClientBase, transfer: Transfer): Promise<string | undefined> => {
  if (!transfer.blockWrites) await requireLogicalWal(client)
  const { rows } = await client.query<{ id: string | null }>(
    'SELECT citus_rebalance_start(shard_transfer_mode => $1) AS id',
    [transferMode(transfer)],
  )
  return rows[0]?.id ?? undefined
}

const follow = async (client: pg.ClientBase, id: string, onProgress: Options['onProgress']): Promise<number> => {
  for (;;) {
    const job = await readJob(client, id)
    if (!job) throw new ClusterError(`The cluster no longer has the rebalance ${id}.`)
    const counts = job.details.task_state_counts ?? {}
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    onProgress({ done: counts.done ?? 0, total })
    if (job.state === 'finished') return total
    if (job.state === 'failed' || job.state === 'cancelled') throw endedError(job)
    await pause(askEveryMs)
  }
}

const endedError = ({ state, details }: Job): ClusterError => {
  const reason = details.tasks?.find(({ message }) => message)?.message?.trim()
  return new ClusterError(
    `The rebalance ${state === 'failed' ? 'failed' : 'was stopped'}${reason ? `: ${reason}` : '.'} ` +
      'Shards that were already moved stay where they are. Run the command again.',
  )
}

/**
 * Starts a rebalance and waits for it. Returns the number of moves. If this process ends, the cluster continues, and
 * running the command again shows the current progress.
 */
export const rebalance = (connection: pg.ClientConfig, options: Options): Promise<number> =>
  withClient(connection, 'earshot db rebalance', async (client) => {
    await requireCitus(client)
    await lockPlacement(client)
    const added = await addNodes(client, options.nodes)
    if (added.length > 0) await setDatabase(client)
    const id = (added.length === 0 ? await findRunning(client) : undefined) ?? (await start(client, options))
    return id === undefined ? 0 : follow(client, id, options.onProgress)
  })
