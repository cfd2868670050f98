import { loadConfig } from '../config.ts'
import { closeDeps, type Deps, openDeps } from '../deps.ts'
import { type ConnectOptions, connectDatabase } from '../platform/db/connect.ts'
import { migrate } from '../platform/db/migrate.ts'
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

/** What every command stands on: the configuration, a migrated database, and all that is opened over it. */
export const open = async ({ command, log = openLog(), ...waiting }: Options): Promise<Opened> => {
  const config = loadConfig()
  const applicationName = `earshot ${command} (pid ${process.pid})`
  const { databaseUrl, dataDir } = config
  const database = await connectDatabase({
    ...{ databaseUrl, dataDir, applicationName: `earshot ${command}`, log },
    ...waiting,
  })
  try {
    const { connection } = database
    await migrate(connection, { log, steps: [queueSchemaStep(connection, jobList)] })
    const deps = await openDeps({ config, log, connection, applicationName })
    return {
      deps,
      alone: databaseUrl === undefined && database.exclusive,
      close: async () => {
        await closeDeps(deps)
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
