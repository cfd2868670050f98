import { appendFile, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { ask, makeDataDir, provision, runEarshot, runInOne, startEarshot } from '../../../test/earshot.ts'
import { startS3Server } from '../../../test/s3-server.ts'
import { openEmbedded } from '../../platform/db/embedded.ts'
import { openLog } from '../../platform/log.ts'

const send = (origin: string, key: string, externalId: string) =>
  ask(origin, 'POST', '/v1/conversations', key, {
    externalId,
    agent: { externalId: 'a', name: 'A', channel: 'voice' },
    channel: 'call',
    startedAt: '2026-11-20T10:00:00Z',
    transcript: `Agent: Hello ${externalId}`,
  })

const upload = async (origin: string, key: string, id: string, sound: Buffer<ArrayBuffer>) => {
  const answer = await fetch(`${origin}/v1/conversations/${id}/recording`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'audio/wav' },
    body: sound,
  })
  expect(answer.status, await answer.text()).toBeLessThan(300)
}

const sound = Buffer.concat([
  Buffer.from('524946462400000057415645666d7420100000000100010040' + '1f0000803e0000020010006461746100000000', 'hex'),
])

/** Returns every row of every table as text, except rows that a running service writes on its own. */
const rowsOf = async (dataDir: string): Promise<Map<string, string>> => {
  const embedded = await openEmbedded({ dataDir, log: openLog({ write: () => {} }), applicationName: 'test' })
  const client = new pg.Client(embedded.connection)
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
    )
    const found = new Map<string, string>()
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(
        `SELECT ${name === 'instance' ? 'id' : 't'}::text AS text FROM "${name}" t ORDER BY 1`,
      )
      found.set(name, rows.map(({ text }) => text).join('\n'))
    }
    return found
  } finally {
    await client.end()
    await embedded.close()
  }
}

/** Starts a service that is backed up while it runs, and again after it is killed. */
const makeServed = async () => {
  const switches = { EARSHOT_DATA_DIR: await makeDataDir() }
  const { origin, child, ended } = await startEarshot(switches)
  const { key } = await provision(origin)
  const first = await send(origin, key, 'before')
  await upload(origin, key, first.body.id, sound)
  const secret = { provider: 'retell', name: 'Retell', secret: 'sealed-with-the-key' }
  expect((await ask(origin, 'POST', '/v1/integrations', key, secret)).status).toBe(201)

  let stopped = false
  const acknowledged: string[] = []
  const writers = Array.from({ length: 2 }, async (_, writer) => {
    for (let number = 0; !stopped; number++) {
      const externalId = `${writer}-${number}`
      expect((await send(origin, key, externalId)).status).toBe(201)
      acknowledged.push(externalId)
    }
  })
  const folder = await makeDataDir()
  const nightly = join(folder, 'nightly')
  let before: string[]
  try {
    await vi.waitUntil(() => acknowledged.length > 50, { timeout: 10_000 })
    before = [...acknowledged]
    expect(await runEarshot(['backup', nightly, '--with-secret-key'], switches)).toMatchObject({ code: 0, stderr: '' })
    expect(acknowledged.length).toBeGreaterThan(before.length)
  } finally {
    stopped = true
    await Promise.all(writers)
  }

  child.kill('SIGKILL')
  await ended
  const rested = join(folder, 'rested')
  const besideKey = ['backup', rested, '--with-secret-key', '--json']
  expect(await runInOne(besideKey, switches)).toMatchObject({ code: 0, stderr: '' })
  return { switches, folder, key, first, before, nightly, rested, count: acknowledged.length + 1 }
}

describe('a backup', async () => {
  const { switches, folder, key, first, before, nightly, rested, count } = await makeServed()

  it('of a running service contains everything acknowledged before it, and is complete', async () => {
    const elsewhere = { EARSHOT_DATA_DIR: join(await makeDataDir(), 'data') }
    const restored = await runEarshot(['restore', nightly], elsewhere)
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(restored.stdout).toMatch(/: 2 organizations, \d+ conversations\.\n$/)
    const there = await startEarshot(elsewhere)
    for (const externalId of before) {
      const { body } = await ask(there.origin, 'GET', `/v1/conversations?externalId=${externalId}`, key)
      expect(body.data, externalId).toHaveLength(1)
    }
    const { body } = await ask(there.origin, 'GET', `/v1/conversations/${first.body.id}/transcript`, key)
    const recording = await fetch(new URL(new URL(body.recordingUrl).pathname, there.origin))
    expect(Buffer.from(await recording.arrayBuffer()).equals(sound)).toBe(true)
    const doctor = await runInOne(['doctor'], elsewhere)
    expect(doctor.stdout).not.toContain('FAIL')
  })

  it('of a stopped service has the same rows, even after it was killed', async () => {
    const elsewhere = { EARSHOT_DATA_DIR: join(folder, 'restored') }
    const restored = await runInOne(['restore', rested, '--json'], elsewhere)
    expect(JSON.parse(restored.stdout)).toMatchObject({ organizations: 2, conversations: count })
    const rows = await rowsOf(switches.EARSHOT_DATA_DIR)
    expect(rows.get('conversations')?.split('\n')).toHaveLength(count)
    expect(await rowsOf(elsewhere.EARSHOT_DATA_DIR)).toEqual(rows)

    // If the key is missing, the restore fails and creates no other key.
    const key = join(elsewhere.EARSHOT_DATA_DIR, 'secret.key')
    await rename(key, join(folder, 'secret.key'))
    for (const command of ['migrate', 'doctor', 'serve']) {
      const { code, stdout, stderr } = await runEarshot([command], elsewhere)
      expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(`${key} is missing`)])
    }
    await expect(readFile(key)).rejects.toThrow('ENOENT')
  })

  it.each(['cannot reach', 'is not told of'])(
    'with files on S3 becomes another database that does not touch the bucket, even if its restore %s the bucket',
    async (how) => {
      const s3 = await startS3Server()
      try {
        const restored = { EARSHOT_DATA_DIR: join(await makeDataDir(), 'data') }
        const bucket = { EARSHOT_STORAGE: `s3://${s3.bucket}`, EARSHOT_S3_ENDPOINT: s3.endpoint, ...s3.environment }
        if (how === 'cannot reach') {
          s3.state.fault = () => 'AccessDenied'
          const refused = await runInOne(['restore', rested], { ...restored, ...bucket })
          expect(refused).toMatchObject({
            code: 1,
            stderr: expect.stringContaining('its bucket still belongs to the original'),
          })
          await expect(startEarshot({ ...restored, ...bucket })).rejects.toThrow(
            'its bucket still belongs to the original',
          )
          s3.state.fault = () => undefined
        } else {
          const backup = await makeDataDir()
          await cp(rested, backup, { recursive: true })
          const summary = JSON.parse(await readFile(join(backup, 'backup.json'), 'utf8'))
          await writeFile(join(backup, 'backup.json'), JSON.stringify({ ...summary, storage: bucket.EARSHOT_STORAGE }))
          expect(await runInOne(['restore', backup], restored)).toMatchObject({ code: 0, stderr: '' })
        }
        const { child, ended } = await startEarshot({ ...restored, ...bucket })
        child.kill('SIGTERM')
        await ended
        const [original, copy] = [await rowsOf(switches.EARSHOT_DATA_DIR), await rowsOf(restored.EARSHOT_DATA_DIR)]
        expect(copy.get('instance')).toMatch(/^.{36}$/)
        expect(copy.get('instance')).not.toBe(original.get('instance'))
        expect(copy.get('conversations')).toBe(original.get('conversations'))
        const claimant = original.get('instance')
        expect([...s3.objects.keys()]).toEqual([`00000000-0000-0000-0000-000000000000/owner/${claimant}`])
      } finally {
        await s3.close()
      }
    },
  )

  it('is created in a new folder and restored to an empty one, or nothing happens', async () => {
    const empty = await makeDataDir()
    const nothing = await runInOne(['backup', join(empty, 'backup')], { EARSHOT_DATA_DIR: empty })
    expect(nothing).toMatchObject({ code: 1, stderr: `earshot: There is no database in ${empty}.\n` })
    expect(await runInOne(['backup', empty], switches)).toMatchObject({ code: 1 })
    expect(await readdir(empty)).toEqual([])

    const full = await runInOne(['restore', rested], switches)
    expect(full).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') })
    const none = await runInOne(['restore', empty], { EARSHOT_DATA_DIR: join(empty, 'new') })
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a backup') })

    const keyless = join(folder, 'keyless')
    await runInOne(['backup', keyless], { ...switches, EARSHOT_SECRET_KEY: 'k'.repeat(32) })
    expect(await readdir(keyless)).not.toContain('secret.key')
    const unread = join(folder, 'unread')
    const refused = await runInOne(['restore', keyless], { EARSHOT_DATA_DIR: unread })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('EARSHOT_SECRET_KEY') })
    await expect(readdir(unread)).rejects.toThrow('ENOENT')

    const other = join(folder, 'other')
    await cp(rested, other, { recursive: true })
    await appendFile(join(other, 'postgres/PG_VERSION'), 'x')
    const target = join(folder, 'new')
    const damaged = await runInOne(['restore', other], { EARSHOT_DATA_DIR: target })
    expect(damaged).toMatchObject({ code: 1, stderr: expect.stringContaining('PG_VERSION is damaged') })
    expect(await readdir(target)).toEqual([])
    await rm(join(other, 'postgres/PG_VERSION'))
    expect(await runInOne(['restore', other], { EARSHOT_DATA_DIR: target })).toMatchObject({ code: 1 })
    expect(await readdir(target)).toEqual([])
    expect(await readFile(join(other, 'SHA256SUMS'), 'utf8')).toMatch(
      /^(?:[0-9a-f]{64} {2}\S+\n)*[0-9a-f]{64} {2}postgres\//,
    )
  })

  it('leaves a partial copy if it is killed, until the next backup', async () => {
    const place = await makeDataDir()
    const killing = runEarshot(['backup', join(place, 'monday')], switches)
    const isBegun = async () => (await readdir(place)).find((name) => name.startsWith('.monday.partial-'))
    const half = await vi.waitUntil(isBegun, { timeout: 20_000, interval: 5 })
    const pid = Number(/partial-(\d+)/.exec(half)?.[1])
    process.kill(pid, 'SIGKILL')
    expect((await killing).code).toBe(null)
    expect(await readdir(place)).toEqual([half])
    // The first backup is in progress. The second one was made on another machine, so its state is unknown here.
    const others = [`.sunday.partial-${process.pid}-${hostname()}`, `.sunday.partial-${pid}-elsewhere`]
    for (const other of others) await mkdir(join(place, other))
    expect(await runInOne(['backup', join(place, 'tuesday')], switches)).toMatchObject({ code: 0, stderr: '' })
    expect((await readdir(place)).sort()).toEqual([...others, 'tuesday'].sort())
  })

  it('omits the secret key, which a restore then requires and compares', async () => {
    const keyless = join(folder, 'without-key')
    const made = await runInOne(['backup', keyless], switches)
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('secret.key is not part of the backup') })
    expect(await readdir(keyless)).not.toContain('secret.key')
    const target = await makeDataDir()
    const refused = await runInOne(['restore', keyless], { EARSHOT_DATA_DIR: target })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`Copy secret.key to ${target}`) })
    expect(await readdir(target)).toEqual([])

    const wrong = { EARSHOT_DATA_DIR: target, EARSHOT_SECRET_KEY: 'k'.repeat(32) }
    const mistaken = await runInOne(['restore', keyless], wrong)
    expect(mistaken).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('differs from the one used with this database'),
    })

    const other = await makeDataDir()
    await cp(join(switches.EARSHOT_DATA_DIR, 'secret.key'), join(other, 'secret.key'))
    expect(await runInOne(['restore', keyless], { EARSHOT_DATA_DIR: other })).toMatchObject({ code: 0, stderr: '' })
    expect((await runInOne(['doctor'], { EARSHOT_DATA_DIR: other })).stdout).not.toContain('FAIL')
  })

  it('is encrypted with a passphrase or for a recipient, and is only decrypted with the key', async () => {
    const secrets = await makeDataDir()
    const identity = await generateX25519Identity()
    const files = { passphrase: 'correct horse battery staple\n', wrong: 'another', identity: `# mine\n${identity}\n` }
    for (const [name, text] of Object.entries(files)) await writeFile(join(secrets, name), text)
    const encrypted = join(folder, 'encrypted')
    const recipients = [
      '--encrypt-to',
      await identityToRecipient(identity),
      '--passphrase-file',
      join(secrets, 'passphrase'),
    ]
    const making = ['backup', encrypted, '--with-secret-key', ...recipients]
    expect(await runInOne(making, switches)).toMatchObject({ code: 0, stderr: '' })
    const paths = (await readdir(encrypted, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
    const plain = paths.map(({ name }) => name).filter((name) => !name.endsWith('.age'))
    expect(plain.sort()).toEqual(['SHA256SUMS', 'backup.json'])

    const target = { EARSHOT_DATA_DIR: join(folder, 'decrypted') }
    const refusals = [
      [[], 'The backup is encrypted'],
      [['--passphrase-file', join(secrets, 'wrong')], 'does not decrypt this backup'],
      [['--identity-file', join(secrets, 'wrong')], 'contains no age identities'],
    ] as const
    for (const [options, reason] of refusals) {
      const refused = await runInOne(['restore', encrypted, ...options], target)
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(reason) })
      await expect(readdir(target.EARSHOT_DATA_DIR)).rejects.toThrow('ENOENT')
    }
    const rows = await rowsOf(switches.EARSHOT_DATA_DIR)
    for (const options of [
      ['--identity-file', join(secrets, 'identity')],
      ['--passphrase-file', join(secrets, 'passphrase')],
    ]) {
      await rm(target.EARSHOT_DATA_DIR, { recursive: true, force: true })
      expect(await runInOne(['restore', encrypted, ...options], target)).toMatchObject({ code: 0, stderr: '' })
      expect((await rowsOf(target.EARSHOT_DATA_DIR)).get('conversations')).toBe(rows.get('conversations'))
    }
  })

  it('cannot be opened after its restore was killed, until a second restore completes', async () => {
    const target = { EARSHOT_DATA_DIR: join(await makeDataDir(), 'data') }
    const killing = runEarshot(['restore', rested], target)
    const isBegun = async () =>
      (await readdir(target.EARSHOT_DATA_DIR).catch(() => [])).find((name) => name.startsWith('postgres.partial-'))
    const half = await vi.waitUntil(isBegun, { timeout: 20_000, interval: 2 })
    process.kill(Number(/partial-(\d+)/.exec(half)?.[1]), 'SIGKILL')
    expect((await killing).code).toBe(null)
    for (const command of [
      ['serve'],
      ['doctor'],
      ['migrate'],
      ['keys', 'service'],
      ['backup', join(folder, 'never')],
    ]) {
      const { code, stdout, stderr } = await runEarshot(command, target)
      expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('was interrupted, so it is incomplete')])
    }
    expect(await readdir(target.EARSHOT_DATA_DIR)).not.toContain('postgres')
    expect(await runInOne(['restore', rested], target)).toMatchObject({ code: 0, stderr: '' })
    expect((await rowsOf(target.EARSHOT_DATA_DIR)).get('conversations')?.split('\n')).toHaveLength(count)
    expect((await runInOne(['doctor'], target)).stdout).not.toContain('FAIL')
  })
})
