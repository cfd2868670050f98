import type pg from 'pg'
import { loadConfig } from '../platform/config.ts'
import { connectDatabase } from '../platform/db/connect.ts'
import { requireMigrated } from '../platform/db/migrate.ts'
import { openLog } from '../platform/log.ts'
import type { Called, RunCommand } from './call.ts'
import { showCheck } from './db/check.ts'
import { runDistribute } from './db/distribute.ts'
import { runIsolate, runRebalance } from './db/move.ts'

type Action = (called: Called, connection: pg.ClientConfig) => Promise<number>

const actions: Record<string, Action> = { distribute: runDistribute, rebalance: runRebalance, isolate: runIsolate }

export const run: RunCommand = async (called) => {
  const { databaseUrl, dataDir } = loadConfig()
  if (!databaseUrl)
    throw new Error('Set DATABASE_URL to a database with Citus. The embedded database cannot be distributed.')
  const { connection, close } = await connectDatabase({
    databaseUrl,
    dataDir,
    applicationName: `earshot db ${called.action}`,
    log: openLog(),
    exclusive: 'preferred',
  })
  try {
    const isCheck = called.action === 'distribute' && called.flag('check')
    // The check also works while a new release has pending migrations.
    if (isCheck) return await showCheck(called, connection)
    await requireMigrated(connection)
    return (await actions[called.action]?.(called, connection)) ?? 1
  } finally {
    await close()
  }
}
