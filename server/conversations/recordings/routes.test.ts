import { createHmac } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversation, makeOrganization, makeRecording, wav } from '../../../test/make.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { recordingUrlOf } from './address.ts'
import { sweepRecordings } from './jobs.ts'
import { findRecording } from './queries.ts'

const limit = 3 * 1024 * 1024
const server = await testServer({ EARSHOT_LIMITS: `recordingBytes=${limit}` })
const { call } = server
const { db, blobs, jobs, config } = server.deps

let org: Awaited<ReturnType<typeof makeOrganization>>
let key: string
beforeEach(async () => {
  org = await makeOrganization(server)
  key = org.key
})

const pathOf = (id: string) => `/v1/conversations/${id}/recording`
const upload = (id: string, raw: string | Uint8Array<ArrayBuffer>, type = 'audio/wav') =>
  call('PUT', pathOf(id), { key, raw, headers: { 'content-type': type } })

/** Lists the organization's recording files. */
const filesOf = async (id: string): Promise<string[]> => {
  const keys: string[] = []
  for await (const { key: file } of blobs.list(`${id}/recordings/`)) keys.push(file)
  return keys
}

describe('an upload', () => {
  it('is stored with the type of its content, and served to players in ranges', async () => {
    const { id } = await makeConversation(server, key)
    const file = wav(200_044)
    const answer = await upload(id, file, 'audio/mpeg; rate=8000')
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      conversationId: id,
      status: 'stored',
      contentType: 'audio/wav',
      bytes: file.length,
      createdAt: expect.stringMatching(/Z$/),
    })

    const redirect = await call('GET', pathOf(id), { key })
    expect(redirect.status).toBe(302)
    expect(redirect.headers.get('cache-control')).toBe('no-store')
    const whole = await fetch(`${server.origin}${pathOf(id)}`, { headers: { authorization: `Bearer ${key}` } })
    expect(whole.status).toBe(200)
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'audio/wav',
      'content-disposition': 'inline',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      // Recordings can be erased, so no cache may store a copy.
      'cache-control': 'no-store',
    })
    expect(Buffer.from(await whole.arrayBuffer())).toEqual(Buffer.from(file))

    const headers = { authorization: `Bearer ${key}`, range: 'bytes=8-11' }
    const part = await fetch(`${server.origin}${pathOf(id)}`, { headers })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe(`bytes 8-11/${file.length}`)
    expect(await part.text()).toBe('WAVE')
    expect((await call('GET', `/v1/conversations/${id}`, { key })).body.recording).toEqual({
      status: 'stored',
      failure: null,
    })
  })

  it('replaces the former one, with its URL and file', async () => {
    const { id } = await makeRecording(server, key)
    const before = (await call('GET', pathOf(id), { key })).headers.get('location') ?? ''
    const [file] = await filesOf(org.id)
    expect((await upload(id, wav(2_044))).body.bytes).toBe(2_044)
    await server.drain()
    expect((await fetch(before)).status).toBe(404)
    const after = await filesOf(org.id)
    expect(after).toHaveLength(1)
    expect(after).not.toContain(file)
  })

  it('of 3 MiB is accepted, and one more byte is not, with or without Content-Length', async () => {
    const { id } = await makeConversation(server, key)
    expect((await upload(id, wav(limit))).status).toBe(200)
    const tooMuch = await upload(id, wav(limit + 1))
    expect(tooMuch).toMatchObject({ status: 413, body: { error: 'payload too large' } })
    const inPieces = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'audio/wav', 'transfer-encoding': 'chunked' }
      const sent = request(`${server.origin}${pathOf(id)}`, { method: 'PUT', headers }, (answer) => {
        resolve(answer.statusCode)
        answer.resume()
      })
      // The server responds before it has received the whole request, and closes the connection.
      sent.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error)
      })
      sent.end(wav(limit + 1))
    })
    expect(inPieces).toBe(413)
    expect(await filesOf(org.id)).toHaveLength(1)
  })

  it.each<[string, string | Uint8Array<ArrayBuffer>, string, number]>([
    ['no audio', '<!doctype html><p>Hello, I am no sound', 'audio/wav', 415],
    ['of another type', wav(), 'application/octet-stream', 415],
    ['JSON', '{"a":1}', 'application/json', 415],
    ['empty', '', 'audio/wav', 400],
  ])('that is %s is rejected and leaves nothing', async (_what, raw, type, status) => {
    const { id } = await makeConversation(server, key)
    expect((await upload(id, raw, type)).status).toBe(status)
    expect((await call('GET', pathOf(id), { key })).status).toBe(404)
    expect(await filesOf(org.id)).toEqual([])
  })

  it('that is interrupted leaves nothing, and is not an error of the service', async () => {
    const { id } = await makeConversation(server, key)
    const logged = server.logged.length
    const incoming = () => readdir(join(config.dataDir, 'blobs', '.incoming'))
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'audio/wav', 'content-length': '100000' }
    const sent = request(`${server.origin}${pathOf(id)}`, { method: 'PUT', headers })
    sent.on('error', () => {})
    sent.write(wav(50_000))
    await expect.poll(incoming).toHaveLength(1)
    sent.destroy()
    await expect.poll(incoming).toEqual([])
    expect((await call('GET', pathOf(id), { key })).status).toBe(404)
    expect(await filesOf(org.id)).toEqual([])
    expect(server.logged.slice(logged).join('')).not.toContain('a request failed')
  })

  it('to an unknown conversation or one of another organization stores nothing', async () => {
    const stranger = await makeOrganization(server)
    const { id } = await makeConversation(server, stranger.key)
    expect((await upload(id, wav())).status).toBe(404)
    expect(await filesOf(org.id)).toEqual([])
    expect(await filesOf(stranger.id)).toEqual([])
  })
})

describe('in PHI mode', () => {
  it('the URL is signed for five minutes, and getting one requires a key', async () => {
    const { id } = await makeRecording(server, key)
    const body = { features: { phiMode: true } }
    expect((await call('PATCH', `/v1/organizations/${org.id}`, { key: serviceKey, body })).status).toBe(200)
    const redirect = await call('GET', pathOf(id), { key })
    expect(redirect.status).toBe(302)
    const url = redirect.headers.get('location') ?? ''
    const part = await fetch(url, { headers: { range: 'bytes=0-3' } })
    expect(part.status).toBe(206)
    expect(await part.text()).toBe('RIFF')
    expect(part.headers.get('cache-control')).toBe('no-store')
    expect(part.headers.get('content-disposition')).toContain(`${id}.wav`)
    server.clock.advance(5 * 60_000 + 1)
    expect((await fetch(url)).status).toBe(410)
  })
})

describe('the URL for players', () => {
  it('lives for at most a day outside PHI mode, requires a key in PHI mode, and is missing before the recording is stored', async () => {
    const { id } = await makeRecording(server, key)
    const recording = await findRecording(db, org.organization.id, id)
    const open = recordingUrlOf(server.deps, { phiMode: false }, id, recording)
    expect(open).toMatch(new RegExp(`^${server.origin}/files/`))
    expect(open).not.toContain('.wav')
    const hourMs = 60 * 60 * 1_000
    server.clock.advance(22 * hourMs)
    expect((await fetch(open ?? '')).status).toBe(200)
    server.clock.advance(2 * hourMs)
    expect((await fetch(open ?? '')).status).toBe(410)
    const fresh = (await call('GET', `/v1/conversations/${id}/transcript`, { key })).body.recordingUrl
    expect((await fetch(fresh)).status).toBe(200)
    expect(recordingUrlOf(server.deps, { phiMode: true }, id, recording)).toBe(`${server.origin}${pathOf(id)}`)
    expect(recordingUrlOf(server.deps, { phiMode: false }, id, undefined)).toBeUndefined()
    const pending = { status: 'pending', blobKey: null }
    expect(recordingUrlOf(server.deps, { phiMode: true }, id, pending)).toBeUndefined()
  })

  it('stops working while the organization is suspended, and when the conversation is erased', async () => {
    const { id } = await makeRecording(server, key)
    const { recordingUrl } = (await call('GET', `/v1/conversations/${id}/transcript`, { key })).body
    const status = async () => (await fetch(recordingUrl)).status
    expect(await status()).toBe(200)
    await call('POST', `/v1/organizations/${org.id}/suspend`, { key: serviceKey })
    expect(await status()).toBe(403)
    await call('POST', `/v1/organizations/${org.id}/reactivate`, { key: serviceKey })
    expect(await status()).toBe(200)
    expect((await call('DELETE', `/v1/conversations/${id}`, { key })).status).toBe(204)
    await server.drain()
    expect(await status()).toBe(404)
  })

  it('from an earlier version without an expiry no longer works', async () => {
    const { id } = await makeRecording(server, key)
    const recording = await findRecording(db, org.organization.id, id)
    const link = { key: recording?.blobKey, expiresAt: null, disposition: 'inline', erasable: true }
    const text = Buffer.from(JSON.stringify(link)).toString('base64url')
    const linkKey = server.deps.secrets.derive('file links')
    const token = `${text}.${createHmac('sha256', linkKey).update(text).digest('base64url')}`
    expect((await fetch(`${server.origin}/files/${token}`)).status).toBe(410)
  })

  it('identifies its file with an ETag, so that a player only continues in the same one', async () => {
    const { id } = await makeRecording(server, key)
    const { recordingUrl } = (await call('GET', `/v1/conversations/${id}/transcript`, { key })).body
    const whole = await fetch(recordingUrl)
    const etag = whole.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{22}"$/)
    const bytes = Buffer.from(await whole.arrayBuffer()).length
    const part = (tag: string) => fetch(recordingUrl, { headers: { range: 'bytes=0-3', 'if-range': tag } })
    expect((await part(etag)).status).toBe(206)
    const other = await part('"another"')
    expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, bytes])
    expect((await fetch(recordingUrl, { headers: { 'if-none-match': etag } })).status).toBe(304)
  })
})

describe('a file without a recording, left by a crash', () => {
  it('is deleted a day later, and other files stay', async () => {
    const { id } = await makeRecording(server, key)
    const orphan = `${org.id}/recordings/orphan`
    await blobs.put(orphan, [wav()], { contentType: 'audio/wav' })
    const sweep = async () => {
      await jobs.enqueue(db, sweepRecordings, {})
      await server.drain()
    }
    server.clock.advance(Date.now() - server.clock.now().getTime())
    await sweep()
    expect(await blobs.head(orphan)).toBeDefined()
    server.clock.advance(25 * 60 * 60 * 1_000)
    await sweep()
    expect(await blobs.head(orphan)).toBeUndefined()
    expect((await call('GET', pathOf(id), { key })).status).toBe(302)
    expect(await filesOf(org.id)).toHaveLength(1)
  })
})
