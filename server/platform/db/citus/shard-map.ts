// Caches for a few seconds which node has an organization's rows. If a shard has moved since, statements only become
// slower, because the old node forwards them.

import { dropOldest } from '../../drop-oldest.ts'
import type { Log } from '../../log.ts'
import type { OrgId, Queryable } from '../database.ts'
import { type ClusterNode, nodeName } from './nodes.ts'

const readEveryMs = 5_000
/**
 * The time for which the map is valid. A node that has left the cluster doesn't learn about later moves, so its map
 * must not be used for long.
 */
const trustMs = 10_000
const maxHashes = 50_000

type Shards = {
  readAt: number
  /** The time when the coordinator started, which identifies the cluster. */
  coordinatorStart: string
  ranges: { first: number; last: number; node: ClusterNode }[]
}

const readShards = async (coordinator: Queryable): Promise<Shards> => {
  const readAt = performance.now()
  const { rows } = await coordinator.query<ClusterNode & { first: number; last: number; start: string }>(
    `SELECT s.shardminvalue::integer AS first, s.shardmaxvalue::integer AS last, n.nodename AS host, n.nodeport AS port,
       pg_postmaster_start_time()::text AS start
     FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid) JOIN pg_dist_node n USING (groupid)
     WHERE s.logicalrelid = 'public.conversations'::regclass AND n.groupid <> 0 AND n.noderole = 'primary'
       AND n.isactive AND n.metadatasynced`,
  )
  const nodes = new Map(rows.map(({ host, port }) => [nodeName({ host, port }), { host, port }]))
  return {
    readAt,
    coordinatorStart: rows[0]?.start ?? '',
    ranges: rows.flatMap(({ first, last, ...found }) => {
      const node = nodes.get(nodeName(found))
      return node ? [{ first, last, node }] : []
    }),
  }
}

export type ShardMap = {
  /** Returns undefined as long as the node is unknown, and for shards on the coordinator. */
  nodeOf: (org: OrgId) => ClusterNode | undefined
  coordinatorStart: () => string | undefined
  close: () => Promise<void>
}

export const openShardMap = (coordinator: Queryable, log: Log): ShardMap => {
  let shards: Shards | undefined
  let reading: Promise<void> | undefined
  const hashes = new Map<OrgId, number>()
  const unknown = new Set<OrgId>()
  let hashing: Promise<void> | undefined

  const read = async () => {
    try {
      shards = await readShards(coordinator)
    } catch (error) {
      log.debug({ err: error }, 'could not read where shards are')
    }
    reading = undefined
  }

  const hash = async () => {
    const orgs = [...unknown]
    unknown.clear()
    try {
      const { rows } = await coordinator.query<{ org: OrgId; hash: number }>(
        'SELECT org, worker_hash(org) AS hash FROM unnest($1::uuid[]) AS org',
        [orgs],
      )
      for (const { org, hash } of rows) hashes.set(org, hash)
      dropOldest(hashes, maxHashes)
    } catch (error) {
      log.debug({ err: error }, 'could not find the shards of organizations')
    }
    hashing = undefined
  }

  return {
    nodeOf: (org) => {
      const ageMs = performance.now() - (shards?.readAt ?? Number.NEGATIVE_INFINITY)
      if (ageMs >= readEveryMs) reading ??= read()
      const known = hashes.get(org)
      if (known === undefined) {
        unknown.add(org)
        hashing ??= hash()
      }
      if (known === undefined || ageMs >= trustMs) return undefined
      return shards?.ranges.find(({ first, last }) => first <= known && known <= last)?.node
    },
    coordinatorStart: () => shards?.coordinatorStart,
    close: async () => {
      await reading
      await hashing
    },
  }
}
