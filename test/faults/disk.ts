// A small separate disk, which can be full.
import { execFile } from 'node:child_process'
import { mkdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

const run = promisify(execFile)

/** Maximum free space: less than a segment of the write-ahead log. */
const leastBytes = 16_384

export type Disk = { fill: () => Promise<void>; free: () => Promise<void> }

/** Mounts the folder as a disk in memory. Undefined if this user cannot mount: then it is an ordinary folder. */
export const openDisk = async (folder: string, mebibytes: number): Promise<Disk | undefined> => {
  await mkdir(folder)
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0711`, 'tmpfs', folder]).then(
    () => true,
    () => false,
  )
  if (!isMounted) return undefined
  // Processes that use it are killed later.
  onTestFinished(async () => void (await run('umount', ['--lazy', folder])))
  const ballast = join(folder, 'ballast')
  return {
    fill: async () => {
      const { bavail, bsize } = await statfs(folder)
      let taken = 0
      // A chunk is written completely or not at all, and others write too: so in ever smaller chunks.
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
