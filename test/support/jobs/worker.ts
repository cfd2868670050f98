// Runs a worker in a separate process that the tests kill. Its arguments are the connection and the job as JSON.
import { openDatabase } from '../../../server/platform/db/database.ts'
import { openJobs } from '../../../server/platform/jobs/queue.ts'
import * as jobs from './jobs.ts'
import { quietLog } from './quiet-log.ts'

const { connection, name } = JSON.parse(process.argv[2] ?? '')
const database = openDatabase({ connection, applicationName: 'jobs test child' })
const opened = openJobs({ database, log: quietLog() })
const chosen = Object.values(jobs).filter((job) => job.name === name)
const gate = new Promise<void>((open) => process.on('message', () => open()))
await opened.start(chosen, { db: database.db, worker: 'child', gate }, { workerId: 'child' })
process.send?.('ready')
