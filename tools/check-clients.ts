// Generates clients from openapi.json with popular generators, type-checks them, and lints the document.

import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')
const generators = join(root, 'test/clients')
const document = join(root, 'openapi.json')

const run = async (cwd: string, program: string, args: string[]): Promise<void> => {
  await promisify(execFile)(program, args, { cwd }).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`${program} failed\n${error.stdout}${error.stderr}`, { cause: error })
  })
}

/** Returns whether the generators are installed at the versions in the lock file. */
const isInstalled = async (): Promise<boolean> => {
  const changedAt = async (file: string) => (await stat(join(generators, file)).catch(() => undefined))?.mtimeMs ?? 0
  return (await changedAt('node_modules/.package-lock.json')) > (await changedAt('package-lock.json'))
}

const installed = (name: string) => join(generators, 'node_modules/.bin', name)

const strict = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: [],
  },
  include: ['.'],
}

const checkClients = async (folder: string): Promise<void> => {
  const generate = (name: string, args: string[]) => run(folder, installed(name), args)
  const plugins = ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch', 'zod']
  await generate('openapi-typescript', [document, '--output', 'openapi-typescript/schema.ts'])
  await generate('openapi-ts', ['--input', document, '--output', 'hey-api', '--plugins', ...plugins])
  for (const client of ['fetch', 'zod']) {
    await generate('orval', ['--input', document, '--output', `orval/${client}.ts`, '--client', client])
  }
  await symlink(join(generators, 'node_modules'), join(folder, 'node_modules'))
  await cp(join(generators, 'calls.ts'), join(folder, 'calls.ts'))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(strict))
  await run(folder, join(root, 'node_modules/.bin/tsc'), ['--project', folder])
  // Loading the files compiles the regular expressions they contain.
  for (const schemas of ['hey-api/zod.gen.ts', 'orval/zod.ts']) {
    await run(folder, process.execPath, ['--preserve-symlinks', schemas])
  }
}

const lint = () =>
  run(generators, installed('spectral'), ['lint', document, '--ruleset', 'spectral.yaml', '--fail-severity', 'hint'])

if (!(await isInstalled())) await run(generators, 'npm', ['ci', '--prefer-offline'])
const folder = await mkdtemp(join(tmpdir(), 'earshot-clients-'))
// Both processes must have ended before the folder is deleted.
for (const ended of await Promise.allSettled([checkClients(folder), lint()])) {
  if (ended.status === 'fulfilled') continue
  process.stderr.write(`${ended.reason.message}\n`)
  process.exitCode = 1
}
await rm(folder, { recursive: true })
