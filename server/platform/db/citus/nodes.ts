// Adds the nodes of a cluster and checks their settings.

import pg from 'pg'
import { ClusterError, withClient } from './connection.ts'

export type ClusterNode = { host: string; port: number }

export const readNode = (text: string): ClusterNode => {
  const [, host, port = '5432'] = /^(\[[0-9a-f:]+\]|[^:\s]+)(?::(\d{1,5}))?$/i.exec(text) ?? []
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new ClusterError(`${JSON.stringify(text)} is not a node such as db2.internal:5432.`)
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

export const nodeName = ({ host, port }: ClusterNode): string => `${host}:${port}`

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')

/**
 * Configures the address at which the other nodes reach the coordinator. This must happen before the first node is
 * added.
 */
const nameCoordinator = async (client: pg.Client, nodes: ClusterNode[]): Promise<void> => {
  const { rowCount } = await client.query('SELECT FROM pg_dist_node WHERE groupid = 0')
  if (rowCount !== 0) return
  if (client.host.startsWith('/') || (isLoopback(client.host) && nodes.some(({ host }) => !isLoopback(host))))
    throw new ClusterError(
      `The nodes cannot reach the coordinator at ${client.host}. Use an address in DATABASE_URL that they can reach, or call ` +
        'citus_set_coordinator_host. Nothing was changed.',
    )
  await client.query('SELECT citus_set_coordinator_host($1, $2)', [client.host, client.port])
}

/** Creates this database on nodes that lack it. */
const prepareNode = async (client: pg.Client, node: ClusterNode): Promise<void> => {
  const { user, password, database, ssl } = client
  const there = { ...node, user, ssl, ...(typeof password === 'string' && { password }) }
  const name = database ?? ''
  try {
    await withClient({ ...there, database: 'postgres' }, 'earshot db nodes', async (remote) => {
      const { rowCount } = await remote.query('SELECT FROM pg_database WHERE datname = $1', [name])
      if (rowCount === 0) await remote.query(`CREATE DATABASE ${pg.escapeIdentifier(name)} TEMPLATE template0`)
    })
    await withClient({ ...there, database: name }, 'earshot db nodes', (remote) =>
      remote.query('CREATE EXTENSION IF NOT EXISTS citus'),
    )
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ClusterError(`Preparing ${nodeName(node)} failed: ${reason}.`, { cause: error })
  }
}

/** Adds nodes that are not part of the cluster yet, and returns them. */
export const addNodes = async (client: pg.Client, nodes: ClusterNode[]): Promise<ClusterNode[]> => {
  if (nodes.length === 0) return []
  await client.query('CREATE EXTENSION IF NOT EXISTS citus')
  const { rows: known } = await client.query<ClusterNode>('SELECT nodename AS host, nodeport AS port FROM pg_dist_node')
  const added = nodes.filter((node) => !known.some((one) => nodeName(one) === nodeName(node)))
  if (added.length > 0) await nameCoordinator(client, added)
  for (const node of added) {
    await prepareNode(client, node)
    await client.query('SELECT citus_add_node($1, $2)', [node.host, node.port]).catch((error: Error) => {
      throw new ClusterError(`Adding ${nodeName(node)} failed: ${error.message}.`, { cause: error })
    })
  }
  return added
}

/** Returns the nodes that respond unexpectedly to a statement. */
const listNodesWhere = async (
  client: pg.ClientBase,
  statement: string,
  isWrong: (result: string) => boolean,
): Promise<string[]> => {
  const { rows } = await client.query<{ node: string; result: string; success: boolean }>(
    `SELECT n.nodename || ':' || n.nodeport AS node, r.result, r.success
     FROM run_command_on_all_nodes($1) r JOIN pg_dist_node n USING (nodeid)`,
    [statement],
  )
  const lost = rows.filter(({ success }) => !success).map(({ node }) => node)
  if (lost.length > 0) throw new ClusterError(`${lost.join(', ')} cannot be reached. Nothing was changed.`)
  return rows.filter(({ result }) => isWrong(result)).map(({ node }) => node)
}

/** Throws if a node lacks logical decoding, which is needed to move shards without blocking writes. */
export const requireLogicalWal = async (client: pg.ClientBase): Promise<void> => {
  const without = await listNodesWhere(client, 'SHOW wal_level', (level) => level !== 'logical')
  if (without.length === 0) return
  throw new ClusterError(
    `${without.join(', ')} ${without.length === 1 ? 'lacks' : 'lack'} wal_level = logical, which moving shards without blocking ` +
      'writes requires. Set it and restart PostgreSQL there, or use --block-writes to block writes to a shard while it moves. ' +
      'Nothing was changed.',
  )
}

/** Throws if a node does not allow its log to be read, which is needed to split shards without blocking writes. */
export const requireOutputPlugin = async (client: pg.ClientBase): Promise<void> => {
  const without = await listNodesWhere(
    client,
    `SELECT coalesce(current_setting('output_plugin_libraries', true), 'citus')`,
    (libraries) => !libraries.split(/[\s,]+/).includes('citus'),
  )
  if (without.length === 0) return
  throw new ClusterError(
    `${without.join(', ')} ${without.length === 1 ? 'does' : 'do'} not allow citus to read the write-ahead log. Add citus to ` +
      'output_plugin_libraries there and reload PostgreSQL, or use --block-writes to block writes to a shard while it is ' +
      'split. Nothing was changed.',
  )
}

export type Transfer = { blockWrites: boolean }

export const transferMode = ({ blockWrites }: Transfer): string => (blockWrites ? 'block_writes' : 'force_logical')
