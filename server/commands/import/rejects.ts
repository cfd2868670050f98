import { open } from 'node:fs/promises'

/** Writes the report of rejected values: one line of JSON each, with the reason. */

export type Reject = {
  file: string
  number: number
  externalId: string | null
  error: string
  message: string
  details?: Record<string, unknown>
}

export type Rejects = { write: (reject: Reject) => Promise<void>; bytes: () => number; close: () => Promise<void> }

/** Opens the report and continues after the part that an earlier attempt has certainly written. */
export const openRejects = async (path: string | undefined, keptBytes: number): Promise<Rejects> => {
  if (path === undefined) return { write: async () => {}, bytes: () => 0, close: async () => {} }
  const file = await open(path, keptBytes > 0 ? 'a' : 'w')
  let bytes = Math.min(keptBytes, (await file.stat()).size)
  await file.truncate(bytes)
  return {
    write: async (reject) => {
      const line = Buffer.from(`${JSON.stringify(reject)}\n`)
      await file.appendFile(line)
      bytes += line.length
    },
    bytes: () => bytes,
    close: () => file.close(),
  }
}
