import { createHash } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openBucket } from './bucket.ts'
import { openOutbound } from './outbound.ts'

const content = Buffer.from('a,b\r\n')
const file = (sha256 = createHash('sha256').update(content).digest('base64')) => ({
  stream: (async function* () {
    yield content
  })(),
  contentType: 'text/csv',
  sha256,
})

const options = { bucket: 'acme-exports', accessKeyId: 'AKIATEST', secretAccessKey: 'secret', encryption: null }

/** A bucket whose requests are noted and answered with success. */
const open = async (region: string, endpoint: string | null = null) => {
  const outbound = openOutbound({ allowedPrivateAddresses: [] })
  onTestFinished(outbound.close)
  const asked: { url: string; headers: Record<string, string> | undefined; httpsOnly: boolean | undefined }[] = []
  const noting: typeof outbound = {
    ...outbound,
    request: async (url, { headers, httpsOnly }) => {
      asked.push({ url: String(url), headers, httpsOnly })
      return { status: 200, headers: {}, body: Buffer.alloc(0) }
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
])('in %s at %s is where its tenant says, whatever the environment of the service', async (region, endpoint, at) => {
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://10.1.1.1:9000')
  vi.stubEnv('AWS_USE_DUALSTACK_ENDPOINT', 'true')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { bucket, asked } = await open(region, endpoint)
  await bucket.put("dt=1/it's.csv", file(), new AbortController().signal)
  expect(asked.map(({ url }) => url.replace(/\?.*/, ''))).toEqual([`${at}dt%3D1/it%27s.csv`])
  expect(asked[0]).toMatchObject({
    httpsOnly: true,
    headers: {
      authorization: expect.stringContaining('AKIATEST'),
      'content-md5': createHash('md5').update(content).digest('base64'),
    },
  })
  expect(JSON.stringify(asked)).not.toContain('secret')
})

test('a file that is not what was written is not sent', async () => {
  const { bucket, asked } = await open('eu-central-1')
  await expect(bucket.put('a.csv', file('another'), new AbortController().signal)).rejects.toThrow(
    'not what was written',
  )
  expect(asked).toEqual([])
})

test('a private address is refused when it is connected to', async () => {
  const outbound = openOutbound({
    allowedPrivateAddresses: [],
    resolve: async () => [{ address: '169.254.169.254', family: 4 }],
  })
  onTestFinished(outbound.close)
  const endpoint = 'https://storage.example.com'
  const bucket = await openBucket(outbound, { ...options, region: 'auto', endpoint, quick: true })
  await expect(bucket.put('a.csv', file(), new AbortController().signal)).rejects.toMatchObject({
    ...{ name: 'BucketError', isFinal: true },
    message: expect.stringContaining('storage.example.com is not at a public address'),
  })
})
