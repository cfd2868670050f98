import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeConversation, makeOrganization, wav } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { countWaiting } from '../../../test/support/count-waiting.ts'
import { depsWith } from '../../../test/support/deps-with.ts'
import { orgIdOf } from '../../platform/ids.ts'
import { jobList } from '../../worker.ts'
import { eraseConversations } from '../erasure/erase.ts'
import { deleteRecording, fetchRecording, sweepRecordings } from './jobs.ts'

const server = await testServer({
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
  EARSHOT_LIMITS: 'recordingBytes=100000',
})
const { call } = server
const { db, jobs, blobs } = server.deps

/** A server for recordings. Each test defines its responses. */
let answer: (request: IncomingMessage, response: ServerResponse) => void
let asked: string[] = []
const outside = createServer((request, response) => {
  asked.push(request.url ?? '')
  answer(request, response)
})
await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve))
afterAll(() => new Promise((resolve) => outside.close(resolve)))
const origin = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`

const sendWav = (_request: IncomingMessage, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(wav(50_044))
}

let org: Awaited<ReturnType<typeof makeOrganization>>
let key: string
beforeEach(async () => {
  org = await makeOrganization(server)
  key = org.key
  asked = []
  answer = sendWav
})

const recordingOf = async (id: string) => (await call('GET', `/v1/conversations/${id}`, { key })).body.recording
const filesOf = async (id: string): Promise<string[]> => {
  const keys: string[] = []
  for await (const { key: file } of blobs.list(`${id}/recordings/`)) keys.push(file)
  return keys
}
const runAll = () => jobs.drain(jobList, server.deps, { delayed: true, allowFailures: true })
const withRecording = (path: string) => makeConversation(server, key, { recordingUrl: origin + path })
const tell = (path: string, fields: object) =>
  call('POST', '/v1/conversations', {
    key,
    body: {
      agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
      channel: 'call',
      startedAt: '2026-11-20T09:00:00.000Z',
      recordingUrl: origin + path,
      ...fields,
    },
  })

describe('the recording of a new conversation', () => {
  it('is downloaded, stored with the type of its content, and served', async () => {
    const { id, recording } = await withRecording('/call.wav?signature=1')
    expect(recording).toEqual({ status: 'pending', failure: null })
    const early = await call('GET', `/v1/conversations/${id}/recording`, { key })
    expect(early).toMatchObject({ status: 409, body: { message: expect.stringContaining('being downloaded') } })
    await server.drain()
    expect(await recordingOf(id)).toEqual({ status: 'stored', failure: null })
    expect(asked).toEqual(['/call.wav?signature=1'])
    const url = (await call('GET', `/v1/conversations/${id}/recording`, { key })).headers.get('location') ?? ''
    const file = await fetch(url)
    expect(file.headers.get('content-type')).toBe('audio/wav')
    expect((await file.arrayBuffer()).byteLength).toBe(50_044)
  })

  it('is downloaded through redirects', async () => {
    answer = (request, response) => {
      const step = Number(request.url?.slice(1))
      if (step === 5) return sendWav(request, response)
      response.writeHead(302, { location: `/${step + 1}` }).end()
    }
    const { id } = await withRecording('/0')
    await server.drain()
    expect(asked).toHaveLength(6)
    expect(await recordingOf(id)).toEqual({ status: 'stored', failure: null })
  })

  it('is retried until it exists', async () => {
    const { id } = await withRecording('/call.wav')
    answer = (_request, response) => response.writeHead(404).end('not yet')
    await jobs.drain([fetchRecording], server.deps, { allowFailures: true })
    expect(await recordingOf(id)).toEqual({ status: 'pending', failure: null })
    answer = sendWav
    await runAll()
    expect(await recordingOf(id)).toEqual({ status: 'stored', failure: null })
  })

  it.each<[string, RegExp, typeof answer]>([
    ['a status of failure', /status 403/, (_request, response) => void response.writeHead(403).end('denied')],
    [
      'no audio',
      /other than audio/,
      (_request, response) => void response.end('<html><body>Your link expired.</body></html>'),
    ],
    ['nothing', /empty response/, (_request, response) => void response.end()],
    ['too much', /size limit/, (_request, response) => void response.end(wav(100_001))],
    [
      'half of it',
      /lost/,
      (_request, response) => {
        response.writeHead(200, { 'content-length': 50_044 }).write(wav(10_000), () => response.destroy())
      },
    ],
    [
      'redirects without end',
      /too many times/,
      (_request, response) => void response.writeHead(302, { location: '/' }).end(),
    ],
    [
      'a redirect to a private network',
      /not a public/,
      (_request, response) => {
        response.writeHead(302, { location: 'http://10.0.0.1/' }).end()
      },
    ],
  ])(
    'with a response of %s fails with a reason, stores nothing, and keeps its conversation',
    async (_what, words, answering) => {
      answer = answering
      const { id } = await withRecording('/secret-of-the-address')
      await runAll()
      const recording = await recordingOf(id)
      expect(recording).toEqual({ status: 'failed', failure: expect.stringMatching(words) })
      expect(recording.failure).not.toContain('secret-of-the-address')
      expect(recording.failure).not.toContain('127.0.0.1')
      const asking = await call('GET', `/v1/conversations/${id}/recording`, { key })
      expect(asking).toMatchObject({ status: 409, body: { message: expect.stringMatching(words) } })
      expect(await filesOf(org.id)).toEqual([])
      expect(server.logged.join('')).not.toContain('secret-of-the-address')
    },
  )

  it('is downloaded again after a failure when it is sent again, or when the operator retries', async () => {
    answer = (_request, response) => response.writeHead(500).end()
    const { id } = await withRecording('/call.wav')
    await runAll()
    expect((await recordingOf(id)).status).toBe('failed')

    answer = sendWav
    const [dead] = (await jobs.listDead({ limit: 1 })).map((job) => job.id)
    await jobs.retryDead([dead ?? ''])
    await runAll()
    expect((await recordingOf(id)).status).toBe('stored')

    answer = (_request, response) => response.writeHead(500).end()
    const told = { externalId: 'told-twice' }
    const failing = await tell('/call.wav', told)
    await runAll()
    expect((await recordingOf(failing.body.id)).status).toBe('failed')
    answer = sendWav
    expect(await tell('/call.wav', told)).toMatchObject({
      status: 200,
      body: { id: failing.body.id, recording: { status: 'pending', failure: null } },
    })
    await runAll()
    expect((await recordingOf(failing.body.id)).status).toBe('stored')
  })

  it('is downloaded once, however often its URL is sent', async () => {
    const told = { externalId: 'repeated' }
    const { id } = (await tell('/a.wav?token=1', told)).body
    await tell('/a.wav?token=2', told)
    await server.drain()
    expect(asked).toEqual(['/a.wav?token=1'])
    // The stored recording stays even though the provider sends its URL again.
    await tell('/b.wav', told)
    await server.drain()
    expect(asked).toHaveLength(1)
    expect(await filesOf(org.id)).toHaveLength(1)
    expect((await recordingOf(id)).status).toBe('stored')
  })

  it('uses a new URL that is sent before the old one was downloaded', async () => {
    const { id } = await withRecording('/old.wav')
    const body = { recordingUrl: `${origin}/new.wav` }
    expect((await call('PATCH', `/v1/conversations/${id}`, { key, body })).status).toBe(200)
    await server.drain()
    expect(asked).toEqual(['/new.wav'])
    expect(await filesOf(org.id)).toHaveLength(1)
  })

  it.each(['replaced by an upload', 'erased'])('that is %s during the download leaves no file', async (how) => {
    const { id } = await withRecording('/slow.wav')
    const arrived = Promise.withResolvers<ServerResponse>()
    answer = (_request, response) => arrived.resolve(response)
    const draining = runAll()
    const response = await arrived.promise
    if (how === 'erased') expect((await call('DELETE', `/v1/conversations/${id}`, { key })).status).toBe(204)
    else {
      const headers = { 'content-type': 'audio/wav' }
      const uploaded = await call('PUT', `/v1/conversations/${id}/recording`, { key, raw: wav(2_044), headers })
      expect(uploaded.status).toBe(200)
    }
    response.writeHead(200).end(wav(50_044))
    await draining
    await runAll()
    const files = await filesOf(org.id)
    if (how === 'erased') expect(files).toEqual([])
    else {
      expect(files).toHaveLength(1)
      expect(await blobs.head(files[0] ?? '')).toMatchObject({ bytes: 2_044 })
    }
  })

  it('that arrives after its erasure listed the files leaves none', async () => {
    const { id } = await withRecording('/slow.wav')
    const arrived = Promise.withResolvers<ServerResponse>()
    answer = (_request, response) => arrived.resolve(response)
    const fetching = jobs.drain([fetchRecording], server.deps)
    const response = await arrived.promise
    const enqueueMany: typeof jobs.enqueueMany = async (trx, job, payloads) => {
      if (job.name === deleteRecording.name) {
        response.writeHead(200).end(wav(50_044))
        const isThrough = async () =>
          (await recordingOf(id)).status === 'stored' || (await countWaiting(db, 'select')) === 1
        await vi.waitUntil(isThrough, { timeout: 10_000 })
      }
      return jobs.enqueueMany(trx, job, payloads)
    }
    await db
      .transaction()
      .execute((trx) =>
        eraseConversations(depsWith(server.deps, { jobs: { ...jobs, enqueueMany } }), trx, orgIdOf(org.id), [id]),
      )
    await fetching
    await runAll()
    expect(await filesOf(org.id)).toEqual([])
  })

  it('is stored by the next attempt when the first dies between its file and its commit', async () => {
    const { id } = await withRecording('/call.wav')
    let died = false
    const put: typeof blobs.put = async (...args) => {
      const result = await blobs.put(...args)
      if (died) return result
      died = true
      throw new Error('the process died')
    }
    await jobs.drain(jobList, { ...server.deps, blobs: { ...blobs, put } }, { delayed: true, allowFailures: true })
    expect(asked).toHaveLength(2)
    expect(await recordingOf(id)).toEqual({ status: 'stored', failure: null })
    // The sweep deletes the file of the first download.
    expect(await filesOf(org.id)).toHaveLength(2)
    server.clock.advance(25 * 60 * 60 * 1_000)
    await jobs.enqueue(db, sweepRecordings, {})
    await server.drain()
    expect(await filesOf(org.id)).toHaveLength(1)
    expect((await call('GET', `/v1/conversations/${id}/recording`, { key })).status).toBe(302)
  })
})
