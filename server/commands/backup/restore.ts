import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Config, loadConfig } from '../../config.ts'
import { countStoredAllOrgs } from '../../organizations/queries.ts'
import type { Run } from '../call.ts'
import { printJson } from '../columns.ts'
import { openAndMigrate } from '../open.ts'
import { copyFile, readSummary, readSums } from './contents.ts'
import { markRestored } from './restored.ts'

const isEmpty = async (folder: string): Promise<boolean> =>
  (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith('.')).length === 0

/** Where each part of a backup goes, in this order: with the database there, all else is too. */
const placesOf = ({ dataDir, storage }: Config) => [
  { part: 'secret.key', place: join(dataDir, 'secret.key') },
  ...(storage.kind === 'file' ? [{ part: 'blobs', place: storage.folder ?? join(dataDir, 'blobs') }] : []),
  { part: 'postgres', place: join(dataDir, 'postgres') },
]

type Part = { backup: string; part: string; place: string; sums: Map<string, string> }

/** Copies a part under another name, and gives it its own when all of it fits what the backup says. */
const restorePart = async ({ backup, part, place, sums }: Part, isBesideBucket: boolean): Promise<void> => {
  const partial = `${place}.partial-${process.pid}-00000000`
  const paths = [...sums.keys()].filter((path) => path === part || path.startsWith(`${part}/`))
  if (paths.length === 0) return
  try {
    for (const path of paths) {
      const { sha256 } = await copyFile(join(backup, path), join(partial, path.slice(part.length)))
      if (sha256 !== sums.get(path)) throw new Error(`${join(backup, path)} is damaged: nothing was restored.`)
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

/** PostgreSQL asks for folders that hold nothing; sums name files alone. */
const copyEmptyFolders = async (from: string, to: string): Promise<void> => {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(from.length + 1)
    if (entry.isDirectory()) await mkdir(join(to, path), { recursive: true, mode: 0o700 })
  }
  await chmod(to, 0o700)
}

export const run: Run = async ({ args, flag }) => {
  const config = loadConfig()
  if (config.databaseUrl) throw new Error('A backup is restored into an embedded database. Unset DATABASE_URL.')
  // One is asked for.
  const backup = resolve(args[0] as string)
  const summary = await readSummary(backup)
  if (!summary) throw new Error(`${backup} is no backup: it has no backup.json.`)
  const sums = await readSums(backup)
  if (!sums.has('secret.key') && !config.secretKey) {
    throw new Error('The backup is of a service whose key was in EARSHOT_SECRET_KEY. Set it to the same.')
  }
  for (const folder of [config.dataDir, ...placesOf(config).map(({ place }) => place)]) {
    if (!(await isEmpty(folder))) throw new Error(`${folder} is not empty. Set EARSHOT_DATA_DIR to a folder that is.`)
  }
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 })
  const places = placesOf(config)
  try {
    const isBesideBucket = config.storage.kind === 's3' || summary.storage !== 'file'
    for (const { part, place } of places) await restorePart({ backup, part, place, sums }, isBesideBucket)
  } catch (error) {
    for (const { place } of places) await rm(place, { recursive: true, force: true })
    throw error
  }
  // Recovers, and brings the database to the schema of this version.
  const { deps, close } = await openAndMigrate({ command: 'restore', exclusive: 'required' })
  const stored = await countStoredAllOrgs(deps.db).finally(close)
  if (flag('json')) printJson({ dataDir: config.dataDir, madeAt: summary.madeAt, ...stored })
  else {
    const { organizations, conversations } = stored
    process.stdout.write(
      `${config.dataDir} is as it was at ${summary.madeAt}: ${organizations} organizations, ${conversations} conversations.\n`,
    )
  }
  return 0
}
