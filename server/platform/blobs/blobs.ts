// Stores files in a folder or an S3-compatible store, behind one interface.
import { join, resolve } from 'node:path'
import { type Clock, systemClock } from '../clock.ts'
import type { Config } from '../config.ts'
import { ApiError } from '../errors.ts'
import { readToken, sealToken, type TokenReading } from '../secrets/sealed-token.ts'
import type { Sweeps } from '../sweeps.ts'
import { openLocalStore } from './local.ts'
import {
  type BlobKey,
  type BlobStore,
  checkContentType,
  checkKey,
  type LinkingStore,
  type LinkOptions,
} from './store.ts'

/** The payload of `/files/{token}`. Without a content type, the stored type is used. */
export type FileLink = {
  key: BlobKey
  expiresAt: string | null
  disposition: 'attachment' | 'inline'
  fileName?: string
  contentType?: string
  /** The digest of the file, in base64. */
  sha256?: string
  /** The file may be deleted permanently, so no cache may store a copy. */
  erasable?: true
}

export type Blobs = BlobStore & {
  /** The location of the files, such as `s3://bucket/prefix` or the path of a folder. */
  address: string
  /** Returns a link that works for anyone until it expires. */
  signedUrl: (key: BlobKey, options: LinkOptions) => Promise<string>
  /** Returns a link to this service that never expires and shows the file inline. */
  permanentUrl: (key: BlobKey) => string
  /** Returns a link to this service that shows the file inline until it expires or the file is erased. */
  passingUrl: (key: BlobKey, expiresAt: Date) => string
  readLink: (token: string) => TokenReading<FileLink>
}

export type BlobOptions = {
  config: Pick<Config, 'storage' | 'dataDir' | 's3Endpoint'>
  /** Called each time a link is created, because the port may not be known earlier. */
  baseUrl: () => string
  /** The key that signs links, derived only for this purpose. */
  linkKey: Buffer
  clock?: Clock
  sweeps?: Sweeps
}

const folderOf = ({ folder }: { folder?: string | undefined }, dataDir: string) => folder ?? join(dataDir, 'blobs')

const addressOf = ({ storage, dataDir }: BlobOptions['config']): string =>
  storage.kind === 'file'
    ? resolve(folderOf(storage, dataDir))
    : `s3://${storage.bucket}${storage.prefix === '' ? '' : `/${storage.prefix}`}`

/** Opens the storage without links. With `sweeps`, also deletes partial files that killed processes left behind. */
export const openStore = async (
  { storage, dataDir, s3Endpoint }: BlobOptions['config'],
  clock: Clock,
  sweeps?: Sweeps,
): Promise<BlobStore | LinkingStore> => {
  if (storage.kind === 'file') return openLocalStore(folderOf(storage, dataDir), sweeps)
  // The SDK is large, so it is only loaded when needed.
  const { openS3Store } = await import('./s3.ts')
  return openS3Store({ ...storage, endpoint: s3Endpoint, clock, sweeps })
}

export const openBlobs = async ({
  config,
  baseUrl,
  linkKey,
  clock = systemClock,
  sweeps,
}: BlobOptions): Promise<Blobs> => {
  const store = await openStore(config, clock, sweeps)
  const fileUrl = (link: FileLink) => `${baseUrl()}/files/${sealToken(linkKey, link)}`
  return {
    ...store,
    address: addressOf(config),
    signedUrl: async (key, options) => {
      checkKey(key)
      checkContentType(options.contentType)
      if (options.expiresAt <= clock.now()) throw new ApiError('gone', 'This file has expired.')
      if ('signedUrl' in store) return store.signedUrl(key, options)
      return fileUrl({ key, ...options, expiresAt: options.expiresAt.toISOString() })
    },
    permanentUrl: (key) => fileUrl({ key: checkKey(key).join('/'), expiresAt: null, disposition: 'inline' }),
    passingUrl: (key, expiresAt) =>
      fileUrl({
        key: checkKey(key).join('/'),
        expiresAt: expiresAt.toISOString(),
        disposition: 'inline',
        erasable: true,
      }),
    readLink: (token) => {
      const reading = readToken<FileLink>(linkKey, token, clock.now())
      // Earlier versions created links to recordings without an expiry.
      const isUnending = reading.state === 'valid' && reading.payload.erasable && reading.payload.expiresAt === null
      return isUnending ? { state: 'expired' } : reading
    },
  }
}
