import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { countStoredAllOrgs } from '../../organizations/queries.ts'
import { type Config, loadConfig } from '../../platform/config.ts'
import { statOrUndefined } from '../../platform/db/embedded-folders.ts'
import type { RunCommand } from '../call.ts'
import { printJson } from '../columns.ts'
import { openAndMigrate } from '../open.ts'
import { copyFile, readSummary, readSums } from './contents.ts'
import { type Cipher, encryptedEnding, openDecryption } from './encryption.ts'
import { markRestored } from './restored.ts'
import { markRestoring, readRestoring, startOver, unmarkRestoring } from './restoring.ts'

/** Returns whether a folder is empty except for the secret key, which operators copy into it first. */
const isEmpty = async (folder: string): Promise<boolean> =>
  (await readdir(folder).catch(() => [])).every((name) => name.startsWith('.') || name === 'secret.key')

/**
 * Lists the destination of each part of a backup. The database is last, so that everything else exists when it appears.
 */
const placesOf = ({ dataDir, storage }: Config) => [
  { part: 'secret.key', place: join(dataDir, 'secret.key') },
  ...(storage.kind === 'file' ? [{ part: 'blobs', place: storage.folder ?? join(dataDir, 'blobs') }] : []),
  { part: 'postgres', place: join(dataDir, 'postgres') },
]

type BackupPart = {
  backup: string
  part: string
  place: string
  sums: Map<string, string>
  decrypt: Cipher | undefined
}

/** Copies a part to a temporary name, and renames it after all its files match the backup's digests. */
const restorePart = async (
  { backup, part, place, sums, decrypt }: BackupPart,
  isBesideBucket: boolean,
): Promise<void> => {
  const partial = `${place}.partial-${process.pid}-00000000`
  const ending = decrypt ? encryptedEnding : ''
  const paths = [...sums.keys()].filter((path) => path === part + ending || path.startsWith(`${part}/`))
  if (paths.length === 0) return
  try {
    for (const path of paths) {
      const target = join(partial, path.slice(part.length, path.length - ending.length))
      const { sha256 } = await copyFile(join(backup, path), target, { decrypt })
      if (sha256 !== sums.get(path)) throw new Error(`${join(backup, path)} is damaged. Nothing was restored.`)
    }
    if (part === 'postgres') {
      await copyEmptyFolders(join(backup, part), partial)
      if (isBesideBucket) await markRestored(partial)
    }
    await rename(partial, place)
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

/** Copies empty folders. PostgreSQL requires some of them, but digests only list files. */
const copyEmptyFolders = async (from: string, to: string): Promise<void> => {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(from.length + 1)
    if (entry.isDirectory()) await mkdir(join(to, path), { recursive: true, mode: 0o700 })
  }
  await chmod(to, 0o700)
}

/** Makes sure that the key for sealed secrets is available from the backup, the variable, or the directory. */
const requireKey = async (config: Config, sums: Map<string, string>): Promise<void> => {
  if (config.secretKey || sums.has('secret.key') || sums.has(`secret.key${encryptedEnding}`)) return
  if (await statOrUndefined(join(config.dataDir, 'secret.key'))) return
  throw new Error(
    `The backup does not contain the secret key. Copy secret.key to ${config.dataDir}, or set EARSHOT_SECRET_KEY to its former value.`,
  )
}

export const run: RunCommand = async ({ args, flag, text }) => {
  const config = loadConfig()
  if (config.databaseUrl) throw new Error('A backup can only be restored to the embedded database. Unset DATABASE_URL.')
  // The command line requires the argument.
  const backup = resolve(args[0] as string)
  const summary = await readSummary(backup)
  if (!summary) throw new Error(`${backup} is not a backup: it has no backup.json.`)
  const sums = await readSums(backup)
  if (sums.size !== summary.files) throw new Error(`SHA256SUMS in ${backup} is incomplete. Nothing was restored.`)
  const keys = { identityFile: text('identity-file'), passphraseFile: text('passphrase-file') }
  const decrypt = summary.format === 2 ? await openDecryption(backup, keys) : undefined
  await requireKey(config, sums)
  await startOver(config.dataDir)
  // A key that already exists belongs to the operator, so it is kept if the restore fails.
  const hasKey = (await statOrUndefined(join(config.dataDir, 'secret.key'))) !== undefined
  const holdsKey = sums.has('secret.key') || sums.has(`secret.key${encryptedEnding}`)
  const places = placesOf(config).filter(({ part }) => part !== 'secret.key' || (holdsKey && !hasKey))
  const { dataDir } = config
  for (const folder of [dataDir, ...places.map(({ place }) => place)]) {
    const isMarked = folder === dataDir && (await readRestoring(dataDir)) !== undefined
    if (!isMarked && !(await isEmpty(folder))) {
      throw new Error(`${folder} is not empty. Set EARSHOT_DATA_DIR to an empty folder.`)
    }
  }
  await mkdir(dataDir, { recursive: true, mode: 0o711 })
  await markRestoring(dataDir, { backup, places: places.map(({ place }) => place) })
  try {
    const isBesideBucket = config.storage.kind === 's3' || summary.storage !== 'file'
    for (const { part, place } of places) await restorePart({ backup, part, place, sums, decrypt }, isBesideBucket)
  } catch (error) {
    await startOver(dataDir)
    await unmarkRestoring(dataDir)
    throw error
  }
  await unmarkRestoring(dataDir)
  // This recovers the database and migrates it to this version.
  const { deps, close } = await openAndMigrate({ command: 'restore', exclusive: 'required' })
  const stored = await countStoredAllOrgs(deps.db).finally(close)
  if (flag('json')) printJson({ dataDir, madeAt: summary.madeAt, ...stored })
  else {
    const { organizations, conversations } = stored
    process.stdout.write(
      `Restored ${dataDir} to ${summary.madeAt}: ${organizations} organizations, ${conversations} conversations.\n`,
    )
  }
  return 0
}
