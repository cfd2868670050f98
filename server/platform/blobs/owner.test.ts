import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { startS3Server, stubEnvironment } from '../../../test/s3-server.ts'
import { testServer } from '../../../test/server.ts'
import { sweepLogos } from '../../companies/jobs.ts'
import { systemClock } from '../clock.ts'
import { openStore } from './blobs.ts'
import { claimStore } from './owner.ts'
import type { BlobStore } from './store.ts'

const folder = await mkdtemp(join(tmpdir(), 'earshot-owner-'))
const s3 = await startS3Server()
stubEnvironment(s3)
afterAll(async () => {
  vi.unstubAllEnvs()
  await s3.close()
  await rm(folder, { recursive: true, force: true })
})

const [one, other] = [crypto.randomUUID(), crypto.randomUUID()]
const markOf = (id: string) => `00000000-0000-0000-0000-000000000000/owner/${id}`

describe.each(['file', 's3'] as const)('a store in %s', (kind) => {
  let store: BlobStore
  beforeEach(async () => {
    const storage =
      kind === 'file'
        ? ({ kind, folder: join(folder, crypto.randomUUID()) } as const)
        : { kind, bucket: s3.bucket, prefix: crypto.randomUUID() }
    const opened = await openStore({ storage, dataDir: folder, s3Endpoint: s3.endpoint }, systemClock)
    store = opened
    return () => opened.close()
  })

  it('belongs to the database that claims it first, until someone transfers it', async () => {
    expect(await claimStore(store, one)).toEqual([])
    expect(await claimStore(store, one)).toEqual([])
    expect(await claimStore(store, other)).toEqual([markOf(one)])
    await store.delete(markOf(one))
    expect(await claimStore(store, other)).toEqual([])
    expect(await claimStore(store, one)).toEqual([markOf(other)])
  })

  it('never belongs to two that claim it concurrently', async () => {
    const claims = await Promise.all([one, other].map((id) => claimStore(store, id)))
    expect(claims.filter((others) => others.length === 0).length).toBeLessThan(2)
    const later = await Promise.all([one, other].map((id) => claimStore(store, id)))
    expect(later.filter((others) => others.length === 0).length).toBeLessThan(2)
  })
})

it('never sweeps the store of another database', async () => {
  const server = await testServer()
  const { blobs, db, jobs } = server.deps
  const { id: org } = await makeOrganization(server)
  const unnamed = `${org}/logos/unnamed.png`
  await blobs.put(unnamed, [Buffer.from('x')], { contentType: 'image/png' })
  await blobs.put(markOf(other), [], { contentType: 'application/octet-stream' })
  server.clock.advance(25 * 60 * 60 * 1_000)
  const sweep = async () => {
    await jobs.enqueue(db, sweepLogos, {})
    await server.drain()
  }
  await sweep()
  expect(await blobs.head(unnamed)).toBeDefined()
  expect(server.logged.filter((line) => line.includes(markOf(other)))).toHaveLength(1)
  await blobs.delete(markOf(other))
  await sweep()
  expect(await blobs.head(unnamed)).toBeUndefined()
})
