import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

const fileName = 'secret.key'
const unfinished = /^secret\.key\.[0-9a-f]{16}\.tmp$/
/** Creating a key takes far less time than this, so older files belong to a dead process. */
const unfinishedMaxAgeMs = 60_000

const readKey = async (path: string): Promise<string | undefined> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  const key = text?.trim()
  if (key !== undefined && !/^[\x21-\x7e]{32,200}$/.test(key)) {
    throw new Error(
      `${path} does not contain a secret key (32 to 200 visible characters). Restore it from a backup: stored secrets can only be decrypted with the original key.`,
    )
  }
  return key
}

const syncFolder = async (folder: string) => {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

const removeUnfinished = async (dataDir: string) => {
  for (const name of (await readdir(dataDir)).filter((entry) => unfinished.test(entry))) {
    const found = await stat(join(dataDir, name)).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > unfinishedMaxAgeMs) await rm(join(dataDir, name), { force: true })
  }
}

/**
 * Creates the key. The file appears with its full content at once. If several processes do this, one creates the key
 * and all of them read it.
 */
const makeKey = async (dataDir: string, path: string) => {
  const temporary = join(dataDir, `${fileName}.${randomBytes(8).toString('hex')}.tmp`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(`${randomBytes(32).toString('base64url')}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(temporary, { force: true })
  }
}

type Keeping = { secretKey: string | undefined; dataDir: string }

/**
 * Throws if there is no key. An existing database needs its existing key, because a new one could not decrypt its
 * secrets.
 */
export const requireSecretKey = async ({ secretKey, dataDir }: Keeping): Promise<void> => {
  const path = join(dataDir, fileName)
  if (secretKey || (await readKey(path)) !== undefined) return
  throw new Error(
    `${path} is missing. Restore it from a backup, or set EARSHOT_SECRET_KEY to the former key. If it is lost, set a new key, which cannot decrypt the stored secrets.`,
  )
}

/** Returns the configured key, or the one in the data directory, which is created on the first start. */
export const loadSecretKey = async (config: Keeping): Promise<string> => {
  if (config.secretKey) return config.secretKey
  await mkdir(config.dataDir, { recursive: true })
  const path = join(config.dataDir, fileName)
  if ((await readKey(path)) === undefined) await makeKey(config.dataDir, path)
  await removeUnfinished(config.dataDir)
  const key = await readKey(path)
  if (key === undefined) throw new Error(`${path} was removed while it was created.`)
  // This is necessary even if another process created the key, because a power failure could otherwise lose a key that
  // has already encrypted data.
  await syncFolder(config.dataDir)
  return key
}
