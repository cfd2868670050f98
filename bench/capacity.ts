// Calculates how many nodes a load needs. Measures what a conversation, a list, and opening a conversation cost on this
// machine, and simulates organizations, shards, and nodes with these costs. `--costs FILE` uses the costs of an earlier
// run, and the code below lists the other options. If DATABASE_URL leads to the coordinator of a cluster on this
// machine, its costs are listed separately from those of the nodes.

import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { measure } from './capacity/measure.ts'
import { type Costs, findNodes, type Load } from './capacity/simulate.ts'
import { print } from './report.ts'
import { openBenchDatabase } from './servers.ts'

const { values } = parseArgs({
  options: {
    costs: { type: 'string' },
    rate: { type: 'string', multiple: true, default: ['100', '1000', '10000'] },
    lists: { type: 'string', default: '0.2' },
    opens: { type: 'string', default: '0.2' },
    organizations: { type: 'string', default: '5000' },
    inequality: { type: 'string', default: '0.8' },
    days: { type: 'string', default: '30' },
    cores: { type: 'string', default: '32' },
    disk: { type: 'string', default: '8' },
    shards: { type: 'string', default: '4096' },
    seed: { type: 'string', default: '1' },
  },
})

const number = (name: Exclude<keyof typeof values, 'costs' | 'rate'>): number => {
  const value = Number(values[name])
  if (!(value > 0) && !(name === 'inequality' && value === 0)) throw new Error(`--${name} is a positive number`)
  return value
}

const readCosts = async (): Promise<Costs> => {
  if (values.costs !== undefined) return JSON.parse(await readFile(values.costs, 'utf8'))
  const { DATABASE_URL } = process.env
  const database = await openBenchDatabase()
  try {
    return await measure({ url: DATABASE_URL ?? database.url, folder: database.folder })
  } finally {
    await database.close()
  }
}

const costs = await readCosts()
print(JSON.stringify(costs))
print('milliseconds of a core   node  coordinator  earshot')
for (const name of ['ingest', 'list', 'open'] as const) {
  const cells = [costs[name].nodeMs, costs[name].coordinatorMs, costs[name].earshotMs].map((ms) => ms.toFixed(2))
  print(`  ${name.padEnd(19)}${cells[0]?.padStart(8)}${cells[1]?.padStart(13)}${cells[2]?.padStart(9)}`)
}
print(
  `${costs.bytesPerConversation.toFixed(0)} bytes a conversation, ${costs.walBytesPerConversation.toFixed(0)} of log`,
)
const machines = {
  coresPerNode: number('cores'),
  diskBytes: number('disk') * 1e12,
  shards: number('shards'),
  seed: number('seed'),
}
print(
  `\nnodes of ${machines.coresPerNode} cores and ${number('disk')} TB, ${number('organizations')} organizations, ` +
    `${number('days')} days kept, ${number('lists')} lists and ${number('opens')} opened for each conversation`,
)
print('   calls/s  nodes  cores used  disk used  p99 wait  coordinator  earshot      log/s  bound by')
for (const rate of values.rate) {
  const load: Load = {
    conversationsPerSecond: Number(rate),
    listsPerConversation: number('lists'),
    opensPerConversation: number('opens'),
    organizations: number('organizations'),
    inequality: number('inequality'),
    daysKept: number('days'),
  }
  const found = findNodes(costs, load, machines)
  const cells = [
    Number(rate).toLocaleString('en').padStart(10),
    String(found.nodes).padStart(7),
    `${(found.utilization * 100).toFixed(0)} %`.padStart(12),
    `${(found.diskShare * 100).toFixed(0)} %`.padStart(11),
    `${found.p99WaitMs.toFixed(1)} ms`.padStart(10),
    `${Math.ceil(found.coordinatorCores)} cores`.padStart(13),
    `${Math.ceil(found.earshotCores)} cores`.padStart(10),
    `${(found.walBytesPerSecond / 1e6).toFixed(1)} MB`.padStart(10),
  ]
  print(`${cells.join('')}  ${found.bound}`)
}
