// Stores files in a folder. Each file ends with a fixed-length trailer that contains the content type. A single rename
// changes both, and a file without a trailer is incomplete.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, opendir, realpath, rename, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { ApiError } from '../errors.ts'
import type { Sweeps } from '../sweeps.ts'
import { measure } from './measure.ts'
import { type BlobStore, checkContentType, checkKey, checkPrefix, isKey, resolveRange } from './store.ts'

/**
 * Incomplete files are in the same file system as the others, so that they can be renamed. The name starts with a dot,
 * unlike any key.
 */
const incoming = '.incoming'
/** A write touches its file repeatedly. If a file has not been touched for this long, its process is dead. */
const abandonedAfterMs = 3_600_000

const trailerBytes = 128
const trailerMark = '\nearshot blob 1 '

const writeTrailer = (contentType: string) =>
  Buffer.from(`${`${trailerMark}${checkContentType(contentType)}`.padEnd(trailerBytes - 1)}\n`)

const readTrailer = async (file: FileHandle, size: number) => {
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(trailerBytes),
    0,
    trailerBytes,
    Math.max(0, size - trailerBytes),
  )
  const text = buffer.toString('latin1')
  if (bytesRead < trailerBytes || !text.startsWith(trailerMark)) throw new Error('A stored file is incomplete.')
  return text.slice(trailerMark.length).trim()
}

const hasCode = (error: unknown, ...codes: string[]) =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

/**
 * Returns whether the file does not exist. This includes parents that are not folders, and unexpected symbolic links.
 */
const isAbsence = (error: unknown) => hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')

const storageFailure = (error: unknown) =>
  hasCode(
    error,
    'ENOSPC',
    'EDQUOT',
    'EROFS',
    'EACCES',
    'EPERM',
    'EIO',
    'EMFILE',
    'ENFILE',
    'ESTALE',
    'ENOENT',
    'ENOTDIR',
  )
    ? Object.assign(new ApiError('unavailable', 'The file storage is unavailable. Try again later.'), {
        cause: error,
      })
    : error

const syncFolder = async (folder: string) => {
  const handle = await open(folder, constants.O_RDONLY)
  await handle.sync().finally(() => handle.close())
}

export const openLocalStore = async (folder: string, sweeps?: Sweeps): Promise<BlobStore> => {
  await mkdir(join(folder, incoming), { recursive: true })
  const root = await realpath(folder)

  /** Returns the folder of a key. Throws if a symbolic link leads elsewhere. */
  const folderOf = async (organization: string, kind: string) => {
    const path = join(root, organization, kind)
    if ((await realpath(path)) !== path) throw new Error('A folder of the file storage is a symbolic link.')
    return path
  }

  const openFile = async (key: string) => {
    const [organization, kind, name] = checkKey(key)
    let file: FileHandle | undefined
    try {
      file = await open(join(await folderOf(organization, kind), name), constants.O_RDONLY | constants.O_NOFOLLOW)
      const found = await file.stat()
      if (!found.isFile()) throw new Error('A stored file is not a regular file.')
      const contentType = await readTrailer(file, found.size)
      return { file, bytes: found.size - trailerBytes, contentType, modifiedAt: found.mtime }
    } catch (error) {
      await file?.close()
      if (isAbsence(error)) return undefined
      throw storageFailure(error)
    }
  }

  const write = async (file: FileHandle, chunks: AsyncIterable<Uint8Array>, contentType: string) => {
    try {
      await file.writeFile(chunks)
      await file.writeFile(writeTrailer(contentType))
      await file.sync()
    } finally {
      await file.close()
    }
  }

  const put: BlobStore['put'] = async (key, source, { contentType, maxBytes }) => {
    const [organization, kind, name] = checkKey(key)
    checkContentType(contentType)
    const measured = measure(source, maxBytes)
    const temporary = join(root, incoming, randomBytes(16).toString('hex'))
    try {
      const file = await open(temporary, 'wx', 0o600)
      await write(file, measured.chunks(), contentType)
      await mkdir(join(root, organization, kind), { recursive: true })
      const target = await folderOf(organization, kind)
      await rename(temporary, join(target, name))
      // The parent folders are also synced, because another put may have created them without syncing them yet.
      for (const path of [target, join(root, organization), root]) await syncFolder(path)
      return measured.result()
    } catch (error) {
      await rm(temporary, { force: true })
      throw measured.failure()?.error ?? storageFailure(error)
    }
  }

  const sweep = async () => {
    const now = await sweeps?.time()
    if (!now) return
    for await (const entry of await opendir(join(root, incoming))) {
      const path = join(root, incoming, entry.name)
      const found = await stat(path).catch(() => undefined)
      if (found && now.getTime() - found.mtimeMs > abandonedAfterMs) await rm(path, { force: true })
    }
  }
  await sweep()
  // This deletes files that were too recent at the start. If it fails, `check` fails too, because it uses the same
  // folder.
  const sweeping = setInterval(() => void sweep().catch(() => undefined), abandonedAfterMs).unref()

  const walk = async function* (path: string, prefix: string): AsyncGenerator<string> {
    const entries = await opendir(join(root, path)).catch((error) => {
      if (isAbsence(error)) return []
      throw error
    })
    for await (const entry of entries) {
      const key = path === '' ? entry.name : `${path}/${entry.name}`
      if (entry.isFile() && isKey(key) && key.startsWith(prefix)) yield key
      const below = `${key}/`
      if (entry.isDirectory() && key !== incoming && (below.startsWith(prefix) || prefix.startsWith(below))) {
        yield* walk(key, prefix)
      }
    }
  }

  return {
    put,
    get: async (key, range) => {
      const found = await openFile(key)
      if (!found) return undefined
      const { file, bytes: totalBytes, contentType } = found
      try {
        const { start, bytes } = resolveRange(range, totalBytes)
        if (bytes > 0) {
          const stream = file.createReadStream({ start, end: start + bytes - 1 })
          return { stream, bytes, totalBytes, contentType }
        }
        await file.close()
        return { stream: Readable.from([]), bytes, totalBytes, contentType }
      } catch (error) {
        await file.close()
        throw error
      }
    },
    head: async (key) => {
      const found = await openFile(key)
      if (!found) return undefined
      await found.file.close()
      return { bytes: found.bytes, contentType: found.contentType, modifiedAt: found.modifiedAt }
    },
    delete: async (key) => {
      const [organization, kind, name] = checkKey(key)
      try {
        const target = await folderOf(organization, kind)
        await unlink(join(target, name))
        // This ensures that erased files don't reappear after a power failure.
        await syncFolder(target)
      } catch (error) {
        if (!isAbsence(error)) throw storageFailure(error)
      }
    },
    list: async function* (prefix) {
      for await (const key of walk('', checkPrefix(prefix))) {
        const found = await stat(join(root, key)).catch(() => undefined)
        if (found) yield { key, modifiedAt: found.mtime }
      }
    },
    check: async () => {
      const probe = join(root, incoming, randomBytes(16).toString('hex'))
      try {
        await write(await open(probe, 'wx', 0o600), Readable.from([]), 'text/plain')
      } catch (error) {
        throw storageFailure(error)
      } finally {
        await rm(probe, { force: true })
      }
    },
    close: async () => clearInterval(sweeping),
  }
}
