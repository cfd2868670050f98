import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive } from '../../server/platform/db/process-control.ts'
import { noteSegments, sharedMemory } from '../shared-memory.ts'

/** Removes files that libfaketime left behind because its process was killed. */
const sweepClocks = async () => {
  for (const name of await readdir(sharedMemory).catch(() => [])) {
    const pid = Number(/^(?:faketime_shm|sem\.faketime_sem)_(\d+)$/.exec(name)?.[1])
    if (pid && !(await isAlive(pid))) await rm(join(sharedMemory, name), { force: true })
  }
}

export default async () => {
  const sweepSegments = await noteSegments()
  return async () => {
    await sweepSegments()
    await sweepClocks()
  }
}
