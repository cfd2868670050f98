// Creates folders that are either complete or missing. They are filled under a temporary name, synced, and then
// renamed.

import { randomBytes } from 'node:crypto'
import { chmod, chown, lchown, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode, isAlive } from './process-control.ts'

export type Owner = { uid: number; gid: number }

export const isRoot = (): boolean => process.getuid?.() === 0

export const statOrUndefined = (path: string) =>
  stat(path).catch((error) => {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  })

/**
 * Creates `target` by filling a sibling and renaming it. If two processes do this, the slower one discards its work. If
 * the process is killed, `sweepPartials` removes the sibling at the next start.
 */
export const makeFolder = async (target: string, fill: (partial: string) => Promise<void>): Promise<void> => {
  const partial = `${target}.partial-${process.pid}-${randomBytes(4).toString('hex')}`
  await mkdir(partial, { mode: 0o700 })
  try {
    await fill(partial)
    await rename(partial, target)
    await syncFolder(dirname(target))
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    const anotherWasFaster = ['EEXIST', 'ENOTEMPTY'].includes(String(errorCode(error)))
    if (!anotherWasFaster) throw error
  }
}

/** Removes the partial folders that killed processes left in `folder`. */
export const sweepPartials = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const maker = /\.partial-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1]
    if (!maker || (Number(maker) !== process.pid && (await isAlive(Number(maker))))) continue
    // A child of the dead process may continue to write for a moment.
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 })
  }
}

export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Makes a folder and its contents readable by everyone, regardless of the umask with which it was created, and syncs
 * it.
 */
export const publishTree = async (folder: string): Promise<void> => {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await chmod(path, 0o755)
    if (!entry.isFile()) continue
    const handle = await open(path)
    try {
      const { mode } = await handle.stat()
      await handle.chmod(mode & 0o100 ? 0o755 : 0o644)
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
  await chmod(folder, 0o755)
}

/**
 * Changes the owner of a folder and its contents, which only root can do. The top folder comes last, so that its owner
 * shows whether everything was changed.
 */
export const giveTree = async (folder: string, { uid, gid }: Owner): Promise<void> => {
  if (!isRoot() || (await stat(folder)).uid === uid) return
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), uid, gid)
  }
  await chown(folder, uid, gid)
}
