import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'

/**
 * Text that grows without bound and is read once it is whole. It waits in a file, not in memory: a sender that reads the
 * answer only after its last line would otherwise make either side wait for the other.
 */

const inMemory = 1024 * 1024

/** A file without a name, so that it is gone when it is closed, even by the death of the process. */
const openNameless = async (): Promise<FileHandle> => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-spool-'))
  try {
    return await open(join(folder, 'answers'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const openSpool = () => {
  let waiting: string[] = []
  let length = 0
  let file: FileHandle | undefined

  const spill = async (): Promise<void> => {
    file ??= await openNameless()
    await file.appendFile(waiting.join(''))
    waiting = []
    length = 0
  }

  const close = async (): Promise<void> => {
    const opened = file
    file = undefined
    waiting = []
    await opened?.close()
  }

  return {
    add: async (text: string): Promise<void> => {
      waiting.push(text)
      length += text.length
      if (length > inMemory) await spill()
    },
    /** All of it between two texts, once; then nothing of it is left. */
    read: (before: string, after: string): Readable => {
      const whole = async function* () {
        yield before
        if (file)
          yield* file.createReadStream({ start: 0, encoding: 'utf8', autoClose: false }) as AsyncIterable<string>
        yield waiting.join('') + after
      }
      // Not at the end of the generator, which never begins when nobody reads any more.
      return Readable.from(whole(), { objectMode: false }).once('close', close)
    },
    close,
  }
}
