import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type S3Server, startS3Server, stubEnvironment } from '../../../test/s3-server.ts'
import { systemClock } from '../clock.ts'
import { newId } from '../ids.ts'
import { trust } from '../sweeps.ts'
import { openS3Store } from './s3.ts'
import type { LinkingStore } from './store.ts'

const key = `${newId()}/recordings/call.wav`
const wav = { contentType: 'audio/wav' }
const unavailable = { kind: 'unavailable', status: 503 }

let server: S3Server
let store: LinkingStore

const open = (bucket = server.bucket) =>
  openS3Store({ bucket, prefix: 'p', endpoint: server.endpoint, clock: systemClock, sweeps: trust(systemClock) })

beforeEach(async () => {
  server = await startS3Server()
  stubEnvironment(server)
  store = await open()
})
afterEach(async () => {
  await store.close()
  await server.close()
  vi.unstubAllEnvs()
})

const usesOf = (store: LinkingStore) => [
  () => store.put(key, [Buffer.from('x')], wav),
  () => store.get(key),
  () => store.get(key, { start: 0, end: 1 }),
  () => store.head(key),
  () => store.delete(key),
  () => store.list('')[Symbol.asyncIterator]().next(),
  () => store.check(),
]

describe('a store that', () => {
  test('fails temporarily is retried', async () => {
    let failures = 1
    server.state.fault = () => (failures-- > 0 ? 'SlowDown' : undefined)
    expect(await store.put(key, [Buffer.from('x')], wav)).toMatchObject({ bytes: 1 })
  })

  test('keeps failing is unavailable', async () => {
    server.state.fault = () => 'SlowDown'
    const refusals = usesOf(store).map((use) => expect(use(), String(use)).rejects.toMatchObject(unavailable))
    await Promise.all(refusals)
  })

  test('rejects the credentials is unavailable, with the reason only in the cause', async () => {
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'another')
    const stranger = await open()
    for (const use of usesOf(stranger)) await expect(use(), String(use)).rejects.toMatchObject(unavailable)
    const refusal = await stranger.get(key).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ cause: { name: 'SignatureDoesNotMatch' } })
    expect(JSON.stringify((refusal as { body: unknown }).body)).not.toContain('Signature')
    await stranger.close()
  })

  test('does not have the bucket is unavailable, not empty', async () => {
    const lost = await open('another-bucket')
    for (const use of [...usesOf(lost).slice(0, 3), ...usesOf(lost).slice(4)]) {
      await expect(use(), String(use)).rejects.toMatchObject(unavailable)
    }
    await lost.close()
  })

  test('is unreachable is unavailable', async () => {
    await server.close()
    for (const use of usesOf(store)) await expect(use(), String(use)).rejects.toMatchObject(unavailable)
    server = await startS3Server()
  })

  test('rejects the service is detected by the next check', async () => {
    await store.check()
    server.state.fault = (request) => (request.startsWith('HEAD') ? 'AccessDenied' : undefined)
    await expect(store.check()).rejects.toMatchObject(unavailable)
  })

  test('loses a part has the whole upload aborted', async () => {
    server.state.fault = (request) =>
      request.startsWith('PUT') && server.uploads.size > 0 ? 'AccessDenied' : undefined
    await expect(store.put(key, Array(3).fill(Buffer.alloc(8_000_000)), wav)).rejects.toMatchObject(unavailable)
    expect([server.uploads.size, server.objects.size]).toEqual([0, 0])
  })
})

test('every request is signed, including its body', async () => {
  const response = await fetch(`${server.endpoint}/${server.bucket}/p/${key}`, { method: 'PUT', body: 'x' })
  expect(response.status).toBe(403)
  await store.put(key, Array(3).fill(Buffer.alloc(8_000_000)), wav)
  expect(server.requests.filter((request) => request.startsWith('PUT'))).toHaveLength(4)
  expect(server.objects.get(`p/${key}`)?.body).toHaveLength(24_000_000)
})

test('uploads of dead processes are aborted, others are not', async () => {
  const day = 86_400_000
  const upload = (name: string, ageMs: number) => {
    server.uploads.set(newId(), { key: name, ...wav, startedAt: new Date(Date.now() - ageMs), parts: new Map() })
  }
  upload(`p/${key}`, day + 60_000)
  upload(`p/${key}`, day - 60_000)
  upload('p/of-another-program', 9 * day)
  upload(`q/${key}`, 9 * day)
  const opened = await open()
  await expect.poll(() => server.uploads.size).toBe(3)
  await opened.close()
})

test('the SDK is only loaded if needed', async () => {
  const program = (storage: string) => `
    import { openBlobs } from ${JSON.stringify(new URL('./blobs.ts', import.meta.url).href)}
    import { registerHooks } from 'node:module'
    let loaded = 0
    registerHooks({ load: (url, context, next) => { loaded += url.includes('@aws-sdk') ? 1 : 0; return next(url, context) } })
    const { tmpdir } = await import('node:os')
    const { mkdtemp, rm } = await import('node:fs/promises')
    const dataDir = await mkdtemp(tmpdir() + '/earshot-lazy-')
    const blobs = await openBlobs({ config: { storage: ${storage}, dataDir, s3Endpoint: 'http://127.0.0.1:9' }, baseUrl: () => '', linkKey: Buffer.alloc(32) })
    await blobs.close()
    await rm(dataDir, { recursive: true })
    console.log(loaded > 0)`
  const run = async (storage: string) =>
    (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program(storage)])).stdout.trim()
  expect(await run(`{ kind: 'file', folder: undefined }`)).toBe('false')
  expect(await run(`{ kind: 's3', bucket: 'bucket', prefix: '' }`)).toBe('true')
})
