// Reports the placement of tables on a cluster, the cluster's balance, and the tables that are not placed yet. Changes
// nothing.

import type pg from 'pg'
import { requireCitus, withClient } from './connection.ts'
import { planPlacing, type Statement } from './distribute.ts'
import { type ClusterNode, nodeName } from './nodes.ts'
import { isRightKind, listPlaced, listReferences, tenantColumn } from './placed-tables.ts'
import { placement } from './placement.ts'

export type NodeState = { node: string; shardGroups: number; bytes: number; isReachable: boolean }

/** The shards of all tables for the same organizations. They are on the same node and move together. */
export type ShardGroup = { node: string; bytes: number; organizations: { slug: string; id: string }[] }

export type PlacementCheck = {
  /** Tables that are in the wrong place. Both the expected and the actual placement are listed. */
  misplaced: { table: string; is: string; shouldBe: string }[]
  /** The statements that `db distribute` would run, for example for the tables of a new release. */
  left: Statement[]
  counts: { distributed: number; reference: number; local: number }
  nodes: NodeState[]
  /** The largest groups first. */
  largest: ShardGroup[]
  /** The fullest node's size relative to the average. The value is 1 for a balanced cluster. */
  skew: number
}

const listNodes = async (client: pg.ClientBase): Promise<NodeState[]> => {
  const { rows } = await client.query<ClusterNode & { groups: string; bytes: string; isReachable: boolean }>(
    `SELECT n.nodename AS host, n.nodeport AS port, r.success AS "isReachable",
            coalesce(s.bytes, 0) AS bytes, coalesce(s.groups, 0) AS groups
     FROM pg_dist_node n
     JOIN run_command_on_all_nodes('SELECT 1') r USING (nodeid)
     LEFT JOIN (
       SELECT nodename, nodeport, sum(shard_size) AS bytes, count(DISTINCT d.shardminvalue) AS groups
       FROM citus_shards c JOIN pg_dist_shard d USING (shardid)
       WHERE citus_table_type = 'distributed' GROUP BY 1, 2
     ) s ON (s.nodename, s.nodeport) = (n.nodename, n.nodeport)
     WHERE n.shouldhaveshards
     ORDER BY 1, 2`,
  )
  return rows.map(({ groups, bytes, isReachable, ...node }) => ({
    node: nodeName(node),
    shardGroups: Number(groups),
    bytes: Number(bytes),
    isReachable,
  }))
}

const listLargest = async (client: pg.ClientBase, anchor: string): Promise<ShardGroup[]> => {
  const { rows } = await client.query<
    ClusterNode & { bytes: string; organizations: ShardGroup['organizations'] | null }
  >(
    `WITH shard_groups AS MATERIALIZED (
       SELECT d.shardminvalue AS start, c.nodename AS host, c.nodeport AS port, sum(c.shard_size) AS bytes
       FROM citus_shards c JOIN pg_dist_shard d USING (shardid)
       WHERE c.citus_table_type = 'distributed' GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 5
     ), homes AS MATERIALIZED (
       SELECT id, slug, get_shard_id_for_distribution_column($1::regclass, id) AS shardid FROM organizations
     )
     SELECT host, port, bytes, (
       SELECT json_agg(json_build_object('slug', o.slug, 'id', o.id) ORDER BY o.slug)
       FROM (SELECT slug, homes.id FROM homes JOIN pg_dist_shard d USING (shardid)
             WHERE d.shardminvalue = start ORDER BY slug LIMIT 10) o
     ) AS organizations
     FROM shard_groups ORDER BY bytes DESC`,
    [`public.${anchor}`],
  )
  return rows.map(({ bytes, organizations, ...node }) => ({
    node: nodeName(node),
    bytes: Number(bytes),
    organizations: organizations ?? [],
  }))
}

export const checkPlacement = (connection: pg.ClientConfig): Promise<PlacementCheck> =>
  withClient(connection, 'earshot db check', async (client) => {
    await requireCitus(client)
    const placed = await listPlaced(client)
    const anchor = placed.find(({ kind }) => kind === 'distributed')
    const misplaced = placed.flatMap((table) => {
      const { name, kind, column, group } = table
      const shouldBe = placement[name]
      if (shouldBe === undefined) return []
      const isRight =
        isRightKind(table) && (kind !== 'distributed' || (column === tenantColumn && group === anchor?.group))
      return isRight ? [] : [{ table: name, is: kind === 'distributed' ? `distributed by ${column}` : kind, shouldBe }]
    })
    const nodes = await listNodes(client)
    const mean = nodes.reduce((sum, { bytes }) => sum + bytes, 0) / Math.max(1, nodes.length)
    const countOf = (kind: string) => placed.filter((table) => table.kind === kind).length
    return {
      misplaced,
      left: planPlacing(placed, await listReferences(client)),
      counts: {
        distributed: countOf('distributed'),
        reference: countOf('reference'),
        local: Object.keys(placement).length - countOf('distributed') - countOf('reference'),
      },
      nodes,
      largest: anchor ? await listLargest(client, anchor.name) : [],
      skew: mean === 0 ? 1 : Math.max(...nodes.map(({ bytes }) => bytes)) / mean,
    }
  })
