// Runs an S3-compatible in-memory store for tests, which is as strict as the real one about signatures, parts, and
// ranges.
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { vi } from 'vitest'
import { faultOfSignature, type S3Credentials } from './s3-signature.ts'

type StoredObject = { body: Buffer; contentType: string; modifiedAt: Date }
type OpenUpload = { key: string; contentType: string; startedAt: Date; parts: Map<number, Buffer> }
type Answer = { status: number; headers?: Record<string, string | number>; body?: Buffer | string }

const statuses: Record<string, number> = {
  NoSuchKey: 404,
  NoSuchBucket: 404,
  NoSuchUpload: 404,
  InvalidRange: 416,
  InvalidPart: 400,
  EntityTooSmall: 400,
  SlowDown: 503,
  NotImplemented: 501,
}

const failure = (code: string): Answer => ({
  status: statuses[code] ?? 403,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
})

const xml = (root: string, content: string): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0"?><${root}>${content}</${root}>`,
})

const etag = (body: Buffer) => `"${createHash('md5').update(body).digest('hex')}"`
const minPartBytes = 5 * 1024 * 1024

/** Returns the environment of a service with these credentials, and without this machine's. */
export const environmentOf = ({ accessKeyId, secretAccessKey, region }: S3Credentials): Record<string, string> => ({
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
  AWS_REGION: region,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
})

export const startS3Server = async ({ bucket = 'earshot-test', pageSize = 3 } = {}) => {
  const credentials: S3Credentials = {
    accessKeyId: 'AKIATEST',
    secretAccessKey: randomUUID(),
    region: 'us-east-1',
  }
  const objects = new Map<string, StoredObject>()
  const uploads = new Map<string, OpenUpload>()
  /** Every received request, such as `PUT /key?partNumber`, without the values of the query. */
  const requests: string[] = []
  const state = {
    /** Returns the error code to respond with before the request has any effect. Tests replace this function. */
    fault: (_request: string): string | undefined => undefined,
  }

  const read = (request: IncomingMessage, key: string, query: URLSearchParams): Answer => {
    const found = objects.get(key)
    if (!found) return failure('NoSuchKey')
    const headers: Record<string, string | number> = {
      'content-type': query.get('response-content-type') ?? found.contentType,
      'last-modified': found.modifiedAt.toUTCString(),
      'accept-ranges': 'bytes',
      etag: etag(found.body),
    }
    const disposition = query.get('response-content-disposition')
    if (disposition) headers['content-disposition'] = disposition
    const cacheControl = query.get('response-cache-control')
    if (cacheControl) headers['cache-control'] = cacheControl
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
    if (first === undefined) return { status: 200, headers, body: found.body }
    const start = Number(first)
    const end = Math.min(last ? Number(last) : found.body.length - 1, found.body.length - 1)
    if (start >= found.body.length) return failure('InvalidRange')
    headers['content-range'] = `bytes ${start}-${end}/${found.body.length}`
    return { status: 206, headers, body: found.body.subarray(start, end + 1) }
  }

  const list = (query: URLSearchParams): Answer => {
    const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '')).sort()
    const from = Number(query.get('continuation-token') ?? 0)
    const page = keys.slice(from, from + pageSize)
    const more = from + pageSize < keys.length
    const contents = page.map((key) => {
      const { body, modifiedAt } = objects.get(key) as StoredObject
      return `<Contents><Key>${key}</Key><LastModified>${modifiedAt.toISOString()}</LastModified><Size>${body.length}</Size></Contents>`
    })
    const token = more ? `<NextContinuationToken>${from + pageSize}</NextContinuationToken>` : ''
    return xml('ListBucketResult', `<IsTruncated>${more}</IsTruncated>${token}${contents.join('')}`)
  }

  const listUploads = (query: URLSearchParams): Answer => {
    const found = [...uploads].filter(([, { key }]) => key.startsWith(query.get('prefix') ?? ''))
    const entries = found.map(
      ([id, { key, startedAt }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${startedAt.toISOString()}</Initiated></Upload>`,
    )
    return xml('ListMultipartUploadsResult', `<IsTruncated>false</IsTruncated>${entries.join('')}`)
  }

  const complete = (id: string, upload: OpenUpload, body: Buffer): Answer => {
    const asked = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
      number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
      etag: /<ETag>(.*?)</.exec(part)?.[1]?.replaceAll('&quot;', '"'),
    }))
    const parts = asked.map((part) => ({ ...part, body: upload.parts.get(part.number) }))
    const bodies = parts.flatMap((part) => (part.body && etag(part.body) === part.etag ? [part.body] : []))
    if (bodies.length === 0 || bodies.length !== asked.length) return failure('InvalidPart')
    if (bodies.slice(0, -1).some((part) => part.length < minPartBytes)) return failure('EntityTooSmall')
    uploads.delete(id)
    objects.set(upload.key, { body: Buffer.concat(bodies), contentType: upload.contentType, modifiedAt: new Date() })
    return xml('CompleteMultipartUploadResult', `<Key>${upload.key}</Key><ETag>"done"</ETag>`)
  }

  const answerUpload = (method: string, id: string, query: URLSearchParams, body: Buffer): Answer => {
    const upload = uploads.get(id)
    if (!upload) return failure('NoSuchUpload')
    if (method === 'POST') return complete(id, upload, body)
    if (method === 'DELETE') {
      uploads.delete(id)
      return { status: 204 }
    }
    upload.parts.set(Number(query.get('partNumber')), body)
    return { status: 200, headers: { etag: etag(body) } }
  }

  const answer = (request: IncomingMessage, key: string, query: URLSearchParams, body: Buffer): Answer => {
    const { method = '' } = request
    const contentType = request.headers['content-type'] ?? 'binary/octet-stream'
    if (key === '') return answerBucket(method, query)
    const uploadId = query.get('uploadId')
    if (uploadId) return answerUpload(method, uploadId, query, body)
    if (method === 'POST' && query.has('uploads')) return beginUpload(key, contentType)
    if (method === 'GET' || method === 'HEAD') return read(request, key, query)
    if (method === 'DELETE') {
      objects.delete(key)
      return { status: 204 }
    }
    if (method !== 'PUT') return failure('NotImplemented')
    objects.set(key, { body, contentType, modifiedAt: new Date() })
    return { status: 200, headers: { etag: etag(body) } }
  }

  const answerBucket = (method: string, query: URLSearchParams): Answer => {
    if (method === 'HEAD') return { status: 200 }
    if (method === 'GET' && query.has('uploads')) return listUploads(query)
    return method === 'GET' && query.get('list-type') === '2' ? list(query) : failure('NotImplemented')
  }

  const beginUpload = (key: string, contentType: string): Answer => {
    const id = randomUUID()
    uploads.set(id, { key, contentType, startedAt: new Date(), parts: new Map() })
    return xml('InitiateMultipartUploadResult', `<UploadId>${id}</UploadId>`)
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray())
    const url = new URL(request.url ?? '', 'http://store')
    const [, asked, ...rest] = url.pathname.split('/').map(decodeURIComponent)
    const key = rest.join('/')
    const line = `${request.method} /${key}?${[...url.searchParams.keys()].filter((name) => !/^x-/i.test(name)).join('&')}`
    requests.push(line)
    const fault =
      state.fault(line) ??
      faultOfSignature(request, url, body, credentials) ??
      (asked === bucket ? undefined : 'NoSuchBucket')
    const {
      status,
      headers,
      body: content = '',
    } = fault ? failure(fault) : answer(request, key, url.searchParams, body)
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(content) })
    response.end(request.method === 'HEAD' ? undefined : content)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    credentials,
    environment: environmentOf(credentials),
    objects,
    uploads,
    requests,
    state,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type S3Server = Awaited<ReturnType<typeof startS3Server>>

/** Sets the environment for a client in this process, until `vi.unstubAllEnvs` is called. */
export const stubEnvironment = ({ environment }: Pick<S3Server, 'environment'>): void => {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  vi.stubEnv('AWS_SESSION_TOKEN', undefined)
}
