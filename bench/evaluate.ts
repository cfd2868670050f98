// Measures twenty rules on the demo's conversations, from stored turns to stored results. Compares the evaluation jobs
// with COPY of the same rows into the same empty table, and then measures the parts one after the other.
// npm run bench -- evaluate [CONVERSATIONS]

import { join } from 'node:path'
import pg from 'pg'
import { loadDemo } from '../server/demo/load.ts'
import { openDeps, type ServiceDeps } from '../server/deps.ts'
import { evaluateRules } from '../server/evaluations/evaluate-rules.ts'
import { evaluateConversations, evaluationBatch } from '../server/evaluations/lifecycle.ts'
import { findMonitorsInScope, resolveScopes } from '../server/evaluations/monitors-in-scope.ts'
import { listContents, listSubjects } from '../server/evaluations/queries.ts'
import { storeEvaluation } from '../server/monitor-results/queries.ts'
import { insertMonitor, insertMonitorVersion, listActiveMonitors } from '../server/monitors/queries.ts'
import { provisionOrganization } from '../server/organizations/provision.ts'
import { batchesOf } from '../server/platform/batches.ts'
import { loadConfig } from '../server/platform/config.ts'
import type { OrgId } from '../server/platform/db/database.ts'
import { migrate } from '../server/platform/db/migrate.ts'
import { newId } from '../server/platform/ids.ts'
import { openLog } from '../server/platform/log.ts'
import { jobList } from '../server/worker.ts'
import { rules } from './rules.ts'
import { median, openBenchDatabase } from './servers.ts'

const count = Number(process.argv[2] ?? 100_000)
const rounds = 3

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1_000
}

const print = (text: string) => process.stdout.write(`${text}\n`)
const pad = (cells: (string | number)[]) => cells.map((cell) => String(cell).padStart(14)).join('')

const makeMonitors = async ({ db }: ServiceDeps, org: OrgId): Promise<void> => {
  for (const [kind, expressions] of Object.entries(rules)) {
    for (const [at, expression] of expressions.entries()) {
      const id = newId()
      const monitor = { id, name: `${kind} ${at + 1}`, description: null, kind: 'rule', enabled: true } as const
      await insertMonitor(db, org, { ...monitor, scope: {}, samplePercent: 100 })
      await insertMonitorVersion(db, org, id, 1, { expression })
    }
  }
}

/** Runs all evaluation jobs with a worker like the service's. */
const throughJobs = async (deps: ServiceDeps, org: OrgId, batches: string[][]): Promise<number> => {
  const { db, jobs } = deps
  await jobs.enqueueMany(
    db,
    evaluateConversations,
    batches.map((conversationIds) => ({ organizationId: org, conversationIds })),
  )
  let left = batches.length
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const took = seconds(async () => {
    await jobs.start(jobList, deps, {
      workerId: 'bench',
      assumeSoleWorker: true,
      onSettled: ({ name, result, error }) => {
        if (name !== evaluateConversations.name) return
        if (result !== 'completed') reject(new Error(`A job was ${result}`, { cause: error }))
        left -= 1
        if (left === 0) resolve()
      },
    })
    await promise
  })
  const done = await took
  await jobs.stop({ timeoutMs: 10_000 })
  return done
}

/** Does the same work one step at a time, and measures each part. */
const inParts = async (deps: ServiceDeps, org: OrgId, batches: string[][]) => {
  const { db, clock } = deps
  const monitors = await listActiveMonitors(db, org)
  const parts = { reading: 0, rules: 0, writing: 0 }
  for (const ids of batches) {
    const readAt = clock.now()
    let subjects: Awaited<ReturnType<typeof listSubjects>> = []
    let contents: Awaited<ReturnType<typeof listContents>> = []
    parts.reading += await seconds(async () => {
      subjects = await listSubjects(db, org, ids)
      contents = await listContents(db, org, ids)
    })
    const scopes = await resolveScopes(deps, org, ids, monitors)
    const inScope = await findMonitorsInScope(db, org, subjects, monitors, scopes)
    let evaluation: Awaited<ReturnType<typeof evaluateRules>> | undefined
    const again = await seconds(() => listContents(db, org, ids))
    parts.rules += await seconds(async () => {
      evaluation = await evaluateRules(deps, org, { monitors, subjects, asked: inScope, readAt })
    })
    // The rules read the contents themselves, which is measured separately.
    parts.rules -= again
    const found = evaluation
    if (contents.length === 0 || !found) throw new Error('there is nothing to evaluate')
    parts.writing += await seconds(() => db.transaction().execute((trx) => storeEvaluation(trx, org, found)))
  }
  return parts
}

const database = await openBenchDatabase()
const log = openLog({ write: () => {} })
const connection = { connectionString: database.url }
let deps: ServiceDeps | undefined
const client = new pg.Client(connection)
try {
  await migrate(connection, { log })
  const config = loadConfig({ EARSHOT_DATA_DIR: join(database.folder, 'files') })
  const opened = await openDeps({ config, log, connection, applicationName: 'bench' })
  deps = opened
  await client.connect()
  const { db, clock } = deps
  const owner = { email: 'owner@example.com', name: 'Owner' }
  const { org } = await db
    .transaction()
    .execute((trx) => provisionOrganization(opened, trx, { name: 'Bench', slug: 'bench', owner }))
  await loadDemo(deps, org, {
    calls: count,
    seed: 1,
    anchor: clock.now(),
    signal: new AbortController().signal,
    onProgress: () => {},
  })
  await client.query(`DELETE FROM jobs WHERE name = '${evaluateConversations.name}'`)
  await makeMonitors(deps, org)
  await client.query('VACUUM ANALYZE')
  const { rows } = await client.query('SELECT id FROM conversations ORDER BY created_at, id')
  const batches = batchesOf(
    rows.map(({ id }) => id),
    evaluationBatch,
  )
  print(`${count} conversations, 20 rules, batches of ${evaluationBatch}`)

  const file = `${(await client.query('SHOW data_directory')).rows[0].data_directory}/results.bin`
  const ratios: number[] = []
  print(pad(['round', 'results', 'jobs s', 'results/s', 'COPY s', 'rows/s', 'of COPY']))
  for (let round = 1; round <= rounds; round++) {
    await client.query('TRUNCATE monitor_results')
    await client.query('CHECKPOINT')
    const took = await throughJobs(deps, org, batches)
    const results = Number((await client.query('SELECT count(*) FROM monitor_results')).rows[0].count)
    await client.query(
      `COPY (SELECT * FROM monitor_results ORDER BY evaluated_at, monitor_id) TO '${file}' (FORMAT binary)`,
    )
    await client.query('TRUNCATE monitor_results')
    await client.query('CHECKPOINT')
    const copied = await seconds(() => client.query(`COPY monitor_results FROM '${file}' (FORMAT binary)`))
    const ratio = copied / took
    ratios.push(ratio)
    const rates = [took.toFixed(1), (results / took).toFixed(0), copied.toFixed(1), (results / copied).toFixed(0)]
    print(pad([round, results, ...rates, ratio.toFixed(2)]))
  }
  print(`median: ${median(ratios).toFixed(2)} of the rate of COPY`)

  await client.query('TRUNCATE monitor_results')
  const parts = await inParts(deps, org, batches)
  const all = parts.reading + parts.rules + parts.writing
  const share = (part: number) => `${part.toFixed(1)} s (${((100 * part) / all).toFixed(0)} %)`
  print(`in one lane: reading ${share(parts.reading)}, rules ${share(parts.rules)}, writing ${share(parts.writing)}`)
} finally {
  await client.end()
  await deps?.close()
  await database.close()
}
