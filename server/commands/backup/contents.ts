// What a backup holds: its files as a data directory has them, and beside them what they are, so that a restore can tell.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const summaryName = 'backup.json'
/** In the form of sha256sum, which checks it too. */
const sumsName = 'SHA256SUMS'

export type Summary = { format: 1; version: string; madeAt: string; files: number; bytes: number; storage: string }

/** Copies a file with its mode and makes it durable; answers what its bytes were. */
export const copyFile = async (from: string, to: string): Promise<{ sha256: string; bytes: number }> => {
  const { mode } = await stat(from)
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const hash = createHash('sha256')
  let bytes = 0
  const seen = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    },
  })
  await pipeline(createReadStream(from), seen, createWriteStream(to, { mode: mode & 0o777, flush: true }))
  return { sha256: hash.digest('hex'), bytes }
}

const digestOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Collects what is copied into a backup. */
export const openContents = (folder: string) => {
  const sums = new Map<string, string>()
  let bytes = 0
  return {
    copy: async (from: string, path: string): Promise<void> => {
      const copied = await copyFile(from, join(folder, path))
      sums.set(path, copied.sha256)
      bytes += copied.bytes
    },
    /** Of what was written into the backup rather than copied. */
    add: async (path: string): Promise<void> => {
      sums.set(path, await digestOf(join(folder, path)))
    },
    seal: async (said: Pick<Summary, 'version' | 'madeAt' | 'storage'>): Promise<Summary> => {
      const lines = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, sum]) => `${sum}  ${path}\n`)
      await writeFile(join(folder, sumsName), lines.join(''), { mode: 0o600 })
      const summary: Summary = { format: 1, ...said, files: sums.size, bytes }
      await writeFile(join(folder, summaryName), `${JSON.stringify(summary, null, 2)}\n`, { mode: 0o600, flush: true })
      const handle = await open(folder)
      await handle.sync()
      await handle.close()
      return summary
    },
  }
}

/** Undefined where there is no backup. */
export const readSummary = async (folder: string): Promise<Summary | undefined> => {
  const text = await readFile(join(folder, summaryName), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const summary = JSON.parse(text) as Summary
  if (summary.format !== 1) throw new Error(`The backup in ${folder} is of a form that this version does not know.`)
  return summary
}

/** Each file with the digest that it had. */
export const readSums = async (folder: string): Promise<Map<string, string>> => {
  const lines = (await readFile(join(folder, sumsName), 'utf8')).split('\n').filter((line) => line !== '')
  const pairs = lines.map((line): [string, string] => {
    const [, sum, path] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? []
    if (!sum || !path || path.startsWith('/') || path.split('/').includes('..'))
      throw new Error(`${sumsName} of ${folder} is damaged.`)
    return [path, sum]
  })
  return new Map(pairs)
}
