import { createHash } from 'node:crypto'
import { afterAll, expect, it, vi } from 'vitest'
import { startS3Server, stubEnvironment } from '../../test/s3-server.ts'
import { testServer } from '../../test/server.ts'
import { exportsOf } from '../../test/support/exports/exports.ts'
import { jobList } from '../worker.ts'

/** Tests exports in a bucket. The generating process writes the file there, and downloads come from there. */

const s3 = await startS3Server()
stubEnvironment(s3)
afterAll(async () => {
  await s3.close()
  vi.unstubAllEnvs()
})

const server = await testServer({ EARSHOT_STORAGE: `s3://${s3.bucket}/files`, EARSHOT_S3_ENDPOINT: s3.endpoint })
const { makeCalls, ask, read, download } = exportsOf(server)

it('an export is downloaded from a signed URL of the bucket, and deleted from it', async () => {
  const { key, config } = await makeCalls(3)
  const { body } = await ask(key, config)
  await server.drain()
  const manifest = await read(key, body.id)
  expect(manifest).toMatchObject({ status: 'completed', rowCount: 3 })
  const { status, headers } = await download(key, body.id)
  expect(status).toBe(302)
  const location = new URL(headers.get('location') ?? '')
  expect(location.origin).toBe(new URL(s3.endpoint).origin)
  expect(Number(location.searchParams.get('X-Amz-Expires'))).toBeLessThanOrEqual(900)
  const file = await fetch(location)
  expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename="earshot-calls-from-2026-11-01-/)
  const bytes = Buffer.from(await file.arrayBuffer())
  expect(bytes.length).toBe(manifest.bytes)
  expect(headers.get('x-file-digest')).toBe(`sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`)
  location.searchParams.set('X-Amz-Expires', '86400')
  expect((await fetch(location)).status).toBe(403)
  await server.call('DELETE', `/v1/monitor-exports/${body.id}`, { key })
  await server.drain()
  expect([...s3.objects.keys()]).toEqual([])
})

it('a bucket that rejects requests is reported: on creation, generation, and download', async () => {
  const { key, config } = await makeCalls(1)
  const { body: before } = await ask(key, config)
  await server.drain()
  const { body: waiting } = await ask(key, config)
  s3.state.fault = () => 'AccessDenied'
  expect(await ask(key, config)).toMatchObject({ status: 503, body: { error: 'temporarily unavailable' } })
  expect(await download(key, before.id)).toMatchObject({ status: 503 })
  await server.deps.jobs.drain(jobList, server.deps, { delayed: true, allowFailures: true })
  expect(await read(key, waiting.id)).toMatchObject({ status: 'failed', errorCode: 'storage_unavailable' })
  s3.state.fault = () => undefined
  expect((await download(key, before.id)).status).toBe(302)
})
