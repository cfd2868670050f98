import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openStoreBucket } from '../../../test/s3.ts'
import { stubEnvironment } from '../../../test/s3-server.ts'
import { anyText } from '../../../test/text.ts'
import type { Config } from '../config.ts'
import { newId } from '../ids.ts'
import { type Blobs, openBlobs } from './blobs.ts'

const now = new Date()
const clock = { now: () => now }
const inMinutes = (minutes: number) => new Date(now.getTime() + minutes * 60_000)
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64')
const text = { contentType: 'text/csv; charset=utf-8' }

let folder: string
let s3: Awaited<ReturnType<typeof openStoreBucket>>
let blobs: Blobs
let key: string

const open = (storage: Config['storage']) =>
  openBlobs({
    config: { storage, dataDir: folder, s3Endpoint: s3.endpoint },
    baseUrl: () => 'http://127.0.0.1:4000',
    linkKey: Buffer.alloc(32, 1),
    clock,
  })

beforeAll(async () => {
  s3 = await openStoreBucket()
  stubEnvironment(s3)
  vi.stubEnv('AWS_REGION', undefined)
  vi.stubEnv('AWS_DEFAULT_REGION', undefined)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await s3.close()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-blobs-'))
  key = `${newId()}/exports/calls.csv`
})
afterEach(async () => {
  await blobs.close()
  await rm(folder, { recursive: true, force: true })
})

const keysOf = async (prefix: string) => {
  const found: string[] = []
  for await (const entry of blobs.list(prefix)) found.push(entry.key)
  return found.sort()
}

const read = async (range?: { start: number; end?: number }) => {
  const found = await blobs.get(key, range)
  return found && (await buffer(found.stream)).toString()
}

describe.each(['file', 's3'] as const)('%s', (kind) => {
  beforeEach(async () => {
    blobs = await open(kind === 'file' ? { kind, folder: undefined } : { kind, bucket: s3.bucket, prefix: newId() })
  })

  test.each([0, 1, 1_000, 70_000, 8 * 1024 * 1024, 19_000_001])('returns %i bytes unchanged', async (size) => {
    const bytes = randomBytes(size)
    const source = Readable.from(
      (function* () {
        for (let at = 0; at < size; at += 60_001) yield bytes.subarray(at, at + 60_001)
      })(),
    )
    expect(await blobs.put(key, source, text)).toEqual({ bytes: size, sha256: sha256(bytes) })
    const found = await blobs.get(key)
    expect(found).toMatchObject({ bytes: size, totalBytes: size, ...text })
    expect(found && (await buffer(found.stream)).equals(bytes)).toBe(true)
    expect(await blobs.head(key)).toMatchObject({ bytes: size, ...text })
    expect(await s3.countUploads()).toBe(0)
  })

  test('replaces bytes and content type together', async () => {
    await blobs.put(key, [Buffer.from('long old text')], text)
    await blobs.put(key, [Buffer.from('new')], { contentType: 'text/plain' })
    expect(await read()).toBe('new')
    const found = await blobs.head(key)
    expect(found).toMatchObject({ bytes: 3, contentType: 'text/plain' })
    expect(Math.abs((found?.modifiedAt.getTime() ?? 0) - Date.now())).toBeLessThan(60_000)
  })

  test('reads ranges with HTTP semantics', async () => {
    await blobs.put(key, [Buffer.from('0123456789')], text)
    expect(await read({ start: 0, end: 0 })).toBe('0')
    expect(await read({ start: 3, end: 5 })).toBe('345')
    expect(await read({ start: 7 })).toBe('789')
    expect(await read({ start: 9, end: 999 })).toBe('9')
    const found = await blobs.get(key, { start: 2, end: 4 })
    expect(found).toMatchObject({ bytes: 3, totalBytes: 10, ...text })
    found?.stream.destroy()
  })

  test('rejects ranges outside of the file and returns its size', async () => {
    await blobs.put(key, [Buffer.from('0123456789')], text)
    const refused = { kind: 'rangeNotSatisfiable', details: { totalBytes: 10 } }
    for (const range of [{ start: 10 }, { start: 99, end: 100 }, { start: 5, end: 4 }, { start: -1 }, { start: 0.5 }]) {
      await expect(blobs.get(key, range), JSON.stringify(range)).rejects.toMatchObject(refused)
    }
    await blobs.put(key, [], text)
    await expect(blobs.get(key, { start: 0 })).rejects.toMatchObject({ details: { totalBytes: 0 } })
  })

  test('returns undefined for a missing file', async () => {
    expect(await blobs.head(key)).toBeUndefined()
    expect(await blobs.get(key)).toBeUndefined()
    expect(await blobs.get(key, { start: 0, end: 1 })).toBeUndefined()
    expect(await blobs.get(key, { start: 5, end: 1 })).toBeUndefined()
  })

  test('deletes repeatedly', async () => {
    await blobs.put(key, [Buffer.from('x')], text)
    await blobs.delete(key)
    expect(await blobs.get(key)).toBeUndefined()
    await blobs.delete(key)
    await blobs.delete(`${newId()}/exports/never.csv`)
  })

  test('lists by prefix, over all pages', async () => {
    const [one, two] = [newId(), newId()].sort() as [string, string]
    const names = Array.from({ length: 8 }, (_, index) => `${one}/exports/${index}.csv`)
    for (const name of [...names, `${one}/exported/a`, `${two}/exports/0.csv`]) await blobs.put(name, [], text)
    expect(await keysOf('')).toEqual([...names, `${one}/exported/a`, `${two}/exports/0.csv`].sort())
    expect(await keysOf(`${one}/exports/`)).toEqual(names)
    expect(await keysOf(`${one}/export`)).toHaveLength(9)
    expect(await keysOf(`${two}/`)).toEqual([`${two}/exports/0.csv`])
    expect(await keysOf(newId())).toEqual([])
  })

  test.each([1, 9_000_000])('stores nothing if the limit is exceeded by a byte (%i bytes)', async (maxBytes) => {
    const source = Readable.from([Buffer.alloc(maxBytes), Buffer.alloc(1), Buffer.alloc(1)])
    const kept = blobs.put(key, source, { ...text, maxBytes })
    await expect(kept).rejects.toMatchObject({ kind: 'tooLarge' })
    expect(source.destroyed).toBe(true)
    expect(await blobs.head(key)).toBeUndefined()
    expect(await keysOf('')).toEqual([])
    expect(await s3.countUploads()).toBe(0)
    expect(await blobs.put(key, [Buffer.alloc(maxBytes)], { ...text, maxBytes })).toMatchObject({ bytes: maxBytes })
  })

  test.each([0, 100, 17_000_000])('keeps the former file if a source fails after %i bytes', async (sent) => {
    await blobs.put(key, [Buffer.from('before')], text)
    const failing = async function* () {
      yield Buffer.alloc(sent)
      throw new Error('the sender went away')
    }
    await expect(blobs.put(key, failing(), text)).rejects.toThrow('the sender went away')
    expect(await read()).toBe('before')
    expect(await s3.countUploads()).toBe(0)
  })

  test('stores nothing from an interrupted sender', async () => {
    const source = new Readable({ read() {} })
    source.push(Buffer.alloc(100_000))
    const kept = blobs.put(key, source, text)
    source.destroy()
    await expect(kept).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' })
    expect(await blobs.head(key)).toBeUndefined()
  })

  test('stores exactly one of concurrent puts', async () => {
    const bodies = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(50_000))
    await Promise.all(bodies.map((body) => blobs.put(key, [Buffer.from(body)], text)))
    expect(bodies).toContain(await read())
    expect(await keysOf('')).toEqual([key])
  })

  test('rejects every invalid key', async () => {
    const organization = newId()
    const forms = ['', '/', 'a', organization, `${organization}/a`, `${organization}/a/b/c`, `/${organization}/a/b`]
    const names = ['', '.', '..', '.hidden', 'a..b', 'A', 'ä', 'a b', 'a\\b', 'a%2fb', 'a\0', 'a\n', 'a'.repeat(201)]
    const wrong = [...forms, ...names.flatMap((name) => [`${organization}/${name}/b`, `${organization}/a/${name}`])]
    for (const bad of [...wrong, '../a/b', 'org/a/b', `${organization.toUpperCase()}/a/b`]) {
      await expect(blobs.put(bad, [], text), bad).rejects.toThrow(TypeError)
      await expect(blobs.get(bad), bad).rejects.toThrow(TypeError)
      await expect(blobs.head(bad), bad).rejects.toThrow(TypeError)
      await expect(blobs.delete(bad), bad).rejects.toThrow(TypeError)
      expect(() => blobs.permanentUrl(bad), bad).toThrow(TypeError)
    }
    for (const prefix of ['..', '/', 'a/../b', 'a//b', 'A', '\0'])
      await expect(keysOf(prefix)).rejects.toThrow(TypeError)
    await expect(blobs.put(key, [], { contentType: 'text/csv\r\nx: y' })).rejects.toThrow(TypeError)
    expect(await keysOf('')).toEqual([])
  })

  test('is ready, and leaves nothing from the check', async () => {
    await blobs.check()
    await blobs.check()
    expect(await keysOf('')).toEqual([])
    expect((await s3.listKeys()).filter((name) => name.includes('.check'))).toEqual([])
  })

  test('a permanent link on this service says what to serve', async () => {
    const url = blobs.permanentUrl(key)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:4000\/files\/[\w-]+$/)
    const reading = blobs.readLink(url.split('/').at(-1) ?? '')
    expect(reading).toEqual({ state: 'valid', payload: { key, expiresAt: null, disposition: 'inline' } })
  })

  test('creates no expired link', async () => {
    const link = { fileName: 'a.csv', disposition: 'inline', ...text } as const
    await expect(blobs.signedUrl(key, { ...link, expiresAt: now })).rejects.toMatchObject({ kind: 'gone' })
  })
})

test('a signed link to a local file works until it expires', async () => {
  blobs = await open({ kind: 'file', folder: undefined })
  const link = { expiresAt: inMinutes(15), fileName: 'Anrufe "März".csv', disposition: 'attachment', ...text } as const
  const url = await blobs.signedUrl(key, link)
  const token = url.split('/files/')[1] ?? ''
  const payload = { key, ...link, expiresAt: link.expiresAt.toISOString() }
  expect(blobs.readLink(token)).toEqual({ state: 'valid', payload })
  expect(blobs.readLink(`${token}x`)).toEqual({ state: 'invalid' })
  const later = await openBlobs({
    config: { storage: { kind: 'file', folder: undefined }, dataDir: folder, s3Endpoint: undefined },
    baseUrl: () => '',
    linkKey: Buffer.alloc(32, 1),
    clock: { now: () => inMinutes(15) },
  })
  expect(later.readLink(token)).toEqual({ state: 'expired' })
  await later.close()
})

describe('signed links to S3', () => {
  const link = { fileName: 'Anrufe "März" 100%.csv', disposition: 'attachment', contentType: 'text/plain' } as const

  beforeEach(async () => {
    blobs = await open({ kind: 's3', bucket: s3.bucket, prefix: 'a/b' })
    await blobs.put(key, [Buffer.from('0123456789')], text)
  })

  test('work without credentials, with the given name and type', async () => {
    const response = await fetch(await blobs.signedUrl(key, { ...link, expiresAt: inMinutes(15) }))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain')
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="Anrufe _M_rz_ 100_.csv"; filename*=UTF-8''Anrufe%20%22M%C3%A4rz%22%20100%25.csv`,
    )
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect(await response.text()).toBe('0123456789')
    expect(await s3.listKeys()).toContain(`a/b/${key}`)
  })

  test('serve ranges', async () => {
    const url = await blobs.signedUrl(key, { ...link, expiresAt: inMinutes(15) })
    const response = await fetch(url, { headers: { range: 'bytes=2-4' } })
    expect([response.status, await response.text()]).toEqual([206, '234'])
  })

  test('fail if they are modified or expire later than S3 allows', async () => {
    const url = await blobs.signedUrl(key, { ...link, expiresAt: inMinutes(60 * 24 * 30) })
    expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('604800')
    expect((await fetch(url)).status).toBe(200)
    const other = new URL(url)
    other.searchParams.set('response-content-type', 'text/html')
    expect((await fetch(other)).status).toBe(403)
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403)
    expect((await fetch(url.replace('604800', '604799'))).status).toBe(403)
    // Swift returns 400 for an unsigned request.
    expect([400, 403]).toContain((await fetch(url.split('?')[0] ?? '')).status)
  })

  test('names can contain any character', async () => {
    await fc.assert(
      fc.asyncProperty(anyText({ minLength: 1 }), async (fileName) => {
        const response = await fetch(await blobs.signedUrl(key, { ...link, fileName, expiresAt: inMinutes(15) }))
        expect(response.status).toBe(200)
        await response.arrayBuffer()
        const encoded = /filename\*=UTF-8''(.*)$/.exec(response.headers.get('content-disposition') ?? '')?.[1]
        expect(decodeURIComponent(encoded ?? '')).toBe(fileName.toWellFormed())
      }),
      { numRuns: 50 },
    )
  })
})
