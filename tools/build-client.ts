// Packs the client library as it is published to npm: node tools/build-client.ts [FOLDER]. The default folder is dist/.

import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const client = join(root, 'client')
const versionOf = (folder: string): string => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version

if (versionOf(client) !== versionOf(root)) {
  process.stderr.write('client/package.json must have the version of package.json.\n')
  process.exit(1)
}
const [target] = process.argv.slice(2)
const folder = target ?? join(root, 'dist')
const stage = mkdtempSync(join(tmpdir(), 'earshot-client-'))
try {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', client, '--outDir', join(stage, 'dist')], { stdio: 'inherit' })
  copyFileSync(join(client, 'package.json'), join(stage, 'package.json'))
  copyFileSync(join(client, 'README.md'), join(stage, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(stage, 'LICENSE'))
  mkdirSync(folder, { recursive: true })
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: stage })
  if (target === undefined) {
    rmSync(join(client, 'dist'), { recursive: true, force: true })
    cpSync(join(stage, 'dist'), join(client, 'dist'), { recursive: true })
  }
} finally {
  rmSync(stage, { recursive: true, force: true })
}
process.stdout.write(`${join(folder, `earshot-client-${versionOf(client)}.tgz`)}\n`)
