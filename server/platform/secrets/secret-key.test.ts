import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadSecretKey, requireSecretKey } from './secret-key.ts'

let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'earshot-key-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

test('uses the configured key and does not touch the data directory', async () => {
  expect(await loadSecretKey({ secretKey: 'k'.repeat(32), dataDir })).toBe('k'.repeat(32))
  expect(await readdir(dataDir)).toEqual([])
})

test('creates a key once, readable only by its owner, in a data directory that may not exist', async () => {
  const fresh = join(dataDir, 'not/yet/there')
  const key = await loadSecretKey({ secretKey: undefined, dataDir: fresh })
  expect(key).toMatch(/^[\w-]{43}$/)
  expect(await loadSecretKey({ secretKey: undefined, dataDir: fresh })).toBe(key)
  expect((await stat(join(fresh, 'secret.key'))).mode & 0o777).toBe(0o600)
  expect(await readdir(fresh)).toEqual(['secret.key'])
})

test('concurrent processes agree on one key', async () => {
  const program = `
    import { loadSecretKey } from ${JSON.stringify(new URL('./secret-key.ts', import.meta.url).href)}
    const keys = await Promise.all(Array.from({ length: 20 }, () =>
      loadSecretKey({ secretKey: undefined, dataDir: ${JSON.stringify(dataDir)} })))
    console.log(keys.join('\\n'))`
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  const outputs = await Promise.all([run(), run(), run(), run()])
  const keys = outputs.flatMap(({ stdout }) => stdout.trim().split('\n'))
  expect(keys).toHaveLength(80)
  expect(new Set(keys)).toEqual(new Set([(await readFile(join(dataDir, 'secret.key'), 'utf8')).trim()]))
  expect(await readdir(dataDir)).toEqual(['secret.key'])
})

test('removes files of killed processes, but not those that another one may be writing', async () => {
  const [left, fresh] = ['secret.key.0000000000000000.tmp', 'secret.key.0000000000000001.tmp']
  for (const name of [left, fresh]) await writeFile(join(dataDir, name), 'half')
  await utimes(join(dataDir, left), new Date(0), new Date(0))
  await loadSecretKey({ secretKey: undefined, dataDir })
  expect((await readdir(dataDir)).sort()).toEqual(['secret.key', fresh])
})

test('a damaged key file prevents the start instead of being replaced', async () => {
  await writeFile(join(dataDir, 'secret.key'), 'short\n')
  await expect(loadSecretKey({ secretKey: undefined, dataDir })).rejects.toThrow('does not contain a secret key')
  expect(await readFile(join(dataDir, 'secret.key'), 'utf8')).toBe('short\n')
})

test('a missing key that was used is requested, and not created', async () => {
  const unset = { secretKey: undefined, dataDir }
  await expect(requireSecretKey(unset)).rejects.toThrow('secret.key is missing')
  expect(await readdir(dataDir)).toEqual([])
  await requireSecretKey({ secretKey: 'k'.repeat(32), dataDir })
  await loadSecretKey(unset)
  await requireSecretKey(unset)
})
