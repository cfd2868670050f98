import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { openNamelessFile } from '../../platform/nameless-file.ts'

/**
 * Collects text of any length, to be read when it is complete. Most of it is in a file, because a sender may not read
 * the response before it has sent its last line.
 */

const inMemory = 1024 * 1024

export const openSpool = () => {
  let waiting: string[] = []
  let length = 0
  let file: FileHandle | undefined

  const spill = async (): Promise<void> => {
    file ??= await openNamelessFile()
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
    /** Reads the collected text once, between two other strings, and deletes it. */
    read: (before: string, after: string): Readable => {
      const whole = async function* () {
        yield before
        if (file)
          yield* file.createReadStream({ start: 0, encoding: 'utf8', autoClose: false }) as AsyncIterable<string>
        yield waiting.join('') + after
      }
      // The generator can't close the file, because it never starts if nobody reads from it.
      return Readable.from(whole(), { objectMode: false }).once('close', close)
    },
    close,
  }
}
