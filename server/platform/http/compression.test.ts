import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { makeCompany, makeOrganization } from '../../../test/make.ts'
import { openConnection, type RawAnswer } from '../../../test/raw-http.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
const { key } = await makeOrganization(server)
for (let made = 0; made < 10; made++) await makeCompany(server, key, `Company ${made}`)

/** Returns the response as bytes, because client libraries decompress automatically. */
const get = async (path: string, headers: Record<string, string> = {}): Promise<RawAnswer> => {
  const connection = openConnection(server.deps.listening.port)
  try {
    const lines = Object.entries({ host: 'localhost', authorization: `Bearer ${key}`, ...headers })
    const [answer] = await connection.exchange(
      `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    )
    if (!answer) throw new Error('no answer')
    return answer
  } finally {
    connection.close()
  }
}

const unpackers: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync }

it.each(['/v1/companies', '/openapi.json', '/docs', '/docs/reference/openapi.json', '/docs/guide/start'])(
  '%s is compressed if the client accepts that',
  async (path) => {
    const plain = await get(path)
    expect(plain.status).toBe(200)
    expect(plain.headers.has('content-encoding')).toBe(false)
    expect(plain.headers.get('vary')).toBe('accept-encoding')
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
    ] as const) {
      const { headers, body } = await get(path, { 'accept-encoding': accepted })
      expect(headers.get('content-encoding')).toBe(encoding)
      expect(headers.get('vary')).toBe('accept-encoding')
      expect(body.length).toBeLessThan(plain.body.length / 2)
      expect(unpackers[encoding]?.(body).equals(plain.body)).toBe(true)
    }
    for (const accepted of ['identity', 'br;q=0', 'deflate']) {
      expect((await get(path, { 'accept-encoding': accepted })).headers.has('content-encoding')).toBe(false)
    }
  },
)

it('a short response is sent uncompressed', async () => {
  const { headers } = await get('/v1/companies?limit=1', { 'accept-encoding': 'br, gzip' })
  expect(headers.has('content-encoding')).toBe(false)
})

it.each(['/openapi.json', '/docs'])('%s is only sent again if it changed', async (path) => {
  for (const accepted of ['identity', 'gzip', 'br']) {
    const { headers } = await get(path, { 'accept-encoding': accepted })
    const etag = headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]+"$/)
    const again = await get(path, { 'accept-encoding': accepted, 'if-none-match': etag })
    expect(again.status).toBe(304)
    expect(again.body.length).toBe(0)
  }
})
