// What the statistics of experiments claim, checked on experiments whose truth is known. It ends with 1 when a bound
// does not hold.
// npm run bench -- experiments [PARTS] [--write]
// --write puts the tables of the simulations into docs/experiments.md.

import { simulate } from './experiments/simulate.ts'
import { failedCount, print } from './report.ts'

const args = process.argv.slice(2)
const asked = args.filter((text) => text !== '--write')
const writes = args.includes('--write')

const parts: Record<string, () => Promise<void>> = {
  simulate: () => simulate({ writes }),
}
const unknown = asked.filter((name) => !Object.hasOwn(parts, name))
if (unknown.length > 0) {
  print(`There is no part ${unknown.join(', ')}; there is ${Object.keys(parts).join(', ')}.`)
  process.exit(2)
}
for (const [name, measure] of Object.entries(parts)) {
  if (asked.length === 0 || asked.includes(name)) await measure()
}
print(failedCount() === 0 ? 'All bounds hold.' : `${failedCount()} bounds do not hold.`)
process.exitCode = failedCount() > 0 ? 1 : 0
