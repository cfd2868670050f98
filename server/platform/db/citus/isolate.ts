// Moves one organization to its own shards, on the best node.

import type pg from 'pg'
import { ClusterError, lockPlacement, requireCitus, withClient } from './connection.ts'
import {
  type ClusterNode,
  nodeName,
  requireLogicalWal,
  requireOutputPlugin,
  type Transfer,
  transferMode,
} from './nodes.ts'
import { listPlaced } from './placed-tables.ts'

type Options = Transfer & {
  /** The slug or ID of the organization. */
  organization: string
  /** The node that receives the organization. By default, the emptiest node. */
  node?: ClusterNode | undefined
  onStep: (step: string) => void
}

export type Isolated = { slug: string; node: string; wasAlone: boolean; wasThere: boolean }

const findOrganization = async (client: pg.ClientBase, named: string): Promise<{ id: string; slug: string }> => {
  const { rows } = await client.query<{ id: string; slug: string }>(
    'SELECT id, slug FROM organizations WHERE slug = $1 OR id::text = $1',
    [named],
  )
  const [organization] = rows
  if (!organization) throw new ClusterError(`No organization has the slug or ID ${JSON.stringify(named)}.`)
  return organization
}

type Home = ClusterNode & { shardid: string; isAlone: boolean }

/** Finds the shard of an organization. A shard with a single hash value never contains another organization. */
const findHome = async (client: pg.ClientBase, anchor: string, id: string): Promise<Home> => {
  const { rows } = await client.query<Home>(
    `SELECT shardid, nodename AS host, nodeport AS port, shardminvalue = shardmaxvalue AS "isAlone"
     FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
     WHERE shardid = get_shard_id_for_distribution_column($1::regclass, $2::uuid)`,
    [`public.${anchor}`, id],
  )
  return rows[0] as Home
}

const emptiestNode = async (client: pg.ClientBase): Promise<ClusterNode> => {
  const { rows } = await client.query<ClusterNode>(
    `SELECT n.nodename AS host, n.nodeport AS port
     FROM pg_dist_node n LEFT JOIN citus_shards s ON (s.nodename, s.nodeport) = (n.nodename, n.nodeport)
     WHERE n.shouldhaveshards AND n.isactive GROUP BY 1, 2 ORDER BY coalesce(sum(s.shard_size), 0), 1, 2 LIMIT 1`,
  )
  return rows[0] as ClusterNode
}

const requireNode = async (client: pg.ClientBase, node: ClusterNode): Promise<ClusterNode> => {
  const { rowCount } = await client.query(
    'SELECT FROM pg_dist_node WHERE nodename = $1 AND nodeport = $2 AND shouldhaveshards',
    [node.host, node.port],
  )
  if (rowCount === 1) return node
  throw new ClusterError(`${nodeName(node)} is not a node of the cluster that stores shards. Nothing was changed.`)
}

export const isolate = (connection: pg.ClientConfig, options: Options): Promise<Isolated> =>
  withClient(connection, 'earshot db isolate', async (client) => {
    await requireCitus(client)
    await lockPlacement(client)
    const { id, slug } = await findOrganization(client, options.organization)
    const anchor = (await listPlaced(client)).find(({ kind }) => kind === 'distributed')?.name
    if (!anchor) throw new ClusterError('No tables are distributed yet. Run bin/earshot db distribute first.')
    const wanted = options.node && (await requireNode(client, options.node))
    const before = await findHome(client, anchor, id)
    if (!options.blockWrites) await requireLogicalWal(client)
    if (!options.blockWrites && !before.isAlone) await requireOutputPlugin(client)
    const mode = transferMode(options)
    if (!before.isAlone) {
      options.onStep(`isolating the shards of ${slug}`)
      await client.query(`SELECT isolate_tenant_to_new_shard($1::regclass, $2::uuid, 'CASCADE', $3)`, [
        `public.${anchor}`,
        id,
        mode,
      ])
    }
    const home = await findHome(client, anchor, id)
    // If the organization is already isolated, it stays on its node unless another one is given.
    const target = wanted ?? (before.isAlone ? home : await emptiestNode(client))
    const wasThere = nodeName(target) === nodeName(home)
    if (!wasThere) {
      options.onStep(`moving them to ${nodeName(target)}`)
      await client.query('SELECT citus_move_shard_placement($1, $2, $3, $4, $5, $6)', [
        home.shardid,
        home.host,
        home.port,
        target.host,
        target.port,
        mode,
      ])
    }
    return { slug, node: nodeName(target), wasAlone: before.isAlone, wasThere }
  })
