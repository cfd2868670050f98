import { open } from 'node:fs/promises'

/** Writes a report of the rejected values: one line of JSON for each, with the reason. */

export type Reject = {
  file: string
  number: number
  externalId: string | null
  error: string
  message: string
  details?: Record<string, unknown>
}

export type Rejects = {
  write: (reject: Reject) => Promise<void>
  /** The first few rejects, if there is no file. */
  first: () => Reject[]
  bytes: () => number
  close: () => Promise<void>
}

const mostShown = 5

const keepFirst = (): Rejects => {
  const first: Reject[] = []
  const write = async (reject: Reject) => {
    if (first.length < mostShown) first.push(reject)
  }
  return { write, first: () => first, bytes: () => 0, close: async () => {} }
}

/** Opens the report, and continues at the last position that an earlier attempt has certainly written. */
export const openRejects = async (path: string | undefined, keptBytes: number): Promise<Rejects> => {
  if (path === undefined) return keepFirst()
  const file = await open(path, keptBytes > 0 ? 'a' : 'w')
  let bytes = Math.min(keptBytes, (await file.stat()).size)
  await file.truncate(bytes)
  return {
    write: async (reject) => {
      const line = Buffer.from(`${JSON.stringify(reject)}\n`)
      await file.appendFile(line)
      bytes += line.length
    },
    first: () => [],
    bytes: () => bytes,
    close: () => file.close(),
  }
}
