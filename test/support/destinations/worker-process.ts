// Runs only jobs, like `earshot serve` with the worker role, and sends messages to the fakes at an address. Usage: node
// worker-process.ts ORIGIN

import { openDeps } from '../../../server/deps.ts'
import { loadConfig } from '../../../server/platform/config.ts'
import { openLog } from '../../../server/platform/log.ts'
import { startWorker } from '../../../server/worker.ts'
import { depsWith } from '../deps-with.ts'
import { redirectTo } from './redirect.ts'

const config = loadConfig()
const opened = await openDeps({
  config,
  log: openLog({ write: (line) => process.stderr.write(line) }),
  connection: { connectionString: config.databaseUrl },
  applicationName: 'worker',
})
const deps = depsWith(opened, { outbound: redirectTo(opened.outbound, process.argv[2] ?? '') })
await startWorker(deps, { alone: false })
process.stdout.write('Earshot is running jobs.\n')
