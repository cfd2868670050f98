import { createHash } from 'node:crypto'
import { ApiError } from '../errors.ts'
import type { BlobSource } from './store.ts'

/** Counts and hashes bytes, and distinguishes a failing source from a failing store. */
export const measure = (source: BlobSource, maxBytes = Number.POSITIVE_INFINITY) => {
  const hash = createHash('sha256')
  let bytes = 0
  let failure: { error: unknown } | undefined

  const chunks = async function* () {
    try {
      for await (const chunk of source) {
        bytes += chunk.byteLength
        if (bytes > maxBytes) throw new ApiError('tooLarge', `Send at most ${maxBytes} bytes.`)
        hash.update(chunk)
        yield chunk
      }
    } catch (error) {
      failure = { error }
      throw error
    }
  }

  return {
    chunks,
    /** Returns an error of the source, as opposed to an error of the store. */
    failure: () => failure,
    result: () => ({ bytes, sha256: hash.digest('base64') }),
  }
}
