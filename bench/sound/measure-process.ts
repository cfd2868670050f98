// Measures one file in a separate process, and prints the time and memory that this took.

import { openSync, readFileSync } from 'node:fs'
import { measureFile } from '../../server/sound/measure-file.ts'

const [path = ''] = process.argv.slice(2)
const startedAt = performance.now()
const { durationMs } = await measureFile(openSync(path, 'r'), { onBlock: () => {} })
const { userCPUTime, systemCPUTime } = process.resourceUsage()
// `maxRSS` would include the memory of the process that started this one.
const [, kilobytes = 'NaN'] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
process.stdout.write(
  JSON.stringify({
    durationMs,
    tookMs: performance.now() - startedAt,
    cpuMs: (userCPUTime + systemCPUTime) / 1_000,
    megabytes: Number(kilobytes) / 1_024,
  }),
)
