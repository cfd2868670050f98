import { access, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ask, makeDataDir, openQueue, provision, runEarshot, runInOne, startEarshot } from '../../test/earshot.ts'
import { serviceKey } from '../../test/server.ts'
import { deleteLogo } from '../companies/jobs.ts'

/** Runs the commands as a user would, with and without a running service. */

const statusOf = async (origin: string, path: string, key: string) => (await ask(origin, 'GET', path, key)).status

describe('with a running service', async () => {
  const switches = { EARSHOT_DATA_DIR: await makeDataDir() }
  const { origin, child } = await startEarshot(switches)

  it('a second start names the process that uses the data directory and does not touch it', async () => {
    const second = await runEarshot(['serve'], switches)
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toContain(switches.EARSHOT_DATA_DIR)
    expect(second.stderr).toContain(`(pid ${child.pid})`)
    expect(await statusOf(origin, '/v1/organizations', serviceKey)).toBe(200)
  })

  it('keys are created, work immediately, and are revoked within a second', async () => {
    const made = await runEarshot(['keys', 'service', '--name', 'Provisioning'], switches)
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const [, key = '', id = ''] = /^(ear_\w{38})\n.* ID: ([0-9a-f-]{36})\n$/.exec(made.stdout) ?? []
    expect(await statusOf(origin, '/v1/organizations', key)).toBe(200)
    expect(await statusOf(origin, '/v1/me', key)).toBe(403)

    const revoked = runInOne(['keys', 'revoke', id], switches)
    await expect(revoked).resolves.toMatchObject({ code: 0, stdout: 'Revoked.\n' })
    await expect.poll(() => statusOf(origin, '/v1/organizations', key), { timeout: 4_000 }).toBe(401)
    for (const unknown of [crypto.randomUUID(), 'not-an-id']) {
      const answer = await runInOne(['keys', 'revoke', unknown], switches)
      expect(answer).toEqual({ code: 1, stdout: '', stderr: `earshot: No service key has the ID ${unknown}.\n` })
    }

    const told = await runInOne(['keys', 'service', '--json'], switches)
    const another = JSON.parse(told.stdout)
    expect(await statusOf(origin, '/v1/organizations', another.key)).toBe(200)
    const ended = await runInOne(['keys', 'revoke', another.id, '--json'], switches)
    expect(JSON.parse(ended.stdout)).toEqual({ id: another.id, revoked: true })

    const { slug, id: org } = await provision(origin)
    const owner = await runInOne(['keys', 'owner', slug], switches)
    const me = await ask(origin, 'GET', '/v1/me', owner.stdout.trim())
    expect(me.body).toMatchObject({ role: 'owner', organization: { id: org, slug } })
    const again = await runInOne(['keys', 'owner', slug, '--json'], switches)
    expect(JSON.parse(again.stdout)).toMatchObject({ role: 'owner', key: expect.stringMatching(/^ear_/) })
    expect(await runInOne(['keys', 'owner', 'nobody'], switches)).toMatchObject({ code: 1, stdout: '' })
  })

  it('dead jobs are listed and retried', async () => {
    const list = async () => (await runInOne(['jobs', 'list'], switches)).stdout
    expect(await list()).toBe('No dead jobs.\n')

    // No code of this version writes such a payload, so the job can never run.
    const { jobs, db } = await openQueue(switches.EARSHOT_DATA_DIR)
    const payload = { nothing: true } as unknown as { key: string }
    const id = await jobs.enqueue(db, deleteLogo, payload)
    const isDead = async () => (await jobs.listDead({ limit: 10 })).some((job) => job.id === id)
    await expect.poll(isDead).toBe(true)
    expect(await list()).toMatch(new RegExp(`^${id}  \\S+Z  company\\.delete-logo\\n    .+\\n$`))
    const [told] = JSON.parse((await runInOne(['jobs', 'list', '--json'], switches)).stdout)
    expect(told).toMatchObject({ id, name: 'company.delete-logo', error: expect.any(String) })

    expect(await runEarshot(['jobs', 'retry', id.toUpperCase()], switches)).toMatchObject({
      code: 0,
      stdout: 'Retrying 1\n',
    })
    await expect.poll(isDead).toBe(true)
    const all = await runInOne(['jobs', 'retry', '--all', '--json'], switches)
    expect([all.code, JSON.parse(all.stdout)]).toEqual([0, { retried: [id], missing: [] }])
    for (const unknown of [crypto.randomUUID(), 'not-an-id']) {
      const answer = await runInOne(['jobs', 'retry', unknown], switches)
      expect(answer).toMatchObject({ code: 1, stdout: 'Retrying 0\n', stderr: expect.stringContaining(unknown) })
    }
  })

  it('a current schema stays unchanged', async () => {
    const migrated = await runEarshot(['migrate'], switches)
    expect(migrated).toEqual({ code: 0, stdout: 'The database schema is up to date.\n', stderr: '' })
  })

  it('the doctor reports a healthy service, even if EARSHOT_URL points elsewhere', async () => {
    const elsewhere = { EARSHOT_URL: 'http://127.0.0.1:1' }
    const { code, stdout, stderr } = await runInOne(['doctor'], { ...switches, ...elsewhere })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('embedded, in use')
    expect(stdout).toMatch(/^ok {4}mail +not configured: emails are stored/m)
    expect(stdout).not.toContain('FAIL')
  })

  it('the doctor detects a storage claimed by another database', async () => {
    const owners = join(switches.EARSHOT_DATA_DIR, 'blobs/00000000-0000-0000-0000-000000000000/owner')
    await mkdir(owners, { recursive: true })
    const other = crypto.randomUUID()
    await writeFile(join(owners, other), '')
    const { code, stdout } = await runInOne(['doctor'], switches)
    await rm(join(owners, other))
    expect([code, stdout]).toEqual([1, expect.stringMatching(`FAIL +storage .*another database .*owner/${other}`)])
  })
})

describe('the doctor', () => {
  it('reports an unreachable database and a configuration error', async () => {
    // Accepts connections but doesn't respond as PostgreSQL would.
    const stranger = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void stranger.close())
    const { port } = stranger.address() as { port: number }
    const away = await runInOne(['doctor'], {
      EARSHOT_DATA_DIR: await makeDataDir(),
      EARSHOT_SECRET_KEY: 'a-secret-key-for-this-test-0123456789',
      DATABASE_URL: `postgres://someone:hidden@127.0.0.1:${port}/earshot`,
    })
    expect(away.code).toBe(1)
    expect(away.stdout).toMatch(/^ok {4}configuration/m)
    expect(away.stdout).toMatch(/^FAIL {2}database +\S+/m)
    expect(`${away.stdout}${away.stderr}`).not.toContain('hidden')

    const wrong = await runInOne(['doctor'], { PORT: 'http' })
    expect(wrong).toMatchObject({ code: 1, stdout: expect.stringMatching(/^FAIL {2}configuration .*\n +PORT: /m) })
  })
})

describe('invalid usage', () => {
  it('all configuration errors are reported at once', async () => {
    const wrong = {
      PORT: '99999',
      EARSHOT_ROLES: 'chef',
      DATABASE_URL: 'mysql://root:hidden@localhost/x',
      EARSHOT_SERVICE_KEY: 'too-short',
      EARSHOT_LIMITS: 'bodyBytes=many',
      EARSHOT_NONSENSE: '1',
    }
    const answer = await runInOne(['serve'], wrong)
    expect(answer).toMatchObject({ code: 2, stdout: '' })
    for (const name of [...Object.keys(wrong), 'EARSHOT_SECRET_KEY']) expect(answer.stderr).toContain(`${name}: `)
    for (const secret of ['hidden', 'too-short']) expect(answer.stderr).not.toContain(secret)
  })

  it.each([
    [['nonsense'], 'Usage: earshot'],
    [['constructor'], 'Usage: earshot'],
    [['serve', '--nonsense'], 'earshot serve --help'],
    [['serve', 'now'], 'earshot serve --help'],
    [['migrate', '--force'], 'earshot migrate --help'],
    [['keys', 'owner', 'slug', '--role', 'viewer'], 'earshot keys --help'],
    [['keys'], 'Usage:'],
    [['keys', 'owner'], 'Usage:'],
    [['keys', 'service', 'extra'], 'Usage:'],
    [['keys', 'revoke', 'one', 'two'], 'Usage:'],
    [['jobs'], 'Usage:'],
    [['jobs', 'list', 'extra'], 'Usage:'],
    [['jobs', 'retry'], 'Usage:'],
    [['jobs', 'retry', '--all', 'one'], 'Usage:'],
    [['demo', '--calls', 'many'], '--calls NUMBER'],
  ])('%j exits with 2 and the usage, and changes nothing', async (args, usage) => {
    const nowhere = join(tmpdir(), `earshot-nowhere-${crypto.randomUUID()}`)
    const { code, stdout, stderr } = await runInOne(args, { EARSHOT_DATA_DIR: nowhere })
    expect(code).toBe(2)
    expect(stdout + stderr).toContain(usage)
    await expect(access(nowhere)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('without arguments, the commands are listed', async () => {
    expect(await runEarshot([], {})).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: earshot') })
  })

  it.each(['serve', 'migrate', 'keys', 'link', 'jobs', 'doctor'])('%s shows its usage', async (name) => {
    const answer = await runInOne([name, '--help'], {})
    expect(answer).toMatchObject({ code: 0, stdout: expect.stringContaining(`earshot ${name}`), stderr: '' })
  })
})
