// Measures the queue itself with the rate of empty jobs, using a worker like the service's. Measures first without
// other load, and then while a long snapshot, like that of an export, prevents PostgreSQL from cleaning up.
// npm run bench -- jobs [JOBS]
// It uses the database in DATABASE_URL if that is set, such as a distributed one.
import pg from 'pg'
import Type from 'typebox'
import { openDatabase } from '../server/platform/db/database.ts'
import { migrate } from '../server/platform/db/migrate.ts'
import { newId } from '../server/platform/ids.ts'
import { defineJob } from '../server/platform/jobs/define-job.ts'
import { openJobs } from '../server/platform/jobs/queue.ts'
import { openLog } from '../server/platform/log.ts'
import { millisecondsOf, print } from './report.ts'
import { median, openBenchDatabase } from './servers.ts'

const count = Number(process.argv[2] ?? 20_000)
const org = newId()

const emptyJob = defineJob({
  name: 'bench.empty',
  payload: Type.Object({ organizationId: Type.String(), number: Type.Integer() }),
  // The only organization uses half of the slots.
  concurrency: 128,
  run: async (_deps: object, _payload, attempt) => attempt.finish(async () => {}),
})
const payload = (number: number) => ({ organizationId: org, number })

const served = await openBenchDatabase()
const log = openLog({ write: () => {} })
const connection = { connectionString: process.env.DATABASE_URL ?? served.url }
await migrate(connection, { log })
const database = openDatabase({ connection, applicationName: 'bench' })
const { db } = database
const jobs = openJobs({ database, log })
const snapshot = new pg.Client(connection)

let left = 0
let emptied = Promise.withResolvers<void>()
const onSettled = () => {
  if (--left === 0) emptied.resolve()
}
const expectRuns = (runs: number) => {
  left = runs
  emptied = Promise.withResolvers<void>()
}
const start = () => jobs.start([emptyJob], {}, { workerId: 'bench', onSettled })
const perSecond = (runs: number, ms: number) => `${Math.round((runs / ms) * 1_000)} a second`

const addJobs = (runs: number) =>
  millisecondsOf(async () => {
    for (let from = 0; from < runs; from += 1_000) {
      const payloads = Array.from({ length: Math.min(1_000, runs - from) }, (_, at) => payload(from + at))
      await jobs.enqueueMany(db, emptyJob, payloads)
    }
  })

const throughWorker = async (name: string) => {
  expectRuns(count)
  const put = await addJobs(count)
  const worked = await millisecondsOf(async () => {
    await start()
    await emptied.promise
  })
  await jobs.stop({ timeoutMs: 10_000 })
  print(`${name}: put in ${perSecond(count, put)}, worked off ${perSecond(count, worked)}`)
}

try {
  await throughWorker('many at once')
  await throughWorker('once more')

  const single = count / 10
  expectRuns(single)
  await start()
  const took = await millisecondsOf(async () => {
    const lanes = Array.from({ length: 8 }, async (_, lane) => {
      for (let number = lane; number < single; number += 8) {
        await db.transaction().execute((trx) => jobs.enqueue(trx, emptyJob, payload(number)))
      }
    })
    await Promise.all(lanes)
    await emptied.promise
  })
  print(`one by one, from eight callers: ${perSecond(single, took)}`)

  const delays: number[] = []
  for (let run = 0; run < 100; run++) {
    expectRuns(1)
    delays.push(
      await millisecondsOf(async () => {
        await jobs.enqueue(db, emptyJob, payload(run))
        await emptied.promise
      }),
    )
  }
  await jobs.stop({ timeoutMs: 10_000 })
  print(`a single one, from enqueue to its end: ${median(delays).toFixed(1)} ms`)

  await snapshot.connect()
  await snapshot.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await snapshot.query('SELECT count(*) FROM migrations')
  await throughWorker('during a long snapshot')
  await throughWorker('during a longer one')
} finally {
  await snapshot.end().catch(() => {})
  await jobs.close()
  await database.close()
  await served.close()
}
