import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import packageFile from '../../../package.json' with { type: 'json' }
import { type Config, loadConfig } from '../../platform/config.ts'
import { copyCluster } from '../../platform/db/base-backup.ts'
import { connectDatabase } from '../../platform/db/connect.ts'
import { requireCluster } from '../../platform/db/embedded-cluster.ts'
import { errorCode, isAlive } from '../../platform/db/process-control.ts'
import { openLog } from '../../platform/log.ts'
import type { RunCommand } from '../call.ts'
import { printJson } from '../columns.ts'
import { openContents } from './contents.ts'
import { openEncryption } from './encryption.ts'
import { refuseRestoring } from './restoring.ts'

type Contents = ReturnType<typeof openContents>

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

/**
 * Copies the files after the database. In the opposite order, the backup would miss files that the database refers to.
 * A file that disappears in the meantime was erased.
 */
const copyFiles = async (folder: string, contents: Contents): Promise<void> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const from = join(entry.parentPath, entry.name)
    const path = from.slice(folder.length + 1)
    // Names with a leading dot are files that are still being written.
    if (!entry.isFile() || path.startsWith('.')) continue
    try {
      await contents.copy(from, `blobs/${path}`)
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error
    }
  }
}

const storageOf = ({ storage }: Config) =>
  storage.kind === 'file' ? 'file' : `s3://${storage.bucket}${storage.prefix === '' ? '' : `/${storage.prefix}`}`

type FillOptions = { withSecretKey: boolean; encryptTo: string[]; passphraseFile: string | undefined }

const fill = async (folder: string, config: Config, { withSecretKey, ...recipients }: FillOptions) => {
  const { dataDir, storage } = config
  const contents = openContents(folder, await openEncryption(folder, recipients))
  const database = await connectDatabase({
    databaseUrl: undefined,
    dataDir,
    applicationName: 'earshot backup',
    log: openLog(),
    exclusive: 'preferred',
  })
  try {
    const source = join(dataDir, 'postgres')
    const target = join(folder, 'postgres')
    const copy = (path: string) => contents.copy(join(source, path), `postgres/${path}`)
    await copyCluster(database.connection, { folder: source, target, copy })
    await contents.add('postgres/backup_label')
  } finally {
    await database.close()
  }
  // The backup contains everything stored before this time.
  const madeAt = new Date()
  if (storage.kind === 'file') await copyFiles(storage.folder ?? join(dataDir, 'blobs'), contents)
  const key = join(dataDir, 'secret.key')
  if (withSecretKey) await contents.copy(key, 'secret.key')
  return contents.seal({ version: packageFile.version, madeAt: madeAt.toISOString(), storage: storageOf(config) })
}

/**
 * Removes partial backups of processes that were killed, regardless of their names, because most backups are named
 * after their date. Keeps those of other machines and containers, because their processes are not visible from here.
 */
const sweepKilled = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const [, pid, host] = /^\..+\.partial-(\d+)-(.+)$/.exec(name) ?? []
    if (!pid || host !== hostname() || (Number(pid) !== process.pid && (await isAlive(Number(pid))))) continue
    // Another user's partial backup must not prevent a new backup.
    await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined)
  }
}

export const run: RunCommand = async ({ args, flag, text, list }) => {
  const config = loadConfig()
  if (config.databaseUrl) {
    throw new Error('earshot backup only copies the embedded database. Use pg_dump for the database in DATABASE_URL.')
  }
  // The command line requires the argument.
  const target = resolve(args[0] as string)
  if (await exists(target)) throw new Error(`${target} already exists. Choose a new folder.`)
  await refuseRestoring(config.dataDir)
  await requireCluster(config.dataDir)
  await mkdir(dirname(target), { recursive: true })
  const withSecretKey = flag('with-secret-key')
  if (withSecretKey && config.secretKey) {
    throw new Error(
      'The secret key is in EARSHOT_SECRET_KEY, which a backup does not include. Remove --with-secret-key.',
    )
  }
  const options = { withSecretKey, encryptTo: list('encrypt-to'), passphraseFile: text('passphrase-file') }
  // The folder has a temporary name until the backup is complete, so every backup with a final name can be restored.
  const partial = join(dirname(target), `.${basename(target)}.partial-${process.pid}-${hostname()}`)
  await sweepKilled(dirname(target))
  await mkdir(partial, { mode: 0o700 })
  try {
    const summary = await fill(partial, config, options)
    await rename(partial, target)
    if (flag('json')) printJson({ folder: target, ...summary })
    else {
      process.stdout.write(`${target}: ${summary.files} files, ${(summary.bytes / 1024 / 1024).toFixed(1)} MiB.\n`)
      if (summary.storage !== 'file')
        process.stdout.write(`The stored files are in ${summary.storage} and not part of the backup.\n`)
      if (!withSecretKey) {
        const key = config.secretKey ? 'EARSHOT_SECRET_KEY' : join(config.dataDir, 'secret.key')
        process.stdout.write(`${key} is not part of the backup. Keep a copy of it elsewhere: a restore needs it.\n`)
      }
    }
    return 0
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}
