import type pg from 'pg'
import { openDeps, type ServiceDeps } from '../deps.ts'
import { type Config, loadConfig } from '../platform/config.ts'
import { type ConnectOptions, connectDatabase, refuseSharedReplica } from '../platform/db/connect.ts'
import type { Embedded } from '../platform/db/embedded.ts'
import { hasCluster, prepareDataDir, requireCluster } from '../platform/db/embedded-cluster.ts'
import { writeClaimedStorage } from '../platform/db/instance.ts'
import { migrate, requireMigrated } from '../platform/db/migrate.ts'
import { type Log, openLog } from '../platform/log.ts'
import { acceptSecretKey, checkSecretKey, claimSecretKey } from '../platform/secrets/key-check.ts'
import { loadSecretKey, requireSecretKey } from '../platform/secrets/secret-key.ts'
import { becomeAnother } from './backup/restored.ts'
import { refuseRestoring } from './backup/restoring.ts'
import { listStoredSecrets } from './stored-secrets.ts'

type Options = Pick<ConnectOptions, 'exclusive' | 'onState' | 'patienceMs'> & { command: string; log?: Log }

export type Opened = {
  deps: ServiceDeps
  /** Whether only this process uses the data directory. Never true for an external database. */
  alone: boolean
  close: () => Promise<void>
}

/**
 * Prepares the secret key before the database starts, so that a missing key of an existing database is always an error.
 * An external database gets its key from a variable.
 */
const prepareKey = async (config: Config): Promise<void> => {
  if (config.databaseUrl !== undefined) return
  await refuseRestoring(config.dataDir)
  if (await hasCluster(config.dataDir)) await requireSecretKey(config)
  else await loadSecretKey({ ...config, dataDir: await prepareDataDir(config.dataDir) })
}

type Prepare = (connection: pg.PoolConfig, log: Log) => Promise<unknown>

const connect = async (config: Config, options: Options, prepare: Prepare): Promise<Embedded> => {
  const { command, log = openLog(), ...waiting } = options
  const { databaseUrl, readDatabaseUrl, dataDir } = config
  await using opened = new AsyncDisposableStack()
  const database = await connectDatabase({
    databaseUrl,
    dataDir,
    applicationName: `earshot ${command}`,
    log,
    ...waiting,
  })
  opened.defer(database.close)
  if (readDatabaseUrl !== undefined) await refuseSharedReplica(readDatabaseUrl)
  await prepare(database.connection, log)
  opened.move()
  return database
}

/** Creates the database if it doesn't exist, and migrates it to this version. */
export const connectAndMigrate = async (config: Config, options: Options): Promise<Embedded> => {
  await prepareKey(config)
  return connect(config, options, (connection, log) => migrate(connection, { log }))
}

/**
 * Connects without migrating, because a newer version that only reads must not migrate a database that an older version
 * is using.
 */
const connectAsItIs = async (config: Config, options: Options): Promise<Embedded> => {
  if (config.databaseUrl === undefined) {
    await refuseRestoring(config.dataDir)
    await requireCluster(config.dataDir)
    await requireSecretKey(config)
  }
  return connect(config, options, (connection) => requireMigrated(connection))
}

/** Opens everything that needs the database and is closed with it. */
const openOver = async (database: Embedded, config: Config, { command, log = openLog() }: Options): Promise<Opened> => {
  await using opened = new AsyncDisposableStack()
  opened.defer(database.close)
  const { connection, exclusive, fault } = database
  const deps = await openDeps({
    config,
    log,
    connection,
    applicationName: `earshot ${command} (pid ${process.pid})`,
    ...(fault && { databaseFault: fault }),
  })
  opened.defer(deps.close)
  const all = opened.move()
  return { deps, alone: config.databaseUrl === undefined && exclusive, close: () => all.disposeAsync() }
}

/** The changes since the last start that the operator accepts. */
export type Accepted = { newSecretKey?: boolean; newStorage?: boolean }

/** Opens the database for `serve` and `restore`. */
export const openAndMigrate = async (options: Options, accepted: Accepted = {}): Promise<Opened> => {
  const config = loadConfig()
  const opened = await openOver(await connectAndMigrate(config, options), config, options)
  try {
    if (accepted.newSecretKey) await acceptSecretKey(opened.deps)
    else await claimSecretKey({ ...opened.deps, listStored: listStoredSecrets })
    if (accepted.newStorage) await writeClaimedStorage(opened.deps.db, null)
    await becomeAnother(opened.deps)
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Opens the database for the doctor, which reports a problem instead of stopping. */
export const openUnchecked = async (options: Omit<Options, 'exclusive'>): Promise<Opened> => {
  const config = loadConfig()
  const beside: Options = { ...options, exclusive: 'preferred' }
  return openOver(await connectAsItIs(config, beside), config, beside)
}

/** Opens the database for commands that run next to a service. */
export const openAsItIs = async (options: Omit<Options, 'exclusive'>): Promise<Opened> => {
  const opened = await openUnchecked(options)
  try {
    await checkSecretKey({ ...opened.deps, listStored: listStoredSecrets })
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}
