// The interface of file stores, and the format of keys, ranges, and content types.
import type { Readable } from 'node:stream'
import { ApiError } from '../errors.ts'

/** Maximum part of a file in memory during a put. */
export const mostBuffered = 16 * 1024 * 1024

/** `organizationId/kind/name`: see `checkKey`. */
export type BlobKey = string

type BlobHead = { bytes: number; contentType: string; modifiedAt: Date }

/** First and last byte, from 0 as in HTTP ranges; without `end`, or beyond the last byte, to the end. */
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
  /** The caller reads the stream to its end or destroys it. */
  get: (key: BlobKey, range?: BlobRange) => Promise<BlobContent | undefined>
  head: (key: BlobKey) => Promise<BlobHead | undefined>
  /** Deleting a missing file succeeds. */
  delete: (key: BlobKey) => Promise<void>
  /** In no particular order; concurrent changes may be included or not. */
  list: (prefix: string) => AsyncIterable<{ key: BlobKey; modifiedAt: Date }>
  /** Throws if nothing can be written. */
  check: () => Promise<void>
  close: () => Promise<void>
}

export type LinkOptions = {
  expiresAt: Date
  fileName: string
  contentType: string
  disposition: 'attachment' | 'inline'
  /** The digest of the file, in base64, which this service sends with it. */
  sha256?: string
}

/** A store with its own download links, which bypass this service. */
export type LinkingStore = BlobStore & { signedUrl: (key: BlobKey, options: LinkOptions) => Promise<string> }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const segment = /^[a-z0-9](?:[a-z0-9._-]{0,199})$/

/**
 * An organization's ID and two segments of lower-case letters, digits, and `._-` that start with a letter or digit: the
 * same file on every file system, no path out of the folder, and no name that stores use internally.
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

/** Stored with the bytes and sent as a header. */
export const checkContentType = (contentType: string): string => {
  if (contentType.length > 100) throw new TypeError('The content type of a blob can have at most 100 characters')
  if (!/^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=(?:[\w.+-]+|"[\x20\x21\x23-\x5b\x5d-\x7e]*"))*$/.test(contentType)) {
    throw new TypeError(`${JSON.stringify(contentType.slice(0, 100))} is not a content type`)
  }
  return contentType
}

export const isOrdered = ({ start, end = start }: BlobRange): boolean =>
  Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start

/** The range of a file to send. */
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
