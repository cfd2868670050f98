import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Embedded, type EmbeddedOptions, type EmbeddedState, openEmbedded } from './embedded.ts'
import { findBinaries } from './embedded-launcher.ts'
import { rotateLog } from './embedded-postmaster.ts'
import { isAlive, pause, signal, waitForEnd } from './process-control.ts'

const log = pino({ level: 'silent' })
const asRoot = process.getuid?.() === 0
const canUnshare = asRoot && spawnSync('unshare', ['--user', '--map-user=65534', 'true']).status === 0

let dataDir: string
let folders: string[]
let opened: Embedded[]
let children: ChildProcess[]

const temporaryFolder = async (mode = 0o711): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-embedded-'))
  folders.push(folder)
  await chmod(folder, mode)
  return folder
}

beforeEach(async () => {
  folders = []
  opened = []
  children = []
  dataDir = await temporaryFolder()
})

const postmasterPid = async (folder = dataDir): Promise<number> =>
  Number((await readFile(join(folder, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])

afterEach(async () => {
  for (const embedded of opened) await embedded.close()
  for (const child of children) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  // Killed processes can leave a running server behind.
  const left = await postmasterPid().catch(() => 0)
  if (left && (await isAlive(left))) {
    signal(left, 'SIGQUIT')
    await waitForEnd(left, 10_000)
  }
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

const open = async (options: Partial<EmbeddedOptions> = {}): Promise<Embedded> => {
  const embedded = await openEmbedded({ dataDir, log, applicationName: 'earshot test', ...options })
  opened.push(embedded)
  return embedded
}

let made: Promise<string> | undefined
afterAll(async () => {
  if (made) await rm(await made, { recursive: true, force: true })
})
const makeOnce = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-embedded-'))
  await chmod(folder, 0o711)
  await (await openEmbedded({ dataDir: folder, log, applicationName: 'earshot test' })).close()
  return folder
}

/** Copies a folder ten times faster than Node. */
const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', `${from}/.`, to])

/** Copies a database that was created once, for tests that don't test its creation. */
const prepare = async () => {
  made ??= makeOnce()
  await copy(await made, dataDir)
}

const query = async (embedded: Pick<Embedded, 'connection'>, text: string): Promise<unknown> => {
  const client = new pg.Client(embedded.connection)
  await client.connect()
  try {
    const { rows } = await client.query({ text, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

const eventually = async <T>(attempt: () => Promise<T>, timeoutMs = 10_000): Promise<T> => {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await pause(20)
    }
  }
}

type Report = { exclusive: boolean; holder?: string; connection: pg.PoolConfig }

/**
 * Starts another process that opens the same data directory, reports the result, and closes when it receives a line.
 */
const openElsewhere = (): { child: ChildProcess; report: Promise<Report> } => {
  const script = `
    import { once } from 'node:events'
    import { pino } from 'pino'
    import { openEmbedded } from ${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))}
    const options = { dataDir: process.argv[1], log: pino({ level: 'silent' }), applicationName: 'earshot other' }
    const { exclusive, holder, connection, close } = await openEmbedded(options)
    console.log(JSON.stringify({ exclusive, holder, connection }))
    await once(process.stdin, 'data')
    await close()
    process.exit()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: import.meta.dirname,
  })
  children.push(child)
  const lines = createInterface({ input: child.stdout })
  const report = Promise.race([
    once(lines, 'line').then(([line]) => JSON.parse(line) as Report),
    once(child, 'exit').then(([code, by]) => Promise.reject(new Error(`ended by ${by ?? code}`))),
  ])
  return { child, report }
}

describe('start and stop', () => {
  test('the first start creates the database and sweeps; close stops everything; the second start finds the data', async () => {
    await mkdir(join(dataDir, 'postgres.partial-99999999-0123abcd'))
    await mkdir(join(dataDir, `postgres.partial-${process.ppid}-0123abcd`))
    const first = await open()
    expect(first.exclusive).toBe(true)
    expect(await query(first, 'SHOW server_version')).toMatch(/^18\./)
    expect(
      await query(
        first,
        'SELECT datlocprovider::text || datlocale FROM pg_database WHERE datname = current_database()',
      ),
    ).toBe('bC.UTF-8')
    expect(await query(first, 'SHOW listen_addresses')).toBe('')
    await query(first, 'CREATE TABLE kept AS SELECT 7 AS seven')
    const pid = await postmasterPid()
    await first.close()
    expect(await isAlive(pid)).toBe(false)
    // The partial folders of running processes stay.
    const access = (await stat(join(dataDir, 'postgres'))).uid === 61_042 ? ['postgres.hba', 'postgres.ident'] : []
    const left = ['postgres', ...access, 'postgres.log', `postgres.partial-${process.ppid}-0123abcd`]
    expect((await readdir(dataDir)).sort()).toEqual(left)

    const second = await open()
    expect(await query(second, 'SELECT seven FROM kept')).toBe(7)
  })

  test('a long path has its socket in a closed folder that is removed with the server', async () => {
    dataDir = join(dataDir, 'x'.repeat(100))
    await prepare()
    const embedded = await open()
    const socketFolder = String(embedded.connection.host)
    expect(socketFolder.startsWith(dataDir)).toBe(false)
    expect((await stat(socketFolder)).mode & 0o777).toBe(0o700)
    expect(await query(embedded, 'SELECT 1')).toBe(1)
    await embedded.close()
    await expect(stat(socketFolder)).rejects.toThrow('ENOENT')
  })

  test('a folder with other content is rejected and stays unchanged', async () => {
    await mkdir(join(dataDir, 'postgres'))
    await writeFile(join(dataDir, 'postgres/notes.txt'), 'mine')
    await expect(open()).rejects.toThrow('contains something other than a database')
    expect(await readFile(join(dataDir, 'postgres/notes.txt'), 'utf8')).toBe('mine')
  })

  test('a server that cannot start reports why immediately', async () => {
    await prepare()
    await expect(open({ settings: { shared_buffers: 'much' } })).rejects.toThrow(/did not start:[\s\S]*shared_buffers/)
  })
})

describe('one holder', () => {
  test('two concurrent first starts: one owns the directory, the other knows it, and its end changes nothing', async () => {
    const [one, other] = [openElsewhere(), openElsewhere()]
    const reports = await Promise.all([one.report, other.report])
    expect(reports.map(({ exclusive }) => exclusive).sort()).toEqual([false, true])
    const [winner, loser] = reports[0].exclusive ? [one, other] : [other, one]
    expect((await loser.report).holder).toBe(`earshot other (pid ${winner.child.pid})`)

    loser.child.stdin?.write('close\n')
    await once(loser.child, 'exit')
    expect(await query(await winner.report, 'SELECT 1')).toBe(1)

    const pid = await postmasterPid()
    winner.child.stdin?.write('close\n')
    await once(winner.child, 'exit')
    expect(await isAlive(pid)).toBe(false)
    expect((await readdir(dataDir)).filter((name) => name.includes('.partial-'))).toEqual([])
  })

  test('the database of a killed process is adopted, restarted when it dies, and stopped at the end', async () => {
    await prepare()
    const killed = openElsewhere()
    await query(await killed.report, 'CREATE TABLE kept AS SELECT 7 AS seven')
    const pid = await postmasterPid()
    killed.child.kill('SIGKILL')
    await once(killed.child, 'exit')

    const restored = Promise.withResolvers<void>()
    const embedded = await open({ onState: (state) => state === 'restored' && restored.resolve() })
    expect(embedded.exclusive).toBe(true)
    expect(await postmasterPid()).toBe(pid)
    expect(await query(embedded, 'SELECT seven FROM kept')).toBe(7)

    signal(pid, 'SIGKILL')
    await restored.promise
    expect(await query(embedded, 'SELECT seven FROM kept')).toBe(7)
    const next = await postmasterPid()
    await embedded.close()
    expect(await isAlive(next)).toBe(false)
  })
})

describe('recovery', () => {
  test('a killed server is restarted repeatedly, with a pool in use and everything committed', async () => {
    await prepare()
    const states: EmbeddedState[] = []
    const embedded = await open({ onState: (state) => states.push(state) })
    const pool = new pg.Pool(embedded.connection)
    pool.on('error', () => {})
    try {
      await pool.query('CREATE TABLE kept (round int)')
      for (const round of [1, 2, 3]) {
        await eventually(() => pool.query('INSERT INTO kept VALUES ($1)', [round]))
        const pid = await postmasterPid()
        signal(pid, 'SIGKILL')
        await eventually(async () => {
          expect(await postmasterPid()).not.toBe(pid)
          const { rows } = await pool.query('SELECT array_agg(round ORDER BY round) AS rounds FROM kept')
          expect(rows[0].rounds).toEqual([1, 2, 3].slice(0, round))
          expect(states).toEqual(Array.from({ length: round }, () => ['lost', 'restored']).flat())
        })
      }
    } finally {
      await pool.end()
    }
    // This process owns the data directory again.
    const other = openElsewhere()
    expect((await other.report).holder).toBe(`earshot test (pid ${process.pid})`)
  })

  test('a server that cannot be restarted is given up with the reason', async () => {
    await prepare()
    const failed = Promise.withResolvers<Error | undefined>()
    const embedded = await open({ onState: (state, error) => state === 'failed' && failed.resolve(error) })
    await rm(join(dataDir, 'postgres/global/pg_control'))
    signal(await postmasterPid(), 'SIGKILL')
    expect((await failed.promise)?.message).toMatch(/pg_control/)
    await embedded.close()
  }, 60_000)

  test.each([
    ['a dead process', async () => '99999998'],
    ['nobody, because it is empty', async () => undefined],
    [
      'a living process of the same user that is no database',
      async () => {
        const identity = asRoot ? { uid: 65_534, gid: 65_534 } : {}
        const child = spawn('/bin/sleep', ['60'], { ...identity, stdio: 'ignore', cwd: '/' })
        children.push(child)
        await once(child, 'spawn')
        return String(child.pid)
      },
    ],
  ])('pid files with %s do not prevent a start', async (_name, makePid) => {
    await prepare()
    const first = await open()
    const left = await Promise.all(
      ['postmaster.pid', '.s.PGSQL.5432.lock'].map(async (name) => {
        const path = join(dataDir, 'postgres', name)
        return { path, text: await readFile(path, 'utf8') }
      }),
    )
    await first.close()
    const pid = await makePid()
    const { uid, gid } = await stat(join(dataDir, 'postgres'))
    for (const { path, text } of left) {
      await writeFile(path, pid === undefined ? '' : text.replace(/^\d+/, pid))
      await chown(path, uid, gid)
    }
    const second = await open()
    expect(await query(second, 'SELECT 1')).toBe(1)
  })

  test('a copied data directory does not connect to the original database', async () => {
    await prepare()
    const original = await open()
    await query(original, 'CREATE TABLE origin AS SELECT 1')
    const other = await temporaryFolder()
    await promisify(execFile)('cp', ['-r', `${dataDir}/.`, other])
    for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) await rm(join(other, 'postgres', name))
    if (asRoot) await chown(join(other, 'postgres'), 0, 0)
    const second = await open({ dataDir: other })
    expect(second.exclusive).toBe(true)
    expect(second.connection.host).not.toBe(original.connection.host)
    expect(await postmasterPid(other)).not.toBe(await postmasterPid())
    await second.close()
    expect(await query(original, 'SELECT count(*)::int FROM origin')).toBe(1)
  })
})

test('the log of the server is truncated while it writes, and one former file stays', async () => {
  await prepare()
  const embedded = await open({ settings: { log_min_messages: 'notice' } })
  const path = join(dataDir, 'postgres.log')
  const say = (text: string) => query(embedded, `DO $$ BEGIN RAISE LOG '${text}'; END $$`)
  const logged = () => readFile(path, 'utf8')
  await say('first')
  expect(await logged()).toContain('first')
  await rotateLog(join(dataDir, 'postgres'), 1)
  expect(await logged()).toBe('')
  expect(await readFile(`${path}.1`, 'utf8')).toContain('first')
  await say('second')
  expect(await logged()).toMatch(/^[^\0]*second/)
})

describe.runIf(asRoot)('as root, under folders of mode 0700', () => {
  const copied: string[] = []

  afterEach(async () => {
    for (const folder of copied.splice(0)) {
      await rm(folder, { recursive: true, force: true })
      await rmdir(dirname(folder)).catch(() => {})
    }
  })

  /** The folder that contains the programs for all of these tests. */
  let parent: string
  let native: string
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'earshot-embedded-'))
    native = join(parent, 'node_modules/native')
    await mkdir(native, { recursive: true })
    await copy(findBinaries(), native)
    await writeFile(join(parent, 'node_modules/package.json'), JSON.stringify({ version: '0.0.0-test' }))
  })
  afterAll(() => rm(parent, { recursive: true, force: true }))

  test.runIf(canUnshare)('programs and data: a user namespace has access, and no mode is changed', async () => {
    const made = await open({ native, dataDir: join(parent, '.earshot') })
    expect((await stat(parent)).mode & 0o777).toBe(0o700)
    expect(await query(made, `SELECT (pg_stat_file('base')).isdir`)).toBe(true)
    expect((await stat(join(parent, '.earshot/postgres'))).uid).toBe(0)
    const pid = await postmasterPid(join(parent, '.earshot'))
    expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(/^CapEff:\t0+$/m)
  })

  test('without user namespaces, one capability and a copy of the programs work', async () => {
    copied.push('/var/lib/earshot/binaries-0.0.0-test')
    const made = await open({ native, dataDir: join(parent, '.earshot-copied'), way: 'capability, copied' })
    await query(made, 'CREATE TABLE kept AS SELECT 7 AS seven')
    expect((await stat(join(parent, '.earshot-copied/postgres'))).uid).toBe(61_042)
    const pid = await postmasterPid(join(parent, '.earshot-copied'))
    expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(/^CapEff:\t0{15}2$/m)
  })

  test('only programs: a copy next to the data runs, and is used again', async () => {
    const first = await open({ native, way: 'plain, copied' })
    await query(first, 'CREATE TABLE kept AS SELECT 7 AS seven')
    expect((await stat(join(dataDir, 'postgres'))).uid).toBe(61_042)
    await first.close()
    const made = (await stat(join(dataDir, 'binaries-0.0.0-test/native'))).ctimeMs
    const second = await open({ native, way: 'plain, copied' })
    expect(await query(second, 'SELECT seven FROM kept')).toBe(7)
    expect((await stat(join(dataDir, 'binaries-0.0.0-test/native'))).ctimeMs).toBe(made)
  })

  test('other programs of the same user, and of nobody, get no connection', async () => {
    await prepare()
    const embedded = await open({ way: 'plain' })
    for (const [uid, refusal] of [
      [61_042, /Peer authentication failed/],
      [65_534, /EACCES/],
    ] as const) {
      process.seteuid?.(uid)
      try {
        await expect(query(embedded, 'SELECT 1')).rejects.toThrow(refusal)
      } finally {
        process.seteuid?.(0)
      }
    }
    expect(await query(embedded, 'SELECT 1')).toBe(1)
  })

  test('data that an earlier version gave to nobody can be opened, and no longer belong to nobody', async () => {
    await prepare()
    const paths = await readdir(join(dataDir, 'postgres'), { recursive: true })
    for (const path of ['.', ...paths]) await chown(join(dataDir, 'postgres', path), 65_534, 65_534)
    const embedded = await open({ way: 'plain' })
    expect(await query(embedded, 'SELECT 1')).toBe(1)
    expect((await stat(join(dataDir, 'postgres/base'))).uid).toBe(61_042)
  })

  test('data that belong to root can be opened', async () => {
    await prepare()
    const first = await open({ way: 'plain' })
    await query(first, 'CREATE TABLE kept AS SELECT 7 AS seven')
    await first.close()
    const paths = await readdir(join(dataDir, 'postgres'), { recursive: true })
    for (const path of ['.', ...paths]) await chown(join(dataDir, 'postgres', path), 0, 0)
    const second = await open({ way: 'plain' })
    expect(await query(second, 'SELECT seven FROM kept')).toBe(7)
    expect((await stat(join(dataDir, 'postgres/base'))).uid).toBe(61_042)
  })

  test('a server that cannot run reports what was attempted', async () => {
    const missing = join(await temporaryFolder(0o700), 'native')
    await expect(open({ native: missing, way: 'plain' })).rejects.toThrow(
      /cannot run here[\s\S]*plain:[\s\S]*DATABASE_URL/,
    )
  })
})
