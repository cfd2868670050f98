// Mounts a small separate disk that can be filled.
import { execFile } from 'node:child_process'
import { mkdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

const run = promisify(execFile)

/** The most space that is left on a full disk: less than a segment of the write-ahead log. */
const leastBytes = 16_384

export type Disk = { fill: () => Promise<void>; free: () => Promise<void> }

/**
 * Mounts the folder as a disk in memory. Returns undefined if this user may not mount. The folder is then an ordinary
 * one.
 */
export const openDisk = async (folder: string, mebibytes: number): Promise<Disk | undefined> => {
  await mkdir(folder)
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0711`, 'tmpfs', folder]).then(
    () => true,
    () => false,
  )
  if (!isMounted) return undefined
  // The processes that use the disk are killed later, so it is unmounted lazily.
  onTestFinished(async () => void (await run('umount', ['--lazy', folder])))
  const ballast = join(folder, 'ballast')
  return {
    fill: async () => {
      const { bavail, bsize } = await statfs(folder)
      let taken = 0
      // Other processes write to the disk, too, so large chunks may no longer fit. Each attempt therefore halves the
      // size.
      for (let bytes = Math.floor((bavail * bsize) / 2); bytes >= leastBytes; bytes = Math.floor(bytes / 2)) {
        const at = ['-o', String(taken), '-l', String(bytes)]
        const fits = run('fallocate', [...at, ballast]).then(
          () => true,
          () => false,
        )
        if (await fits) taken += bytes
      }
      if (taken === 0) throw new Error(`nothing of ${folder} could be taken`)
    },
    free: () => rm(ballast, { force: true }),
  }
}
