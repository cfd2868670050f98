// Defines the interface of file stores, and the format of keys, ranges, and content types.
import type { Readable } from 'node:stream'
import { ApiError } from '../errors.ts'

/** The maximum number of bytes that a put keeps in memory. */
export const mostBuffered = 16 * 1024 * 1024

/** `organizationId/kind/name`. `checkKey` describes the format. */
export type BlobKey = string

type BlobHead = { bytes: number; contentType: string; modifiedAt: Date }

/**
 * The first and last byte, counted from 0 as in HTTP. Without `end`, or if `end` is beyond the last byte, the range
 * extends to the end of the file.
 */
export type BlobRange = { start: number; end?: number }

type BlobContent = {
  stream: Readable
  /** The length of the range. */
  bytes: number
  totalBytes: number
  contentType: string
}

export type BlobSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export type BlobStore = {
  /**
   * Stores all of `source`, or nothing if it fails or exceeds `maxBytes`. Replaces an existing file atomically.
   * `sha256` is in base64, as `Repr-Digest` requires.
   */
  put: (
    key: BlobKey,
    source: BlobSource,
    options: { contentType: string; maxBytes?: number },
  ) => Promise<{ bytes: number; sha256: string }>
  /** Opens a file. The caller must read the stream to its end or destroy it. */
  get: (key: BlobKey, range?: BlobRange) => Promise<BlobContent | undefined>
  head: (key: BlobKey) => Promise<BlobHead | undefined>
  /** Deletes a file. Succeeds if it does not exist. */
  delete: (key: BlobKey) => Promise<void>
  /** Lists files in no particular order. May or may not include concurrent changes. */
  list: (prefix: string) => AsyncIterable<{ key: BlobKey; modifiedAt: Date }>
  /** Throws if the store is not writable. */
  check: () => Promise<void>
  close: () => Promise<void>
}

export type LinkOptions = {
  expiresAt: Date
  fileName: string
  contentType: string
  disposition: 'attachment' | 'inline'
  /** The file's digest in base64. This service sends it along. */
  sha256?: string
}

/** A store with its own download links, which bypass this service. */
export type LinkingStore = BlobStore & { signedUrl: (key: BlobKey, options: LinkOptions) => Promise<string> }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const segment = /^[a-z0-9](?:[a-z0-9._-]{0,199})$/

/**
 * Splits a key into an organization's ID and two segments. The segments consist of lowercase letters, digits, and
 * `._-`, and start with a letter or digit. Such a key is the same file on every file system, never leads out of the
 * folder, and never equals a name that stores use internally.
 */
export const checkKey = (key: string): [organization: string, kind: string, name: string] => {
  const [organization, kind, name, ...more] = key.split('/')
  const segments = [organization ?? '', kind ?? '', name ?? ''] as [string, string, string]
  const sound = uuid.test(segments[0]) && segments.every((text) => segment.test(text) && !text.includes('..'))
  if (more.length > 0 || !sound) {
    throw new TypeError(`${JSON.stringify(key.slice(0, 100))} is not a blob key: organizationId/kind/name`)
  }
  return segments
}

export const isKey = (key: string): boolean => {
  try {
    return checkKey(key).length === 3
  } catch {
    return false
  }
}

export const checkPrefix = (prefix: string): string => {
  if (!/^[a-z0-9._/-]*$/.test(prefix) || prefix.startsWith('/') || prefix.includes('..') || prefix.includes('//')) {
    throw new TypeError(`${JSON.stringify(prefix.slice(0, 100))} is not a prefix of a blob key`)
  }
  return prefix
}

/** Throws if a content type can't be stored or sent as a header. */
export const checkContentType = (contentType: string): string => {
  if (contentType.length > 100) throw new TypeError('The content type of a blob can have at most 100 characters')
  if (!/^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=(?:[\w.+-]+|"[\x20\x21\x23-\x5b\x5d-\x7e]*"))*$/.test(contentType)) {
    throw new TypeError(`${JSON.stringify(contentType.slice(0, 100))} is not a content type`)
  }
  return contentType
}

export const isOrdered = ({ start, end = start }: BlobRange): boolean =>
  Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start

/** Returns the range of the file to send. */
export const resolveRange = (range: BlobRange | undefined, totalBytes: number): { start: number; bytes: number } => {
  if (!range) return { start: 0, bytes: totalBytes }
  const end = Math.min(range.end ?? totalBytes - 1, totalBytes - 1)
  if (!isOrdered(range) || end < range.start) {
    throw new ApiError('rangeNotSatisfiable', `The file has ${totalBytes} bytes. Request a range within it.`, {
      totalBytes,
    })
  }
  return { start: range.start, bytes: end - range.start + 1 }
}
