// A tenant's own S3-compatible bucket: reached as every address of a tenant is, written to and nothing else.
import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { S3Client as Client } from '@aws-sdk/client-s3'
import { OutboundError } from './errors.ts'
import type { Outbound } from './outbound.ts'
import type { OutboundRequest } from './request.ts'

export type BucketOptions = {
  bucket: string
  region: string
  /** Null is the region's own of AWS. */
  endpoint: string | null
  accessKeyId: string
  secretAccessKey: string
  encryption: 'AES256' | 'aws:kms' | null
  /** Somebody waits: one try, and not for long. */
  quick?: true
}

export type BucketFile = {
  stream: AsyncIterable<Uint8Array>
  contentType: string
  /** In base64. A source that turns out to be something else leaves no object. */
  sha256: string
}

export type TenantBucket = {
  /** Replaces what was there at one stroke. */
  put: (key: string, file: BucketFile, signal: AbortSignal) => Promise<void>
  delete: (key: string) => Promise<void>
  close: () => void
}

/** What went wrong, in words for the tenant: no text of the other side, which may hold anything. */
export class BucketError extends Error {
  /** Whether it would be the same again until somebody changes something. */
  readonly isFinal: boolean

  constructor(message: string, isFinal: boolean) {
    super(message)
    this.name = 'BucketError'
    this.isFinal = isFinal
  }
}

/** Two are held in memory at a time; 10,000 parts make 80 GiB. */
const partBytes = 8 * 1024 * 1024
const requestMs = 120_000
/** A bucket that hangs or trickles holds a place of its organization no longer than it must. */
const minimumRate = { bytesPerSecond: 64 * 1024, longestWaitMs: 30_000 }
/** Stores put the parts together before they answer, some of them with a blank now and then. */
const assemblyRate = { bytesPerSecond: 1, longestWaitMs: 60_000 }
const quickRequestMs = 10_000
const maxAnswerBytes = 1024 * 1024

/** What the SDK hands to whoever sends its requests; each of its bodies here is whole. */
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
  // As the signature spells it, which leaves fewer characters alone than URLs do.
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

/** The SDK's way to the network: our client for given addresses, with its checks at each connection. */
const handlerOver = ({ request }: Pick<Outbound, 'request'>, timeoutMs: number) => ({
  metadata: { handlerProtocol: 'http/1.1' },
  httpHandlerConfigs: () => ({}),
  updateHttpClientConfig: () => {},
  destroy: () => {},
  handle: async ({ protocol, hostname, port, path, query = {}, method, headers, body }: SdkRequest) => {
    const url = `${protocol}//${hostname}${port ? `:${port}` : ''}${path}${queryOf(query)}`
    const sent = bodyOf(body)
    const answer = await request(url, {
      // The methods of the few commands below.
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

/** Refusals that another try may not meet: also of an upload whose end was answered, and the answer lost. */
const passing = new Set(['BadDigest', 'RequestTimeout', 'OperationAborted', 'TemporaryRedirect', 'NoSuchUpload'])

const toBucketError = (error: unknown): BucketError => {
  if (error instanceof BucketError) return error
  if (error instanceof OutboundError) return new BucketError(error.message, error.reason === 'forbidden_address')
  if (!(error instanceof Error) || !('$metadata' in error)) throw error
  // What the SDK puts on each of its errors.
  const { httpStatusCode: status } = error.$metadata as { httpStatusCode?: number }
  if (status === undefined) throw error
  const name = /^[A-Za-z0-9]{1,60}$/.test(error.name) ? error.name : 'Error'
  const known = Object.hasOwn(reasons, name) ? reasons[name] : undefined
  const text = known ?? `The storage returned status ${status} (${name}).`
  const passes = passing.has(name) || status === 408 || status === 429 || status >= 500
  return new BucketError(text, !passes)
}

/** Its bytes in parts of one size, the last one smaller; at least one. */
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

/** Of what was stored. Whoever answers without one has stored nothing. */
const etagOf = ({ ETag }: { ETag?: string | undefined }): string => {
  if (!ETag) throw new BucketError('The endpoint is not an S3-compatible storage.', true)
  return ETag
}

/** The store compares what arrives with it, and refuses what differs. */
const digestOf = (body: Buffer) => createHash('md5').update(body).digest('base64')

export const openBucket = async (outbound: Outbound, options: BucketOptions): Promise<TenantBucket> => {
  const { bucket, region, endpoint, accessKeyId, secretAccessKey, encryption, quick } = options
  // The SDK is large: only who uses it loads it.
  const s3 = await import('@aws-sdk/client-s3')
  const client: Client = new s3.S3Client({
    region,
    credentials: { accessKeyId, secretAccessKey },
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    // Newer checksums are not understood by all compatible stores; all compare Content-MD5.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Where the operator's own storage is, which the environment may say, is nothing to a tenant's bucket.
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
        // The SDK asks a handler to look at the signal; ours has a deadline of its own.
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
