// The contents of a backup: its files, laid out as in a data directory, and a description that a restore reads.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PassThrough, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Cipher, encryptedEnding } from './encryption.ts'

const summaryName = 'backup.json'
/** The file has the format of sha256sum, so that sha256sum can also check the backup. */
const sumsName = 'SHA256SUMS'

/** `format` is 1, or 2 for an encrypted backup, which versions without decryption reject. */
export type BackupSummary = {
  format: 1 | 2
  version: string
  madeAt: string
  files: number
  bytes: number
  storage: string
}

type Digest = { sha256: string; bytes: number }

/** Hashes and counts a stream. */
const openMeter = () => {
  const hash = createHash('sha256')
  let bytes = 0
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    },
  })
  return { meter, result: (): Digest => ({ sha256: hash.digest('hex'), bytes }) }
}

type Ciphers = { encrypt?: Cipher | undefined; decrypt?: Cipher | undefined }

/** Copies a file with its mode and syncs it to disk. Returns the digest of the copy. */
export const copyFile = async (from: string, to: string, { encrypt, decrypt }: Ciphers = {}): Promise<Digest> => {
  const { mode } = await stat(from)
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const { meter, result } = openMeter()
  await pipeline(
    createReadStream(from),
    encrypt?.() ?? new PassThrough(),
    meter,
    decrypt?.() ?? new PassThrough(),
    createWriteStream(to, { mode: mode & 0o777, flush: true }),
  )
  return result()
}

const digestOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Writes the files of a backup, and records their checksums. */
export const openContents = (folder: string, encrypt?: Cipher) => {
  const sums = new Map<string, string>()
  let bytes = 0
  const copy = async (from: string, path: string): Promise<void> => {
    const stored = encrypt ? path + encryptedEnding : path
    const copied = await copyFile(from, join(folder, stored), { encrypt })
    sums.set(stored, copied.sha256)
    bytes += copied.bytes
  }
  return {
    copy,
    /** Adds a file that was written directly into the backup rather than copied. */
    add: async (path: string): Promise<void> => {
      const written = join(folder, path)
      if (!encrypt) return void sums.set(path, await digestOf(written))
      await copy(written, path)
      await rm(written)
    },
    seal: async (said: Pick<BackupSummary, 'version' | 'madeAt' | 'storage'>): Promise<BackupSummary> => {
      const lines = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, sum]) => `${sum}  ${path}\n`)
      await writeFile(join(folder, sumsName), lines.join(''), { mode: 0o600 })
      const summary: BackupSummary = { format: encrypt ? 2 : 1, ...said, files: sums.size, bytes }
      await writeFile(join(folder, summaryName), `${JSON.stringify(summary, null, 2)}\n`, { mode: 0o600, flush: true })
      const handle = await open(folder)
      await handle.sync()
      await handle.close()
      return summary
    },
  }
}

/** Returns the description of a backup, or undefined if the folder contains none. */
export const readSummary = async (folder: string): Promise<BackupSummary | undefined> => {
  const text = await readFile(join(folder, summaryName), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const summary = JSON.parse(text) as BackupSummary
  if (summary.format !== 1 && summary.format !== 2)
    throw new Error(
      `This version cannot read the format of the backup in ${folder}. Use the version that created it, or a newer one.`,
    )
  return summary
}

/** Returns each file with its expected digest. */
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
