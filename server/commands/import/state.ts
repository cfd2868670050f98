import { readFile, rename, rm, writeFile } from 'node:fs/promises'

/** How far an import is, kept in a file, so that one that was interrupted goes on. */

export type Counts = { created: number; updated: number; unchanged: number; ignored: number; rejected: number }

type Done = { fingerprint: string; values: number }

export type State = {
  /** Whatever makes it another import: the organization, and who wrote the files. */
  of: string
  files: Record<string, Done>
  counts: Counts
  /** Length of the file of rejects: what stands behind it was written by an attempt that went no further. */
  rejectsBytes: number
}

const noCounts = (): Counts => ({ created: 0, updated: 0, unchanged: 0, ignored: 0, rejected: 0 })

const saveEveryMs = 500

const read = async (path: string, of: string): Promise<State | undefined> => {
  try {
    // Written by this file; another kind of import begins anew.
    const state = JSON.parse(await readFile(path, 'utf8')) as State
    return state.of === of && typeof state.counts === 'object' ? state : undefined
  } catch {
    return undefined
  }
}

/** Without a path it is kept in memory alone. */
export const openState = async (path: string | undefined, of: string) => {
  const present = path === undefined ? undefined : await read(path, of)
  const state: State = present ?? { of, files: {}, counts: noCounts(), rejectsBytes: 0 }
  let savedAt = 0
  const save = async (): Promise<void> => {
    savedAt = performance.now()
    if (path === undefined) return
    await writeFile(`${path}.new`, JSON.stringify(state))
    await rename(`${path}.new`, path)
  }
  return {
    state,
    resumes: present !== undefined,
    /** How many values of a file are dealt with. */
    doneOf: (name: string, fingerprint: string): number => {
      const done = state.files[name]
      if (done?.fingerprint === fingerprint) return done.values
      state.files[name] = { fingerprint, values: 0 }
      return 0
    },
    note: async (name: string, values: number): Promise<void> => {
      const done = state.files[name]
      if (done) done.values = Math.max(done.values, values)
      if (performance.now() - savedAt > saveEveryMs) await save()
    },
    save,
    remove: async (): Promise<void> => {
      if (path !== undefined) await rm(path, { force: true })
    },
  }
}
