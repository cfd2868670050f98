// A data directory contains a marker file until its restore is complete. It keeps an interrupted restore from being
// used as a database.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { syncFolder } from '../../platform/db/embedded-folders.ts'
import { isAlive } from '../../platform/db/process-control.ts'

const markOf = (dataDir: string) => join(dataDir, 'restoring.json')

type Mark = { backup: string; places: string[]; host: string; pid: number }

/** Returns the folders that an interrupted restore was filling. */
export const readRestoring = async (dataDir: string): Promise<Mark | undefined> => {
  const text = await readFile(markOf(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  // The marker is empty if the restore was interrupted while it wrote the marker, before it wrote anything else.
  return text === undefined
    ? undefined
    : text === ''
      ? { backup: '', places: [], host: '', pid: 0 }
      : (JSON.parse(text) as Mark)
}

export const markRestoring = async (dataDir: string, said: Pick<Mark, 'backup' | 'places'>): Promise<void> => {
  const mark: Mark = { ...said, host: hostname(), pid: process.pid }
  await writeFile(markOf(dataDir), JSON.stringify(mark), { mode: 0o600, flush: true })
  await syncFolder(dataDir)
}

export const unmarkRestoring = async (dataDir: string): Promise<void> => {
  await rm(markOf(dataDir), { force: true })
  await syncFolder(dataDir)
}

/** Removes only the folders that an interrupted restore was filling. */
export const startOver = async (dataDir: string): Promise<void> => {
  const mark = await readRestoring(dataDir)
  if (!mark) return
  if (mark.pid !== process.pid && mark.host === hostname() && (await isAlive(mark.pid))) {
    throw new Error(`A restore to ${dataDir} is running (pid ${mark.pid}). Wait until it finishes.`)
  }
  for (const place of mark.places) {
    const siblings = await readdir(dirname(place)).catch(() => [])
    const partials = siblings.filter((name) => name.startsWith(`${basename(place)}.partial-`))
    for (const path of [place, ...partials.map((name) => join(dirname(place), name))]) {
      await rm(path, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

export const refuseRestoring = async (dataDir: string): Promise<void> => {
  const mark = await readRestoring(dataDir)
  if (!mark) return
  throw new Error(
    `A restore to ${dataDir} was interrupted, so it is incomplete. Run \`earshot restore ${mark.backup || 'FOLDER'}\` again; it starts over.`,
  )
}
