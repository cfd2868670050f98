import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ask, makeDataDir, provision, runEarshot, startEarshot } from '../../test/earshot.ts'

/**
 * Tests that Earshot refuses to start with a different secret key or storage than before until the operator accepts the
 * change.
 */

const restart = async ({ child, ended }: Awaited<ReturnType<typeof startEarshot>>) => {
  child.kill('SIGTERM')
  await ended
}

it('refuses to serve with a different secret key than the first, except with --new-secret-key', async () => {
  const dataDir = await makeDataDir()
  const first = { EARSHOT_DATA_DIR: dataDir, EARSHOT_SECRET_KEY: 'a'.repeat(40) }
  await restart(await startEarshot(first))
  const other = { ...first, EARSHOT_SECRET_KEY: 'b'.repeat(40) }
  for (const command of [['serve'], ['doctor'], ['keys', 'service']]) {
    const { code, stdout, stderr } = await runEarshot(command, other)
    expect([code, stdout + stderr]).toEqual([
      1,
      expect.stringContaining('differs from the one used with this database'),
    ])
  }
  await restart(await startEarshot(first))
  await restart(await startEarshot(other, { args: ['serve', '--new-secret-key'] }))
  await restart(await startEarshot(other))
  const { code, stderr } = await runEarshot(['serve'], first)
  expect([code, stderr]).toEqual([1, expect.stringContaining('differs from the one used with this database')])
})

it('is not ready if its files are missing before or after the start, except with --new-storage', async () => {
  const dataDir = await makeDataDir()
  const switches = { EARSHOT_DATA_DIR: dataDir }
  const status = async (origin: string) => (await fetch(`${origin}/readyz`)).status
  const served = await startEarshot(switches)
  const { key } = await provision(served.origin)
  const blobs = join(dataDir, 'blobs')
  // The worker claims the storage right after its start.
  await expect
    .poll(() => readdir(join(blobs, '00000000-0000-0000-0000-000000000000/owner')).catch(() => []))
    .toHaveLength(1)
  await expect.poll(() => status(served.origin)).toBe(200)
  await rename(blobs, join(dataDir, 'elsewhere'))
  await expect.poll(() => status(served.origin)).toBe(503)
  expect((await ask(served.origin, 'GET', '/v1/conversations', key)).status).toBe(200)
  await rename(join(dataDir, 'elsewhere'), blobs)
  await expect.poll(() => status(served.origin)).toBe(200)
  await rename(blobs, join(dataDir, 'elsewhere'))
  await restart(served)

  const without = await startEarshot(switches)
  expect(await status(without.origin)).toBe(503)
  await restart(without)
  const doctor = await runEarshot(['doctor'], switches)
  expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(/FAIL {2}storage.*--new-storage/)])
  const accepted = await startEarshot(switches, { args: ['serve', '--new-storage'] })
  await expect.poll(() => status(accepted.origin)).toBe(200)
  await restart(accepted)
  const later = await startEarshot(switches)
  await expect.poll(() => status(later.origin)).toBe(200)
})
