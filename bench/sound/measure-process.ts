// Measures one file in a separate process, and prints the time and memory that this took.

import { openSync } from 'node:fs'
import { measureFile } from '../../server/sound/measure-file.ts'

const [path = ''] = process.argv.slice(2)
const startedAt = performance.now()
const { durationMs } = await measureFile(openSync(path, 'r'), { onBlock: () => {} })
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
process.stdout.write(
  JSON.stringify({
    durationMs,
    tookMs: performance.now() - startedAt,
    cpuMs: (userCPUTime + systemCPUTime) / 1_000,
    megabytes: maxRSS / 1_024,
  }),
)
