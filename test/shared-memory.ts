// Removes shared memory that killed test databases left behind.
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const sharedMemory = '/dev/shm'

const listSegments = async (): Promise<string[]> =>
  (await readdir(sharedMemory).catch(() => [])).filter((name) => name.startsWith('PostgreSQL.'))

/**
 * Returns whether any database is running. A database may need segments that none of its processes has mapped at the
 * moment.
 */
const isAnyServerRunning = async (): Promise<boolean> => {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const names = await Promise.all(processes.map((pid) => readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')))
  return names.includes('postgres\n')
}

/** Returns a function that removes the segments left from now on. */
export const noteSegments = async (): Promise<() => Promise<void>> => {
  const before = await listSegments()
  return async () => {
    const made = (await listSegments()).filter((name) => !before.includes(name))
    // The databases that were killed last may still be ending.
    for (let looks = 0; made.length > 0 && looks < 50 && (await isAnyServerRunning()); looks++) await sleep(100)
    if (made.length === 0 || (await isAnyServerRunning())) return
    for (const name of made) await rm(join(sharedMemory, name), { force: true })
  }
}
