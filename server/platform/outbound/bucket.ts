// Writes to a tenant's own S3-compatible bucket. The rules for tenants' URLs apply.
import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { S3Client as Client } from '@aws-sdk/client-s3'
import { OutboundError } from './errors.ts'
import type { Outbound } from './outbound.ts'
import type { OutboundRequest } from './request.ts'

export type BucketOptions = {
  bucket: string
  region: string
  /** Null for AWS's own endpoint in the region. */
  endpoint: string | null
  accessKeyId: string
  secretAccessKey: string
  encryption: 'AES256' | 'aws:kms' | null
  /** Someone is waiting, so there is only one short attempt. */
  quick?: true
}

export type BucketFile = {
  stream: AsyncIterable<Uint8Array>
  contentType: string
  /** The digest in base64. If the source's content differs, no object is stored. */
  sha256: string
}

export type TenantBucket = {
  /** Replaces an existing object atomically. */
  put: (key: string, file: BucketFile, signal: AbortSignal) => Promise<void>
  delete: (key: string) => Promise<void>
  close: () => void
}

/** An error that the tenant sees. It contains no text from the server, because that text can be anything. */
export class BucketError extends Error {
  /** Whether the error will repeat until someone changes something. */
  readonly isFinal: boolean

  constructor(message: string, isFinal: boolean) {
    super(message)
    this.name = 'BucketError'
    this.isFinal = isFinal
  }
}

/** Two parts are in memory at a time. An upload can have 10,000 parts, which contain 80 GiB. */
const partBytes = 8 * 1024 * 1024
const requestMs = 120_000
/** A bucket that hangs or is very slow occupies a slot of its organization only for a limited time. */
const minimumRate = { bytesPerSecond: 64 * 1024, longestWaitMs: 30_000 }
/** Stores assemble the parts before they respond. Some stores send a space from time to time in the meantime. */
const assemblyRate = { bytesPerSecond: 1, longestWaitMs: 60_000 }
const quickRequestMs = 10_000
const maxAnswerBytes = 1024 * 1024

/** The SDK's interface for sending requests. All bodies are complete here. */
type SdkRequest = {
  protocol: string
  hostname: string
  port?: number
  path: string
  method: string
  query?: Record<string, string | string[] | null>
  headers: Record<string, string>
  body?: unknown
}

const queryOf = (query: SdkRequest['query'] = {}): string => {
  // The signature escapes more characters than URLs require, so the URL must escape them too.
  const escaped = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? ''].flat().map((each) => `${escaped(name)}=${escaped(each)}`),
  )
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

const bodyOf = (body: unknown): Buffer | string | undefined => {
  if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) return body
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  throw new TypeError('Bodies sent to buckets must be complete')
}

/** Connects the SDK with the client for tenants' URLs, which checks each connection. */
const handlerOver = ({ request }: Pick<Outbound, 'request'>, timeoutMs: number) => ({
  metadata: { handlerProtocol: 'http/1.1' },
  httpHandlerConfigs: () => ({}),
  updateHttpClientConfig: () => {},
  destroy: () => {},
  handle: async ({ protocol, hostname, port, path, query = {}, method, headers, body }: SdkRequest) => {
    const url = `${protocol}//${hostname}${port ? `:${port}` : ''}${path}${queryOf(query)}`
    const sent = bodyOf(body)
    const answer = await request(url, {
      // Only the methods used by the few commands below occur here.
      method: method as OutboundRequest['method'],
      headers,
      ...(sent !== undefined && { body: sent }),
      maxBytes: maxAnswerBytes,
      timeoutMs,
      minimumRate: method === 'POST' && 'uploadId' in query ? assemblyRate : minimumRate,
      plainHttp: 'allowed networks',
    })
    const answered = Object.entries(answer.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')])
    return {
      response: {
        statusCode: answer.status,
        headers: Object.fromEntries(answered) as Record<string, string>,
        body: Readable.from([answer.body]),
      },
    }
  },
})

const reasons: Record<string, string> = {
  NoSuchBucket: 'The bucket does not exist.',
  AccessDenied: 'Access was denied: the key has no permission to write there.',
  InvalidAccessKeyId: 'The storage does not know this access key ID.',
  SignatureDoesNotMatch: 'The secret access key does not match the access key ID.',
  ExpiredToken: 'The access key has expired.',
  PermanentRedirect: 'The bucket is in another region, or at another endpoint.',
  AuthorizationHeaderMalformed: 'The bucket is in another region.',
  IllegalLocationConstraintException: 'The bucket is in another region.',
  BadDigest: 'The uploaded data does not match what was sent.',
  InvalidDigest: 'The uploaded data does not match what was sent.',
}

/**
 * Errors that may not occur again. They include errors for an upload that is complete although its response was lost.
 */
const passing = new Set(['BadDigest', 'RequestTimeout', 'OperationAborted', 'TemporaryRedirect', 'NoSuchUpload'])

const toBucketError = (error: unknown): BucketError => {
  if (error instanceof BucketError) return error
  if (error instanceof OutboundError) return new BucketError(error.message, error.reason === 'forbidden_address')
  if (!(error instanceof Error) || !('$metadata' in error)) throw error
  // The SDK adds metadata to each error.
  const { httpStatusCode: status } = error.$metadata as { httpStatusCode?: number }
  if (status === undefined) throw error
  const name = /^[A-Za-z0-9]{1,60}$/.test(error.name) ? error.name : 'Error'
  const known = Object.hasOwn(reasons, name) ? reasons[name] : undefined
  const text = known ?? `The storage returned status ${status} (${name}).`
  const passes = passing.has(name) || status === 408 || status === 429 || status >= 500
  return new BucketError(text, !passes)
}

/** Splits bytes into parts of equal size. The last part can be smaller, and there is at least one part. */
async function* partsOf(
  source: AsyncIterable<Uint8Array>,
  hash: Hash,
): AsyncGenerator<{ body: Buffer; isLast: boolean }> {
  let waiting: Buffer[] = []
  let bytes = 0
  for await (const chunk of source) {
    hash.update(chunk)
    for (let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength); rest.length > 0; ) {
      if (bytes === partBytes) {
        yield { body: Buffer.concat(waiting), isLast: false }
        waiting = []
        bytes = 0
      }
      const taken = rest.subarray(0, partBytes - bytes)
      waiting.push(taken)
      bytes += taken.length
      rest = rest.subarray(taken.length)
    }
  }
  yield { body: Buffer.concat(waiting), isLast: true }
}

/** Returns the ETag of the stored object. If the response has no ETag, nothing was stored. */
const etagOf = ({ ETag }: { ETag?: string | undefined }): string => {
  if (!ETag) throw new BucketError('The endpoint is not an S3-compatible storage.', true)
  return ETag
}

/** Returns the MD5 digest, which the store compares with the received data. */
const digestOf = (body: Buffer) => createHash('md5').update(body).digest('base64')

export const openBucket = async (outbound: Outbound, options: BucketOptions): Promise<TenantBucket> => {
  const { bucket, region, endpoint, accessKeyId, secretAccessKey, encryption, quick } = options
  // The SDK is large, so it is only loaded when it is needed.
  const s3 = await import('@aws-sdk/client-s3')
  const client: Client = new s3.S3Client({
    region,
    credentials: { accessKeyId, secretAccessKey },
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    // Some compatible stores don't support newer checksums, but all compare Content-MD5.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // The environment may contain the operator's own storage endpoint, which must not be used for a tenant's bucket.
    ignoreConfiguredEndpointUrls: true,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    followRegionRedirects: false,
    useArnRegion: false,
    requestHandler: handlerOver(outbound, quick ? quickRequestMs : requestMs),
    ...(quick && { maxAttempts: 1 }),
  })
  const sealed = encryption === null ? {} : { ServerSideEncryption: encryption }

  const beginUpload = async (place: { Bucket: string; Key: string }, contentType: string): Promise<string> => {
    const upload = { ...place, ...sealed, ContentType: contentType }
    const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand(upload))
    if (!UploadId) throw new BucketError('The storage did not start the upload.', true)
    return UploadId
  }

  const putParts = async (
    place: { Bucket: string; Key: string },
    { stream, contentType, sha256 }: BucketFile,
    abortSignal: AbortSignal,
  ): Promise<void> => {
    const hash = createHash('sha256')
    const checkSource = () => {
      if (hash.digest('base64') !== sha256) throw new Error('The file differs from what was written.')
    }
    const etags: string[] = []
    let uploadId: string | undefined
    try {
      for await (const { body, isLast } of partsOf(stream, hash)) {
        // The SDK expects a handler to check the signal, but this one has its own timeout.
        abortSignal.throwIfAborted()
        if (isLast && uploadId === undefined) {
          checkSource()
          const whole = { ...place, ...sealed, ContentType: contentType, Body: body, ContentMD5: digestOf(body) }
          etagOf(await client.send(new s3.PutObjectCommand(whole)))
          return
        }
        uploadId ??= await beginUpload(place, contentType)
        const part = { ...place, UploadId: uploadId, PartNumber: etags.length + 1, Body: body }
        etags.push(etagOf(await client.send(new s3.UploadPartCommand({ ...part, ContentMD5: digestOf(body) }))))
      }
      checkSource()
      const parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }))
      const whole = { ...place, UploadId: uploadId, MultipartUpload: { Parts: parts } }
      await client.send(new s3.CompleteMultipartUploadCommand(whole))
    } catch (error) {
      if (uploadId !== undefined) {
        const abandoned = { ...place, UploadId: uploadId }
        await client.send(new s3.AbortMultipartUploadCommand(abandoned)).catch(() => undefined)
      }
      throw error
    }
  }

  const asBucketFault = async (work: Promise<unknown>): Promise<void> => {
    try {
      await work
    } catch (error) {
      throw toBucketError(error)
    }
  }

  return {
    put: (key, file, signal) => asBucketFault(putParts({ Bucket: bucket, Key: key }, file, signal)),
    delete: (key) => asBucketFault(client.send(new s3.DeleteObjectCommand({ Bucket: bucket, Key: key }))),
    close: () => client.destroy(),
  }
}
