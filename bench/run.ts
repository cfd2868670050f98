// npm run bench            all benchmarks, one after the other
// npm run bench -- NAME    one of them, such as http

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const notBenches = new Set(['run.ts', 'bare-server.ts', 'report.ts', 'rules.ts', 'servers.ts'])
const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !notBenches.has(file))
  .map((file) => file.replace(/\.ts$/, ''))

const [asked, ...args] = process.argv.slice(2)
if (asked !== undefined && !known.includes(asked)) {
  process.stderr.write(`There is no bench ${asked}; there is ${known.join(', ')}.\n`)
  process.exit(2)
}
for (const name of asked === undefined ? known : [asked]) {
  const file = join(import.meta.dirname, `${name}.ts`)
  const { status } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
