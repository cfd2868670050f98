// Measures what checking 200 alert rules costs with a million conversations, in percent of one core: the processor
// time of this process and of PostgreSQL for all checks in a quarter of an hour, divided by its length. The clock
// moves in steps of 15 seconds, as often as the service checks, and jobs run immediately. Then simulates years without
// a change, in which rules must hardly ever fire.
// npm run bench -- alerts [CONVERSATIONS]

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { checkAlertRules } from '../server/alert-rules/jobs.ts'
import { openDeps, type ServiceDeps } from '../server/deps.ts'
import { provisionOrganization } from '../server/organizations/provision.ts'
import { loadConfig } from '../server/platform/config.ts'
import { migrate } from '../server/platform/db/migrate.ts'
import { dayMs, hourMs, minuteMs } from '../server/platform/durations.ts'
import { openLog } from '../server/platform/log.ts'
import { loadConversations, makeRules, storeRules } from './alerts/data.ts'
import { judgeChanges, judgeFieldChanges, judgeSmallSamples } from './alerts/simulate.ts'
import { readDatabase } from './capacity/processor.ts'
import { failedCount, judge, millisecondsOf, print } from './report.ts'
import { openBenchDatabase } from './servers.ts'

const count = Number(process.argv[2] ?? 1_000_000)
const ruleCount = 200
const stepMs = 15_000
const measuredMs = 15 * minuteMs
/** The maximum processor time, in percent of one core. */
const mostPercent = 5

/** Returns a clock that moves in steps. It starts just before an hour's windows are compared with the previous ones. */
const openSteps = () => {
  let time = Math.ceil(Date.now() / hourMs) * hourMs
  return {
    now: () => new Date(time),
    advance: () => {
      time += stepMs
    },
  }
}

const checkAll = async (deps: ServiceDeps): Promise<void> => {
  await deps.jobs.enqueue(deps.db, checkAlertRules, {})
  await deps.jobs.drain([checkAlertRules], deps)
}

const measureChecks = async (): Promise<void> => {
  const database = await openBenchDatabase()
  const log = openLog({ write: () => {} })
  const connection = { connectionString: database.url }
  const client = new pg.Client(connection)
  const clock = openSteps()
  let deps: ServiceDeps | undefined
  try {
    await migrate(connection, { log })
    const config = loadConfig({ EARSHOT_DATA_DIR: join(database.folder, 'files') })
    const opened = await openDeps({ config, log, connection, applicationName: 'bench', clock })
    deps = opened
    const { db } = opened
    await client.connect()
    const owner = { email: 'owner@example.com', name: 'Owner' }
    const { org } = await db
      .transaction()
      .execute((trx) => provisionOrganization(opened, trx, { name: 'Bench', slug: 'bench', owner }))
    const start = clock.now().getTime()
    const period = { from: new Date(start - 30 * dayMs), until: new Date(start + measuredMs) }
    const loadMs = await millisecondsOf(async () => {
      const loaded = await loadConversations(client, db, org, count, period)
      await client.query('DELETE FROM alert_rules')
      await storeRules(db, org, makeRules(loaded, ruleCount), clock.now())
      await client.query('VACUUM ANALYZE')
      await client.query('CHECKPOINT')
    })
    print(
      `${count} conversations with results of ${20} monitors, ${ruleCount} rules; loaded in ${(loadMs / 1_000).toFixed(0)} s`,
    )

    const postmaster = Number(
      (await readFile(join(database.folder, 'data/postgres/postmaster.pid'), 'utf8')).split('\n')[0],
    )
    const processorMs = async () => {
      const { user, system } = process.cpuUsage()
      return { service: (user + system) / 1_000, database: await readDatabase(postmaster) }
    }
    const measure = async (work: () => Promise<void>) => {
      const before = await processorMs()
      await work()
      const after = await processorMs()
      return { service: after.service - before.service, database: after.database - before.database }
    }
    const shown = ({ service, database: ofDatabase }: { service: number; database: number }) =>
      `${(service / 1_000).toFixed(1)} s in this process, ${(ofDatabase / 1_000).toFixed(1)} s in PostgreSQL`
    print(`all rules at once, the first time: ${shown(await measure(() => checkAll(opened)))}`)
    const spent = await measure(async () => {
      for (let passed = 0; passed < measuredMs; passed += stepMs) {
        clock.advance()
        await checkAll(opened)
      }
    })
    const { rows } = await client.query('SELECT count(*) AS opened FROM alert_incidents')
    print(`${measuredMs / minuteMs} minutes: ${shown(spent)}; ${rows[0].opened} incidents`)
    judge(
      'processor time',
      ((spent.service + spent.database) / measuredMs) * 100,
      { atMost: mostPercent },
      '% of one core',
    )
  } finally {
    await client.end()
    await deps?.close()
    await database.close()
  }
}

await measureChecks()
judgeChanges()
judgeFieldChanges()
judgeSmallSamples()
process.exitCode = failedCount() > 0 ? 1 : 0
