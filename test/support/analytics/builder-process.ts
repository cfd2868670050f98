// Stores hourly sums in a separate process, without pauses, and treats every hour as quiet. node builder-process.ts
// ORGANIZATION

import { buildNext, thin } from '../../../server/analytics/days/build.ts'
import { openDeps } from '../../../server/deps.ts'
import { loadConfig } from '../../../server/platform/config.ts'
import { dayMs } from '../../../server/platform/durations.ts'
import { orgIdOf } from '../../../server/platform/ids.ts'
import { openLog } from '../../../server/platform/log.ts'

const config = loadConfig()
const deps = await openDeps({
  config,
  log: openLog({ write: (line) => process.stderr.write(line) }),
  connection: { connectionString: config.databaseUrl },
  applicationName: 'builder',
  clock: { now: () => new Date(Date.now() + dayMs) },
})
const org = orgIdOf(process.argv[2] ?? '')
process.stdout.write('Earshot is running jobs.\n')
for (;;) {
  await buildNext(deps, org)
  await thin(deps, org)
}
