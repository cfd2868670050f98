import { createHash } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openBucket } from './bucket.ts'
import { openOutbound } from './outbound.ts'
import type { OutboundRequest } from './request.ts'

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64')
const content = Buffer.from('a,b\r\n')
const file = (bytes = content, sha256 = digest(bytes)) => ({
  stream: (async function* () {
    yield bytes
  })(),
  contentType: 'text/csv',
  sha256,
})

const options = { bucket: 'acme-exports', accessKeyId: 'AKIATEST', secretAccessKey: 'secret', encryption: null }

type Answer = { status: number; headers?: Record<string, string>; body?: string }
const stored: Answer = { status: 200, headers: { etag: '"1"' } }

/** Opens a bucket that records requests and responds to them, by default with success. */
const open = async (
  region: string,
  endpoint: string | null = null,
  answer: (line: string) => Answer = () => stored,
) => {
  const outbound = openOutbound({ allowedPrivateAddresses: [] })
  onTestFinished(outbound.close)
  const asked: (Pick<OutboundRequest, 'headers' | 'plainHttp' | 'minimumRate'> & { url: string })[] = []
  const noting: typeof outbound = {
    ...outbound,
    request: async (url, { method, headers = {}, plainHttp, minimumRate }) => {
      asked.push({ url: String(url), headers, ...(plainHttp && { plainHttp }), ...(minimumRate && { minimumRate }) })
      const { status, headers: answered = {}, body = '' } = answer(`${method} ${url}`)
      return { status, headers: answered, body: Buffer.from(body) }
    },
  }
  const bucket = await openBucket(noting, { ...options, region, endpoint })
  onTestFinished(bucket.close)
  return { bucket, asked }
}

test.each([
  ['eu-central-1', null, 'https://acme-exports.s3.eu-central-1.amazonaws.com/'],
  ['cn-north-1', null, 'https://acme-exports.s3.cn-north-1.amazonaws.com.cn/'],
  ['auto', 'https://storage.example.com:8443', 'https://storage.example.com:8443/acme-exports/'],
])(
  'in %s at %s is where its tenant configured it, whatever the environment of the service',
  async (region, endpoint, at) => {
    vi.stubEnv('AWS_ENDPOINT_URL', 'http://10.1.1.1:9000')
    vi.stubEnv('AWS_USE_DUALSTACK_ENDPOINT', 'true')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { bucket, asked } = await open(region, endpoint)
    await bucket.put("dt=1/it's.csv", file(), new AbortController().signal)
    expect(asked.map(({ url }) => url.replace(/\?.*/, ''))).toEqual([`${at}dt%3D1/it%27s.csv`])
    expect(asked[0]).toMatchObject({
      plainHttp: 'allowed networks',
      headers: {
        authorization: expect.stringContaining('AKIATEST'),
        'content-md5': createHash('md5').update(content).digest('base64'),
      },
    })
    expect(JSON.stringify(asked)).not.toContain('secret')
  },
)

test('a file that differs from what was written is not sent', async () => {
  const { bucket, asked } = await open('eu-central-1')
  await expect(bucket.put('a.csv', file(content, 'another'), new AbortController().signal)).rejects.toThrow(
    'differs from what was written',
  )
  expect(asked).toEqual([])
})

test('a bucket that hangs or trickles is given up, sooner than one that assembles parts', async () => {
  const begun = '<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>'
  const ended = '<CompleteMultipartUploadResult><ETag>1</ETag></CompleteMultipartUploadResult>'
  const { bucket, asked } = await open('eu-central-1', null, (line) =>
    line.startsWith('POST') ? { ...stored, body: line.includes('uploads') ? begun : ended } : stored,
  )
  await bucket.put('a.csv', file(Buffer.alloc(9 * 1024 * 1024)), new AbortController().signal)
  await bucket.delete('a.csv')
  expect(asked.map(({ minimumRate }) => minimumRate?.longestWaitMs)).toEqual([30_000, 30_000, 30_000, 60_000, 30_000])
})

test('a private address is rejected on connection', async () => {
  const outbound = openOutbound({
    allowedPrivateAddresses: [],
    resolve: async () => [{ address: '169.254.169.254', family: 4 }],
  })
  onTestFinished(outbound.close)
  const endpoint = 'https://storage.example.com'
  const bucket = await openBucket(outbound, { ...options, region: 'auto', endpoint, quick: true })
  await expect(bucket.put('a.csv', file(), new AbortController().signal)).rejects.toMatchObject({
    name: 'BucketError',
    isFinal: true,
    message: expect.stringContaining('storage.example.com does not have a public address'),
  })
})

const coded = (status: number, code: string): Answer => ({
  status,
  body: `<Error><Code>${code}</Code><Message>what it says</Message></Error>`,
})
const entities = Array.from({ length: 12 }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`).join('')
const bomb = `<!DOCTYPE a [<!ENTITY e0 "aaaaaaaaaa">${entities}]><Error><Code>&e12;</Code></Error>`

test.each<[string, string, Answer, { isFinal: boolean; message: string }]>([
  [
    'POST uploads',
    'is of another region',
    coded(301, 'PermanentRedirect'),
    { isFinal: true, message: 'another region' },
  ],
  ['POST uploads', 'is new', coded(307, 'TemporaryRedirect'), { isFinal: false, message: '307 (TemporaryRedirect)' }],
  [
    'POST uploads',
    'is none',
    { status: 200, body: '<html></html>' },
    { isFinal: true, message: 'did not start the upload' },
  ],
  [
    'PUT partNumber',
    'is none',
    { status: 200, body: '<html></html>' },
    { isFinal: true, message: 'not an S3-compatible storage' },
  ],
  ['PUT partNumber', 'was too slow', coded(400, 'RequestTimeout'), { isFinal: false, message: 'RequestTimeout' }],
  ['PUT partNumber', 'sends a bomb', { status: 403, body: bomb }, { isFinal: true, message: 'status 403 (Error)' }],
  ['PUT partNumber', 'sends odd names', coded(403, 'constructor'), { isFinal: true, message: '403 (constructor)' }],
  // The response to the first request was lost, and the upload is already complete.
  ['POST uploadId', 'was done before', coded(404, 'NoSuchUpload'), { isFinal: false, message: 'NoSuchUpload' }],
  ['POST uploadId', 'is busy', coded(409, 'OperationAborted'), { isFinal: false, message: 'OperationAborted' }],
  ['POST uploadId', 'fails late', coded(200, 'InternalError'), { isFinal: false, message: 'InternalError' }],
])('%s that %s is reported in words, and as temporary or permanent', async (step, _what, answer, expected) => {
  const begun = {
    ...stored,
    body: '<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>',
  }
  const [method = '', part = ''] = step.split(' ')
  const { bucket } = await open('eu-central-1', null, (line) => {
    if (line.startsWith(method) && line.includes(part)) return answer
    return line.includes('uploads') ? begun : stored
  })
  const large = Buffer.alloc(9 * 1024 * 1024)
  await expect(bucket.put('a.csv', file(large), new AbortController().signal)).rejects.toMatchObject({
    name: 'BucketError',
    isFinal: expected.isFinal,
    message: expect.stringContaining(expected.message),
  })
})
