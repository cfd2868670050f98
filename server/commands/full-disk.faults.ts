import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { ask, findPostmaster, makeDataDir, provision, startEarshot } from '../../test/earshot.ts'
import { openDisk } from '../../test/faults/disk.ts'

const childrenOf = async (parent: number): Promise<number[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(parent)])
  return stdout
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0)
}

const company = (name: string) => ({ name: name.padEnd(100, '.') })

it.runIf(process.getuid?.() === 0)(
  'responds with 503 while the disk of its database and its log is full, and continues once there is space',
  async () => {
    const parent = await makeDataDir()
    const dataDir = join(parent, 'disk')
    const disk = await openDisk(dataDir, 300)
    if (!disk) throw new Error('no disk could be mounted')
    const bin = join(import.meta.dirname, '../../bin/earshot')
    const served = await startEarshot(
      { EARSHOT_DATA_DIR: join(dataDir, 'data') },
      { file: '/bin/sh', args: ['-c', `exec "${bin}" serve 2>> "${dataDir}/earshot.log"`] },
    )
    const { key } = await provision(served.origin)
    const create = (name: string) => ask(served.origin, 'POST', '/v1/companies', key, company(name))
    const stored: string[] = [(await create('before')).body.id]

    await disk.fill()
    const full = async () => {
      const { status, body } = await create('full')
      if (status === 201) stored.push(body.id)
      return `${status} ${body.message ?? ''}`
    }
    await expect.poll(full, { timeout: 30_000, interval: 10 }).toMatch(/^503 /)
    // PostgreSQL crashes when the disk is full and can't restart until space is available.
    process.kill(await findPostmaster(join(dataDir, 'data')), 'SIGKILL')
    await expect.poll(full, { timeout: 30_000, interval: 100 }).toMatch(/^503 The disk of the database is full/)
    // The pause is longer than the timeout for a database that fails to start for other reasons.
    await pause(8_000)
    expect(await full()).toMatch(/^503 The disk of the database is full/)
    expect((await fetch(`${served.origin}/healthz`)).status).toBe(200)

    await disk.free()
    await expect.poll(async () => (await create('after')).status, { timeout: 30_000, interval: 100 }).toBe(201)
    for (const id of stored) {
      expect((await ask(served.origin, 'GET', `/v1/companies/${id}`, key)).status).toBe(200)
    }
  },
)

it('is not ready within ten seconds after its database froze, and ready again when it continues', async () => {
  const dataDir = await makeDataDir()
  const { origin } = await startEarshot({ EARSHOT_DATA_DIR: dataDir })
  const ready = async () => (await fetch(`${origin}/readyz`)).status
  await expect.poll(ready).toBe(200)
  const postmaster = await findPostmaster(dataDir)
  const frozen = [postmaster, ...(await childrenOf(postmaster))]
  try {
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    const beganAt = performance.now()
    await expect.poll(ready, { timeout: 10_000 }).toBe(503)
    expect(performance.now() - beganAt).toBeLessThan(10_000)
    // Requests to a frozen database must not use up its connections.
    for (let asked = 0; asked < 3; asked++) expect(await ready()).toBe(503)
  } finally {
    for (const pid of frozen) process.kill(pid, 'SIGCONT')
  }
  await expect.poll(ready, { timeout: 15_000 }).toBe(200)
})
