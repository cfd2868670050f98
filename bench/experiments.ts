// Checks the claims of experiment statistics with simulated experiments, and measures reading and counting an
// experiment with a million conversations. Exits with 1 if a limit is exceeded.
// npm run bench -- experiments [CONVERSATIONS] [PARTS] [--write]
// --write puts the tables of the simulations into docs/experiments.md.

import { measureArrivals } from './experiments/arrivals.ts'
import { measureReading, storeAll } from './experiments/reading.ts'
import { simulate } from './experiments/simulate.ts'
import { openStored } from './experiments/stored.ts'
import { failedCount, print } from './report.ts'

const args = process.argv.slice(2)
const sizes = args.filter((text) => /^\d+$/.test(text))
const [conversations = 1_000_000] = sizes.map(Number)
const selected = args.filter((text) => text !== '--write' && !sizes.includes(text))
const writes = args.includes('--write')

const parts = ['simulate', 'reading', 'counting']
const unknown = selected.filter((name) => !parts.includes(name))
if (unknown.length > 0) {
  print(`There is no part ${unknown.join(', ')}; there is ${parts.join(', ')}.`)
  process.exit(2)
}
const isAsked = (name: string) => selected.length === 0 || selected.includes(name)

if (isAsked('simulate')) await simulate({ writes })
if (isAsked('reading') || isAsked('counting')) {
  const stored = await openStored()
  try {
    await (isAsked('reading') ? measureReading : storeAll)(stored, conversations)
    if (isAsked('counting')) await measureArrivals(stored)
  } finally {
    await stored.close()
  }
}
print(failedCount() === 0 ? 'All bounds hold.' : `${failedCount()} bounds do not hold.`)
process.exitCode = failedCount() > 0 ? 1 : 0
