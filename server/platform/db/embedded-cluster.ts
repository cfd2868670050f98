// Manages the folders for PostgreSQL's data and its socket.

import { createHash, randomBytes } from 'node:crypto'
import {
  access,
  chmod,
  chown,
  constants,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Log } from '../log.ts'
import { giveTree, isRoot, makeFolder, statOrUndefined, sweepPartials } from './embedded-folders.ts'
import { type Launcher, nobody, run } from './embedded-launcher.ts'
import { errorCode } from './process-control.ts'

export const superuser = 'earshot'

const majorVersion = '18'
const initTimeoutMs = 120_000
/** The system's limit is 104 bytes on macOS and 108 on Linux, including the final NUL. */
const maxSocketPathBytes = 100

/** Creates the data directory, and returns its real path, so that it has only one name. */
export const prepareDataDir = async (dataDir: string): Promise<string> => {
  if (!(await statOrUndefined(dataDir))) {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    // PostgreSQL does not run as root, so another user must have access to the parent folders.
    if (isRoot()) await chmod(dataDir, 0o711)
  }
  await sweepPartials(dataDir)
  return realpath(dataDir)
}

const folderOf = (dataDir: string): string => join(dataDir, 'postgres')

/** Returns undefined if there is no cluster. */
const readVersion = async (folder: string): Promise<string | undefined> => {
  const text = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch((error) => {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  })
  return text?.trim()
}

export const hasCluster = async (dataDir: string): Promise<boolean> =>
  (await readVersion(folderOf(dataDir))) !== undefined

/** Throws if there is no cluster. Commands on an existing database must not create one. */
export const requireCluster = async (dataDir: string): Promise<void> => {
  if (!(await hasCluster(dataDir))) throw new Error(`There is no database in ${dataDir}.`)
}

/** Returns the folder of the cluster, and creates it if it is missing. */
export const prepareCluster = async (dataDir: string, launcher: Launcher, log: Log): Promise<string> => {
  const folder = folderOf(dataDir)
  const version = await readVersion(folder)
  if (version !== undefined) {
    if (version === majorVersion) return folder
    throw new Error(
      `${folder} was created by PostgreSQL ${version}, but this version includes PostgreSQL ${majorVersion}.`,
    )
  }
  if ((await statOrUndefined(folder)) && (await readdir(folder)).length > 0) {
    throw new Error(`${folder} contains something other than a database. Move it away, or set EARSHOT_DATA_DIR.`)
  }
  log.info({ dataDir }, 'creating the database')
  await makeFolder(folder, async (partial) => {
    await giveTree(partial, launcher.initializer)
    // The builtin locale sorts the same way on every system, and never changes with a C library.
    const settings = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8', '--auth=trust']
    const command = launcher.command('initdb', ['-D', partial, '-U', superuser, '--no-instructions', ...settings])
    const { ok, output } = await run(command, initTimeoutMs)
    if (!ok) throw new Error(`Creating the database in ${dataDir} failed:\n${output}`)
    await giveTree(partial, launcher.owner)
  })
  return folder
}

/**
 * Writes the two files that tell the server how to authenticate callers. They are next to the cluster, so that they
 * also protect older and restored clusters. If the server runs as the user who starts it, its socket folder already
 * protects it.
 */
export const writeAccessFiles = async (clusterFolder: string, launcher: Launcher): Promise<Record<string, string>> => {
  if (!launcher.asksWhoCalls) return {}
  const files = { hba_file: `${clusterFolder}.hba`, ident_file: `${clusterFolder}.ident` }
  await replaceFile(files.hba_file, 'local all all peer map=earshot\nlocal replication all peer map=earshot\n')
  await replaceFile(files.ident_file, `earshot "${userInfo().username}" ${superuser}\n`)
  return files
}

const replaceFile = async (path: string, text: string): Promise<void> => {
  const partial = `${path}.partial-${process.pid}-${randomBytes(4).toString('hex')}`
  await writeFile(partial, text, { mode: 0o644 })
  // mkdir and writeFile obey the umask, which may exclude the user that PostgreSQL runs as.
  await chmod(partial, 0o644)
  await rename(partial, path)
}

/**
 * Creates the folder for the socket, which only its owner can access. All processes of a data directory get the same
 * folder.
 */
export const prepareSocketFolder = async (clusterFolder: string, launcher: Launcher): Promise<string> => {
  if (Buffer.byteLength(join(clusterFolder, '.s.PGSQL.5432')) <= maxSocketPathBytes) return clusterFolder
  const shared = await access('/tmp', constants.W_OK).then(
    () => '/tmp',
    () => tmpdir(),
  )
  const folder = join(shared, `earshot-${createHash('sha256').update(clusterFolder).digest('hex').slice(0, 16)}`)
  const { uid, gid } = launcher.owner
  // The folder may come from an earlier version, and another program that runs as nobody may have written to it.
  const former = isRoot() && uid !== nobody.uid && (await lstat(folder).catch(() => undefined))
  if (former && former.uid === nobody.uid) await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { mode: 0o700 }).catch((error) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
  const found = await lstat(folder)
  const ours = found.isDirectory() && [uid, process.getuid?.()].includes(found.uid)
  if (!ours)
    throw new Error(
      `${folder} is not a folder of this user. Remove it, or set EARSHOT_DATA_DIR to a shorter path, which holds the socket itself.`,
    )
  if (isRoot()) await chown(folder, uid, gid)
  await chmod(folder, 0o700)
  return folder
}
