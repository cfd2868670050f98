// Stores files in a bucket on S3 or a compatible store.
import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { Clock } from '../clock.ts'
import { ApiError } from '../errors.ts'
import type { Sweeps } from '../sweeps.ts'
import { contentDisposition } from './content-disposition.ts'
import { measure } from './measure.ts'
import {
  type BlobRange,
  checkContentType,
  checkKey,
  checkPrefix,
  isKey,
  isOrdered,
  type LinkingStore,
  mostBuffered,
  resolveRange,
} from './store.ts'

export type S3Options = {
  bucket: string
  prefix: string
  endpoint: string | undefined
  clock: Clock
  sweeps?: Sweeps | undefined
}

/** Two parts are in memory at a time. An upload can have 10,000 parts, which contain 80 GiB. */
const partsAtOnce = 2
const partBytes = mostBuffered / partsAtOnce
/** The maximum lifetime of signed links on S3. */
const maxLinkSeconds = 7 * 86_400
/** If an upload takes longer than a day, its process is dead. */
const abandonedAfterMs = 86_400_000
const sweepEveryMs = 3_600_000
const fallbackRegion = 'us-east-1'
const unknownType = 'application/octet-stream'

const openClient = async (endpoint: string | undefined) => {
  const options: S3ClientConfig = {
    ...(endpoint && { endpoint, forcePathStyle: true }),
    // Some compatible stores don't support newer checksums, and the signature already covers the bytes.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: 5_000,
      requestTimeout: 60_000,
      throwOnRequestTimeout: true,
      socketTimeout: 60_000,
    },
  }
  const client = new S3Client(options)
  // The SDK finds the region and credentials, because only it reads AWS_REGION and the profiles.
  const region = await client.config.region().catch(() => undefined)
  if (region) return client
  client.destroy()
  return new S3Client({ ...options, region: fallbackRegion })
}

const hasStatus = (error: unknown, status: number) =>
  error instanceof S3ServiceException && error.$metadata.httpStatusCode === status

const hasName = (error: unknown, name: string) => error instanceof Error && error.name === name

const unavailable = (cause: unknown) =>
  Object.assign(new ApiError('unavailable', 'The file storage is unavailable. Try again later.'), {
    cause,
  })

/**
 * Returns undefined if the file is missing. Every other failure is the store's fault, not the caller's. (Without
 * permission to list the bucket, S3 returns 403 instead of 404, so the credentials need it.)
 */
const ask = async <T>(sent: Promise<T>): Promise<T | undefined> => {
  try {
    return await sent
  } catch (error) {
    if (hasStatus(error, 404) && !hasName(error, 'NoSuchBucket')) return undefined
    throw unavailable(error)
  }
}

export const openS3Store = async ({ bucket, prefix, endpoint, clock, sweeps }: S3Options): Promise<LinkingStore> => {
  const client = await openClient(endpoint)
  const root = prefix === '' ? '' : `${prefix}/`
  const objectOf = (key: string) => ({ Bucket: bucket, Key: root + checkKey(key).join('/') })
  const probe = { Bucket: bucket, Key: `${root}.check` }
  let writable = false

  const put: LinkingStore['put'] = async (key, source, { contentType, maxBytes }) => {
    const measured = measure(source, maxBytes)
    try {
      // This sends a single request if the file fits in one part. Otherwise it is a multipart upload, which is aborted
      // on failure.
      const upload = new Upload({
        client,
        params: {
          ...objectOf(key),
          ContentType: checkContentType(contentType),
          Body: Readable.from(measured.chunks()),
        },
        partSize: partBytes,
        queueSize: partsAtOnce,
      })
      await upload.done()
      return measured.result()
    } catch (error) {
      if (error instanceof TypeError) throw error
      throw measured.failure()?.error ?? unavailable(error)
    }
  }

  const head: LinkingStore['head'] = async (key) => {
    const found = await ask(client.send(new HeadObjectCommand(objectOf(key))))
    return (
      found && {
        bytes: found.ContentLength ?? 0,
        contentType: found.ContentType ?? unknownType,
        modifiedAt: found.LastModified ?? new Date(0),
      }
    )
  }

  /** Rejects a range. The error includes the file's size, which the store's response lacks. */
  const refuseRange = async (key: string, range: BlobRange) => {
    const found = await head(key)
    if (!found) return undefined
    resolveRange(range, found.bytes)
    throw unavailable(new Error('The file changed between two requests.'))
  }

  const get: LinkingStore['get'] = async (key, range) => {
    // Stores ignore an invalid range instead of rejecting it.
    if (range && !isOrdered(range)) return refuseRange(key, range)
    const request = { ...objectOf(key), ...(range && { Range: `bytes=${range.start}-${range.end ?? ''}` }) }
    const sent = client.send(new GetObjectCommand(request)).catch((error: unknown) => {
      if (range && hasStatus(error, 416)) return 'unsatisfiable' as const
      throw error
    })
    const found = await ask(sent)
    if (!found) return undefined
    if (found === 'unsatisfiable') return range && refuseRange(key, range)
    if (!(found.Body instanceof Readable))
      throw unavailable(new Error('The storage returned a response without a body.'))
    const bytes = found.ContentLength ?? 0
    const totalBytes = Number(found.ContentRange?.split('/')[1] ?? bytes)
    return { stream: found.Body, bytes, totalBytes, contentType: found.ContentType ?? unknownType }
  }

  const list: LinkingStore['list'] = async function* (begin) {
    const Prefix = root + checkPrefix(begin)
    let page: ListObjectsV2CommandOutput | undefined
    do {
      const ContinuationToken = page?.NextContinuationToken
      page = await ask(client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix, ContinuationToken })))
      for (const { Key = '', LastModified = new Date(0) } of page?.Contents ?? []) {
        const key = Key.slice(root.length)
        if (isKey(key)) yield { key, modifiedAt: LastModified }
      }
    } while (page?.IsTruncated)
  }

  const check = async () => {
    // Write access is only checked once. Checking it every few seconds would cost money and create many versions.
    try {
      if (writable) return void (await client.send(new HeadBucketCommand({ Bucket: bucket })))
      await client.send(new PutObjectCommand({ ...probe, Body: '', ContentLength: 0 }))
      await client.send(new DeleteObjectCommand(probe))
      writable = true
    } catch (error) {
      writable = false
      throw unavailable(error)
    }
  }

  const sweep = async () => {
    const now = await sweeps?.time()
    if (!now) return
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: root }))
    for (const { Key = '', UploadId, Initiated } of Uploads) {
      if (!isKey(Key.slice(root.length)) || !Initiated || now.getTime() - Initiated.getTime() < abandonedAfterMs)
        continue
      await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
    }
  }
  // This runs in the background and ignores failures, because some stores can't list uploads, and a lifecycle rule on
  // the bucket does the same.
  const sweepQuietly = () => void sweep().catch(() => undefined)
  sweepQuietly()
  const sweeping = setInterval(sweepQuietly, sweepEveryMs).unref()

  return {
    put,
    get,
    head,
    list,
    check,
    delete: async (key) => {
      await ask(client.send(new DeleteObjectCommand(objectOf(key))))
    },
    signedUrl: (key, { expiresAt, fileName, contentType, disposition }) => {
      const seconds = Math.floor((expiresAt.getTime() - clock.now().getTime()) / 1000)
      const command = new GetObjectCommand({
        ...objectOf(key),
        ResponseContentType: contentType,
        ResponseContentDisposition: contentDisposition(disposition, fileName),
        ResponseCacheControl: 'private, no-store',
      })
      return getSignedUrl(client, command, { expiresIn: Math.min(Math.max(seconds, 1), maxLinkSeconds) })
    },
    close: async () => {
      clearInterval(sweeping)
      client.destroy()
    },
  }
}
