import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { WronglyCalled } from '../call.ts'
import type { ImportSource } from './sources.ts'

/** Stores the progress of an import in a file, so that an interrupted import can resume. */

export type ImportCounts = { created: number; updated: number; unchanged: number; ignored: number; rejected: number }

type Done = { fingerprint: string; values: number }

export type ImportState = {
  /** Identifies the import: its organization, and the format of its files. */
  of: string
  files: Record<string, Done>
  counts: ImportCounts
  /** The rejects file and its valid length. Anything after that was written by an interrupted attempt. */
  rejects: string | null
  rejectsBytes: number
}

const noCounts = (): ImportCounts => ({ created: 0, updated: 0, unchanged: 0, ignored: 0, rejected: 0 })

const saveEveryMs = 500

const parse = (text: string): Partial<ImportState> | null => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Reads the progress. Throws if the file has other content, because that may be someone's data. */
const read = async (path: string): Promise<ImportState | undefined> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw new WronglyCalled(`${error.message}. Use --resume to choose where the import saves its progress.`)
  })
  if (text === '') return undefined
  const state = parse(text)
  if (typeof state?.of === 'string' && state.files && state.counts) return state as ImportState
  throw new WronglyCalled(`${JSON.stringify(path)} is not a progress file. Choose another file for --resume.`)
}

/**
 * Returns whether the state belongs to this import and its files are unchanged. If not, the import starts over, but
 * stores nothing twice.
 */
const fits = (state: ImportState, of: string, sources: ImportSource[]): boolean =>
  state.of === of &&
  sources.every(({ name, fingerprint }) => (state.files[name]?.fingerprint ?? fingerprint) === fingerprint)

type Opening = { path: string | undefined; of: string; sources: ImportSource[]; rejects: string | undefined }

/** Opens the progress of an import. Without a path, the progress is only kept in memory. */
export const openState = async ({ path, of, sources, rejects }: Opening) => {
  const present = path === undefined ? undefined : await read(path)
  const resumes = present !== undefined && fits(present, of, sources)
  const state: ImportState = resumes ? present : { of, files: {}, counts: noCounts(), rejects: null, rejectsBytes: 0 }
  if (state.rejects !== (rejects ?? null)) Object.assign(state, { rejects: rejects ?? null, rejectsBytes: 0 })
  let savedAt = 0
  const save = async (): Promise<void> => {
    savedAt = performance.now()
    if (path === undefined) return
    await writeFile(`${path}.new`, JSON.stringify(state))
    await rename(`${path}.new`, path)
  }
  return {
    state,
    resumes,
    /** Whether the stored progress belongs to another import. */
    isAnother: present !== undefined && !resumes,
    /** Returns the number of processed values in a file. */
    doneOf: (name: string, fingerprint: string): number => {
      state.files[name] ??= { fingerprint, values: 0 }
      return state.files[name].values
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
