// Connects to the node of a cluster that has an organization's rows. Otherwise, the coordinator would plan each
// statement and forward it.

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { dropOldest } from '../../drop-oldest.ts'
import type { Log } from '../../log.ts'
import {
  type Database,
  type DatabaseOptions,
  type Db,
  databaseOver,
  dbOver,
  type OrgId,
  openConnections,
  type Queryable,
} from '../database.ts'
import { isFullPool } from '../errors.ts'
import { notifyText } from '../notify.ts'
import { CoordinatorClient, NodeClient, type Notice } from './clients.ts'
import { type ClusterNode, nodeName } from './nodes.ts'
import { isDistributed } from './placed-tables.ts'
import { openShardMap, type ShardMap } from './shard-map.ts'

export type RoutedDatabase = Database & {
  /**
   * Returns the database for statements of one organization. On a cluster, this is the node that has its rows, or the
   * coordinator while that node is unknown or unreachable. Transactions must not use advisory locks or tables that
   * exist only on the coordinator. On plain PostgreSQL, it is the same database.
   */
  dbOf: (org: OrgId) => Db
}

type Options = DatabaseOptions & { log: Log }

const pauseAfterFailureMs = 5_000
/**
 * The maximum number of connections from a process to each node. For each connection, the node may open another one to
 * the coordinator.
 */
const poolSize = 5
/**
 * The lifetime of a connection. A connection keeps only some plans, and after this time, other organizations may be
 * active.
 */
const lifetimeSeconds = 300
/**
 * The maximum allowed difference between clocks. Rows get the time of their node and are compared with times from the
 * coordinator.
 */
const maxClockDifferenceMs = 1_000

/** The time for which notifications are collected. Under load, workers then take several jobs at once. */
const noticePauseMs = 50

/**
 * Sends notifications of committed transactions. A notification is lost if the process dies first. Other processes then
 * find its jobs a second later, but open pages only update with the next change.
 */
const openNotifier = (coordinator: Queryable, log: Log) => {
  const waiting = new Map<string, Notice>()
  let sending: Promise<void> | undefined
  const send = async () => {
    await pause(noticePauseMs)
    for (const [key, notice] of waiting) {
      waiting.delete(key)
      await coordinator
        .query(notifyText, notice)
        .catch((error) => log.debug({ err: error }, 'a notification was not sent'))
    }
    sending = undefined
  }
  return {
    /** Sends notifications. A pending one also covers later commits. */
    notify: (notices: Notice[]) => {
      for (const notice of notices) waiting.set(notice.join(' '), notice)
      sending ??= send()
    },
    close: async () => {
      await sending
    },
  }
}

/** Throws if the server belongs to another cluster. A server on another network can have the same name. */
const checkNode = async (client: pg.ClientBase, coordinatorStart: string | undefined): Promise<void> => {
  const { rows } = await client.query<{ coordinator: string; ms: number }>(
    `SELECT result::json->>'start' AS coordinator,
       abs(extract(epoch FROM clock_timestamp() - (result::json->>'now')::timestamptz)) * 1000 AS ms
     FROM run_command_on_coordinator(
       'SELECT json_build_object(''start'', pg_postmaster_start_time()::text, ''now'', clock_timestamp())')`,
  )
  const [row] = rows
  if (row?.coordinator !== coordinatorStart) throw new Error('The node belongs to another cluster.')
  if (row && row.ms > maxClockDifferenceMs)
    throw new Error(`The clocks of the node and the coordinator differ by ${Math.round(row.ms)} ms.`)
}

const serve = (client: NodeClient, org: OrgId): void => {
  client.organization = org
}

/** A connection from this pool. */
type PooledNodeClient = pg.PoolClient & NodeClient

type NodeOptions = { options: Options; map: ShardMap; onCommitted: (notices: Notice[]) => void }

/**
 * Opens connections to one node. The node is only used after the first connection has succeeded, so that no request
 * waits for a dead node.
 */
const openNode = (node: ClusterNode, { options, map, onCommitted }: NodeOptions) => {
  const { log } = options
  const { user, password, database, ssl } = new pg.Client(options.connection)
  const about = { node: nodeName(node) }
  let isUsable = false
  let tryAfter = Number.NEGATIVE_INFINITY
  let trying: Promise<void> | undefined
  // pg passes all options on to its clients.
  const connection: pg.PoolConfig & { onCommitted: typeof onCommitted } = {
    ...node,
    user,
    database,
    ssl,
    ...(typeof password === 'string' && { password }),
    onCommitted,
  }
  const { pool, pipeline, close } = openConnections({
    ...options,
    connection,
    poolSize,
    lifetimeSeconds,
    Client: NodeClient,
    onConnectionLost: (error) => log.warn({ ...about, err: error }, 'a connection to a node was lost'),
    onConnect: (client) => checkNode(client, map.coordinatorStart()),
  })

  const noteFailure = (error: unknown) => {
    if (isUsable) log.warn({ ...about, err: error }, 'a node cannot be reached: using the coordinator')
    else log.debug({ ...about, err: error }, 'a node cannot be reached')
    isUsable = false
    tryAfter = performance.now() + pauseAfterFailureMs
  }

  const tryOnce = async () => {
    try {
      const client = await pool.connect()
      client.release()
      log.info(about, 'connected to a node of the cluster')
      isUsable = true
    } catch (error) {
      noteFailure(error)
    }
    trying = undefined
  }

  const isReady = (): boolean => {
    if (!isUsable && performance.now() >= tryAfter) trying ??= tryOnce()
    return isUsable
  }

  return {
    pool,
    /** Returns undefined if the statement needs its own connection. */
    query: (org: OrgId, text: string, values: unknown[]) => {
      if (!isReady()) return undefined
      // `openConnections` has created a client of this class.
      return pipeline?.query(text, values, (client) => serve(client as NodeClient, org))
    },
    /** Returns undefined if the node can't be reached. Rejects if all connections to it are busy for too long. */
    connect: async (): Promise<PooledNodeClient | undefined> => {
      if (!isReady()) return undefined
      try {
        return (await pool.connect()) as PooledNodeClient
      } catch (error) {
        if (isFullPool(error)) throw error
        noteFailure(error)
        return undefined
      }
    },
    close: async () => {
      await trying
      await close()
    },
  }
}

const maxDatabases = 5_000

const routeStatements = (options: Options): RoutedDatabase => {
  const { log } = options
  const connections = openConnections({ ...options, Client: CoordinatorClient })
  const primary = databaseOver(connections, options)
  const coordinator = connections.pool
  const map = openShardMap(coordinator, log)
  const notifier = openNotifier(coordinator, log)
  const nodes = new Map<string, ReturnType<typeof openNode>>()
  const databases = new Map<OrgId, Db>()

  const nodeAt = (address: ClusterNode) => {
    const name = nodeName(address)
    const node = nodes.get(name) ?? openNode(address, { options, map, onCommitted: notifier.notify })
    nodes.set(name, node)
    return node
  }

  const connect = async (org: OrgId): Promise<pg.PoolClient> => {
    const address = map.nodeOf(org)
    const client = address && (await nodeAt(address).connect())
    if (!client) return coordinator.connect()
    serve(client, org)
    return client
  }

  const openFor = (org: OrgId): Db => {
    const run = async (text: string, values: unknown[]) => {
      const address = map.nodeOf(org)
      const pipelined = address && nodeAt(address).query(org, text, values)
      if (pipelined) return pipelined
      const client = await connect(org)
      try {
        return await client.query(text, values)
      } finally {
        client.release()
      }
    }
    return dbOver({ connect: () => connect(org), end: async () => {}, options: {} }, run, options)
  }

  const pools = () => [...nodes.values()].map(({ pool }) => pool)
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
  return {
    ...primary,
    dbOf: (org) => {
      const known = databases.get(org)
      if (known) return known
      const db = openFor(org)
      databases.set(org, db)
      dropOldest(databases, maxDatabases)
      return db
    },
    waiting: () => primary.waiting() + sum(pools().map((pool) => pool.waitingCount)),
    stats: () => {
      const { total, idle, waiting } = primary.stats()
      return {
        total: total + sum(pools().map((pool) => pool.totalCount)),
        idle: idle + sum(pools().map((pool) => pool.idleCount)),
        waiting: waiting + sum(pools().map((pool) => pool.waitingCount)),
      }
    },
    close: async () => {
      await map.close()
      await Promise.all([...nodes.values()].map((node) => node.close()))
      await notifier.close()
      await primary.close()
    },
  }
}

/**
 * Opens the service's database. The database can only change between plain and distributed while no process is
 * connected.
 */
export const openRoutedDatabase = async (options: Options): Promise<RoutedDatabase> => {
  const connections = openConnections(options)
  try {
    if (!(await isDistributed(connections.pool))) {
      const database = databaseOver(connections, options)
      return { ...database, dbOf: () => database.db }
    }
  } catch (error) {
    await connections.close()
    throw error
  }
  await connections.close()
  return routeStatements(options)
}
