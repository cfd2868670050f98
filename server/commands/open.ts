import type pg from 'pg'
import { type Config, loadConfig } from '../config.ts'
import { type Deps, openDeps } from '../deps.ts'
import { type ConnectOptions, connectDatabase } from '../platform/db/connect.ts'
import { requireCluster } from '../platform/db/embedded-cluster.ts'
import { migrate, requireMigrated } from '../platform/db/migrate.ts'
import { queueSchemaStep } from '../platform/jobs/install.ts'
import { type Log, openLog } from '../platform/log.ts'
import { jobList } from '../worker.ts'

type Options = Pick<ConnectOptions, 'exclusive' | 'onState' | 'patienceMs'> & { command: string; log?: Log }

export type Opened = {
  deps: Deps
  /** Whether this process alone has the data directory; never so with an external database. */
  alone: boolean
  close: () => Promise<void>
}

/** `prepare` brings the database to the schema of this version, or sees that it is. */
const openOver = async (
  config: Config,
  { command, log = openLog(), ...waiting }: Options,
  prepare: (connection: pg.PoolConfig, log: Log) => Promise<unknown>,
): Promise<Opened> => {
  const applicationName = `earshot ${command} (pid ${process.pid})`
  const { databaseUrl, dataDir } = config
  const database = await connectDatabase({
    ...{ databaseUrl, dataDir, applicationName: `earshot ${command}`, log },
    ...waiting,
  })
  try {
    const { connection } = database
    await prepare(connection, log)
    const deps = await openDeps({ config, log, connection, applicationName })
    return {
      deps,
      alone: databaseUrl === undefined && database.exclusive,
      close: async () => {
        await deps.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

const stepsOver = (connection: pg.PoolConfig) => [queueSchemaStep(connection, jobList)]

/** For serve, migrate and restore alone: makes the database where there is none, and migrates it. */
export const openAndMigrate = async (options: Options): Promise<Opened> =>
  openOver(loadConfig(), options, (connection, log) => migrate(connection, { log, steps: stepsOver(connection) }))

/** For all other commands: who looks with a newer version must not thereby upgrade what an older one serves. */
export const openAsItIs = async (options: Omit<Options, 'exclusive'>): Promise<Opened> => {
  const config = loadConfig()
  if (config.databaseUrl === undefined) await requireCluster(config.dataDir)
  return openOver(config, { ...options, exclusive: 'preferred' }, (connection) =>
    requireMigrated(connection, { steps: stepsOver(connection) }),
  )
}
