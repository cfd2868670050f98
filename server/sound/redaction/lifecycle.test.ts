import { buffer } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import { makeConversation, makeKey, makeOrganization, wav } from '../../../test/make.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { depsWith } from '../../../test/support/deps-with.ts'
import { speak, speechRate, toMp3, toWav } from '../../../test/support/recordings.ts'
import { sweepRecordings } from '../../conversations/recordings/jobs.ts'
import { jobList } from '../../worker.ts'
import { measureOlder, measureSound } from '../jobs.ts'

const server = await testServer()
const { db, blobs, jobs } = server.deps

const call = speak([
  { channel: 0, text: 'Hello, this is the clinic, how can I help you today?', startMs: 500 },
  { channel: 1, text: 'My number is five five five, oh one nine nine.', startMs: 5_000 },
  { channel: 0, text: 'Thank you. We will call you this afternoon.', startMs: 10_000 },
])
const recording = toWav(call.channels)

/** The turn with this number. */
const numberTurn = 1

const transcript = (fields: object[] = [{}, { text: 'My number is 555 010 0199.' }, {}]) => ({
  turns: call.lines.map(({ channel, text, startMs, endMs }, index) => ({
    role: channel === 0 ? 'agent' : 'customer',
    text,
    startMs: Math.round(startMs),
    endMs: Math.round(endMs),
    ...fields[index],
  })),
})
const harmless = transcript([])
const untimed = transcript([{}, { text: 'My number is 555 010 0199.', startMs: null, endMs: null }, {}])

type Settings = { soundRedaction?: string | null; originalRecordings?: string; measureSound?: boolean }

const open = async (settings: Settings = { soundRedaction: 'mute' }, fields: object = { transcript: transcript() }) => {
  const { id: org, key } = await makeOrganization(server)
  const change = async (body: object) => {
    const { status, text } = await server.call('PATCH', '/v1/organization', { key, body })
    expect(status, text).toBe(200)
  }
  await change(settings)
  const { id } = await makeConversation(server, key, fields)
  const path = `/v1/conversations/${id}`
  const upload = async (content: Buffer = recording) => {
    const headers = { 'content-type': 'audio/wav' }
    const raw = Uint8Array.from(content)
    const { status, text, body } = await server.call('PUT', `${path}/recording`, { key, raw, headers })
    expect(status, text).toBe(200)
    return body
  }
  const read = async (part = '') => {
    const { status, text, body } = await server.call('GET', path + part, { key })
    expect(status, text).toBe(200)
    return body
  }
  const send = async (given: object, status = 200) => {
    const answer = await server.call('PATCH', path, { key, body: given })
    expect(answer.status, answer.text).toBe(status)
  }
  const files = async () => {
    const keys: string[] = []
    for await (const file of blobs.list(`${org}/recordings/`)) keys.push(file.key)
    return keys.sort()
  }
  const status = async () => (await read()).recording
  const link = () => server.call('GET', `${path}/recording`, { key })
  /** Downloads the recording as a player does. */
  const download = async () => {
    const { recordingUrl } = await read('/transcript')
    const answer = await fetch(recordingUrl)
    expect(answer.status).toBe(200)
    return Buffer.from(await answer.arrayBuffer())
  }
  const openOriginal = (reason: unknown, by = key) =>
    server.call('POST', `${path}/recording/original`, { key: by, body: { reason } })
  return { org, id, key, path, change, upload, read, send, files, status, link, download, openOriginal }
}

const headerBytes = 44
const byteAt = (ms: number) => headerBytes + 4 * Math.round((ms * speechRate) / 1_000)

const [from, to] = [call.lines[numberTurn]?.startMs ?? 0, Math.round(call.lines[numberTurn]?.endMs ?? 0)]
const marginMs = 500

/** Checks that the turn with this number is silent, and that everything else is unchanged. */
const expectMuted = (file: Buffer) => {
  const [start, end] = [byteAt(from - marginMs), byteAt(to + marginMs)]
  expect(file.length).toBe(recording.length)
  expect(file.subarray(start + 4, end - 4).every((byte) => byte === 0)).toBe(true)
  expect(file.subarray(headerBytes, start - 4)).toEqual(recording.subarray(headerBytes, start - 4))
  expect(file.subarray(end + 8)).toEqual(recording.subarray(end + 8))
}

it('is only served after the redacted words were muted, and measured before', async () => {
  const { upload, read, files, status, link, download } = await open()
  expect(await upload()).toMatchObject({ status: 'processing', contentType: 'audio/wav', bytes: recording.length })
  const [original] = await files()
  expect(await status()).toEqual({ status: 'processing', failure: null })
  expect(await link()).toMatchObject({
    status: 409,
    body: {
      message: 'The recording has not been redacted yet, which requires the complete transcript. Try again later.',
    },
  })
  expect((await read('/transcript')).recordingUrl).toBeUndefined()
  await server.drain()
  expect(await status()).toEqual({ status: 'stored', failure: null })
  expectMuted(await download())
  const [redacted, ...others] = await files()
  expect(others).toEqual([])
  expect(redacted).not.toBe(original)
  const sound = await read('/sound')
  expect(sound).toMatchObject({ status: 'measured', speakers: { agent: 0, customer: 1 } })
  expect(sound.redacted).toEqual([{ startMs: from - marginMs, endMs: to + marginMs }])
  // The measures are those of the original.
  expect(sound.measures.talkMs.customer).toBeGreaterThan(1_000)
})

it('follows the text redaction in PHI mode, unless it is disabled', async () => {
  const { org, key, upload, status, change, read } = await open({ soundRedaction: null })
  const enabled = { key: serviceKey, body: { features: { phiMode: true } } }
  expect((await server.call('PATCH', `/v1/organizations/${org}`, enabled)).status).toBe(200)
  await upload()
  expect((await status()).status).toBe('stored')
  await change({ redaction: true })
  const other = await makeConversation(server, key, { transcript: transcript() })
  const uploadTo = (id: string) =>
    server.call('PUT', `/v1/conversations/${id}/recording`, {
      key,
      raw: Uint8Array.from(recording),
      headers: { 'content-type': 'audio/wav' },
    })
  expect((await uploadTo(other.id)).body.status).toBe('processing')
  await server.drain()
  const { body: sound } = await server.call('GET', `/v1/conversations/${other.id}/sound`, { key })
  expect(sound.redacted).toHaveLength(1)
  expect((await read('/sound')).redacted).toBeNull()
  await change({ soundRedaction: 'none' })
  expect((await uploadTo(other.id)).body.status).toBe('stored')
})

it('replaces the words by a tone if the organization prefers that', async () => {
  const { upload, download } = await open({ soundRedaction: 'beep' })
  await upload(await toMp3(call.channels))
  await server.drain()
  const file = await download()
  const tone = file.subarray(byteAt(from + 1_000), byteAt(from + 2_000))
  const loudest = Math.max(...Array.from({ length: tone.length / 2 }, (_, at) => tone.readInt16LE(2 * at)))
  expect(loudest / 0x8000).toBeCloseTo(0.1, 2)
})

it('redacts telephone keys', async () => {
  const withKey = Float32Array.from({ length: 3 * speechRate }, (_, at) => {
    const seconds = at / speechRate
    const wave = (frequency: number) => 0.2 * Math.sin(2 * Math.PI * frequency * seconds)
    return seconds > 1 && seconds < 1.2 ? wave(770) + wave(1_336) : 0
  })
  const { upload, read, download } = await open({ soundRedaction: 'mute' }, { transcript: harmless })
  await upload(toWav([withKey]))
  await server.drain()
  const { redacted, marks } = await read('/sound')
  expect(marks).toMatchObject([{ kind: 'dtmf', digits: null }])
  expect(redacted).toHaveLength(1)
  expect((await download()).subarray(headerBytes).every((byte) => byte === 0)).toBe(true)
})

it('serves a copy of a recording without redacted words', async () => {
  const { upload, read, download } = await open({ soundRedaction: 'mute' }, { transcript: harmless })
  await upload()
  await server.drain()
  expect((await read('/sound')).redacted).toEqual([])
  expect(await download()).toEqual(recording)
})

describe('a recording waits', () => {
  it('for its transcript', async () => {
    const { upload, status, send, download, read } = await open({ soundRedaction: 'mute' }, {})
    await upload()
    await server.drain()
    expect(await status()).toEqual({ status: 'processing', failure: null })
    // Meanwhile, rules can read the recording's measures.
    expect((await read('/sound')).status).toBe('measured')
    await send({ transcript: transcript() })
    await server.drain()
    expectMuted(await download())
  })

  it('for nothing once redaction is off', async () => {
    const { upload, status, change, download } = await open({ soundRedaction: 'mute' }, {})
    await upload()
    await server.drain()
    await change({ soundRedaction: 'none' })
    server.clock.advance(Date.now() - server.clock.now().getTime() + 60 * 60_000)
    await jobs.enqueue(db, measureOlder, {})
    await server.drain()
    expect((await status()).status).toBe('stored')
    expect(await download()).toEqual(recording)
  })

  it('until the conversation is complete', async () => {
    const { upload, status, send, download } = await open(
      { soundRedaction: 'mute' },
      { status: 'in_progress', transcript: harmless },
    )
    await upload()
    await server.drain()
    expect((await status()).status).toBe('processing')
    await send({ status: 'completed', transcript: transcript() })
    await server.drain()
    expectMuted(await download())
  })
})

describe('a recording is refused', () => {
  it('if a turn with redacted words has no times, until it has some', async () => {
    const { upload, status, link, send, files, download, openOriginal } = await open(
      { soundRedaction: 'mute' },
      { transcript: untimed },
    )
    await upload()
    await server.drain()
    const failure = 'It can’t be redacted. Turn 1 (counted from 0) has redacted words, but no times.'
    expect(await status()).toEqual({ status: 'failed', failure })
    expect(await link()).toMatchObject({ status: 409, body: { message: `The recording is not available. ${failure}` } })
    expect(await files()).toHaveLength(1)
    expect((await openOriginal('The customer disputes the call.')).status).toBe(409)
    await send({ transcript: transcript() })
    await server.drain()
    expectMuted(await download())
    expect(await files()).toHaveLength(1)
  })

  it('if its times belong to another recording', async () => {
    const shift = ({ startMs, endMs }: Record<string, number>) => ({
      startMs: Math.round((startMs ?? 0) + 3_500),
      endMs: Math.round((endMs ?? 0) + 3_500),
    })
    const turns = transcript().turns.map((turn) => ({ ...turn, ...shift(turn as unknown as Record<string, number>) }))
    const { upload, status } = await open({ soundRedaction: 'mute' }, { transcript: { turns } })
    await upload()
    await server.drain()
    expect((await status()).failure).toMatch(/The transcript’s times seem to differ from the recording’s by 3.5 s/)
  })

  it('if it cannot be decoded', async () => {
    const { upload, status, link } = await open({ soundRedaction: 'mute' })
    await upload(Buffer.concat([wav(44), Buffer.from('nothing')]))
    await server.drain()
    expect(await status()).toEqual({
      status: 'failed',
      failure: 'It can’t be redacted. The file has no audio.',
    })
    expect((await link()).status).toBe(409)
  })

  it('if the transcript does not contain all speech', async () => {
    const turns = transcript([]).turns.filter((_turn, index) => index === 0)
    const { upload, status } = await open({ soundRedaction: 'mute' }, { transcript: { turns } })
    await upload()
    await server.drain()
    expect((await status()).failure).toMatch(/The transcript doesn’t contain all speech in the recording/)
  })

  it('is served as it is once the organization no longer redacts', async () => {
    const { upload, status, change, send, download } = await open({ soundRedaction: 'mute' }, { transcript: untimed })
    await upload()
    await server.drain()
    await change({ soundRedaction: 'none' })
    await send({ transcript: transcript() })
    await server.drain()
    expect((await status()).status).toBe('stored')
    expect(await download()).toEqual(recording)
  })
})

describe('another transcript', () => {
  it('withdraws the recording until its words are redacted too', async () => {
    const { upload, read, status, send, files, download } = await open(
      { soundRedaction: 'mute' },
      { transcript: harmless },
    )
    await upload()
    await server.drain()
    expect(await download()).toEqual(recording)
    await send({ transcript: transcript() })
    expect((await status()).status).toBe('processing')
    expect((await read('/transcript')).recordingUrl).toBeUndefined()
    await server.drain()
    expectMuted(await download())
    expect(await files()).toHaveLength(1)
    expect((await read('/sound')).status).toBe('measured')
  })

  it('never makes redacted words audible again', async () => {
    const settings = { soundRedaction: 'mute', originalRecordings: 'seal' }
    const { upload, send, download, files, status } = await open(settings)
    await upload()
    await server.drain()
    const before = await files()
    await send({ transcript: harmless })
    await server.drain()
    expect((await status()).status).toBe('stored')
    expectMuted(await download())
    expect(await files()).toEqual(before)
  })

  it('refuses the recording if its words have no times', async () => {
    const { upload, read, send, status, files, link } = await open({ soundRedaction: 'mute' }, { transcript: harmless })
    await upload()
    await server.drain()
    const { recordingUrl } = await read('/transcript')
    expect((await fetch(recordingUrl)).status).toBe(200)
    await send({ transcript: untimed })
    await server.drain()
    expect((await status()).status).toBe('failed')
    expect((await link()).status).toBe(409)
    expect((await fetch(recordingUrl)).status).toBe(404)
    expect(await files()).toHaveLength(1)
    expect((await read('/sound')).status).toBe('measured')
  })
})

describe('a sealed original', () => {
  const settings = { soundRedaction: 'mute', originalRecordings: 'seal' }
  const reason = 'The customer disputes what was said, ticket 4711.'

  it('is opened by admins who give a reason, which the audit log shows', async () => {
    const { id, key, upload, files, openOriginal, download } = await open(settings)
    await upload()
    expect((await openOriginal(reason)).status).toBe(409)
    await server.drain()
    expectMuted(await download())
    expect(await files()).toHaveLength(2)
    const member = await makeKey(server, key, 'member')
    expect((await openOriginal(reason, member.key)).status).toBe(403)
    for (const given of [undefined, '', 'too short', ' '.repeat(20)])
      expect((await openOriginal(given)).status).toBe(400)
    const events = async () =>
      (await server.call('GET', '/v1/audit-events?action=conversation.openOriginal', { key })).body.data
    expect(await events()).toEqual([])
    const admin = await makeKey(server, key, 'admin')
    const { status, body } = await openOriginal(reason, admin.key)
    expect(status).toBe(200)
    expect(await events()).toMatchObject([{ reason, targets: [{ type: 'conversation', id }], actor: { kind: 'key' } }])
    const answer = await fetch(body.url)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(recording)
    server.clock.advance(5 * 60_000 + 1)
    expect((await fetch(body.url)).status).toBe(410)
  })

  it('is deleted with the conversation or when the recording is replaced', async () => {
    const { key, path, upload, files } = await open(settings)
    await upload()
    await server.drain()
    await upload()
    await server.drain()
    expect(await files()).toHaveLength(2)
    expect((await server.call('DELETE', path, { key })).status).toBe(204)
    await server.drain()
    expect(await files()).toEqual([])
  })

  it.each(['none', 'mute'])('is never served, even if redaction is: %s', async (soundRedaction) => {
    const { upload, change, send, status, download } = await open(settings)
    await upload()
    await server.drain()
    await send({ transcript: untimed })
    await server.drain()
    expect((await status()).status).toBe('failed')
    await change({ soundRedaction })
    await send({ transcript: harmless })
    await server.drain()
    expect((await status()).status).toBe('stored')
    expectMuted(await download())
  })

  it('stays when unreferenced files are deleted', async () => {
    const { upload, files } = await open(settings)
    await upload()
    await server.drain()
    const before = await files()
    server.clock.advance(Date.now() - server.clock.now().getTime() + 25 * 60 * 60 * 1_000)
    await jobs.enqueue(db, sweepRecordings, {})
    await server.drain()
    expect(await files()).toEqual(before)
  })

  it('does not exist if originals are deleted', async () => {
    const { upload, openOriginal } = await open()
    await upload()
    await server.drain()
    expect((await openOriginal(reason)).status).toBe(409)
  })
})

it('redacts recordings that are not measured', async () => {
  const { upload, read, download } = await open({ soundRedaction: 'mute', measureSound: false })
  await upload()
  await server.drain()
  expectMuted(await download())
  expect(await read('/sound')).toMatchObject({
    status: 'none',
    reason: 'The recording was redacted without being measured.',
    redacted: [{ startMs: expect.any(Number) }],
  })
})

it('keeps the measures of the original when recordings are measured again', async () => {
  const { key, upload, read } = await open()
  await upload()
  await server.drain()
  const before = await read('/sound')
  const { body: run } = await server.call('POST', '/v1/sound-runs', { key, body: { again: true } })
  expect(run.total).toBe(0)
  await server.drain()
  expect(await read('/sound')).toEqual(before)
})

it('loses nothing if the process dies after writing the redacted file', async () => {
  const { upload, files, status, download } = await open()
  await upload()
  const [original] = await files()
  let dying = true
  const put: typeof blobs.put = async (...args) => {
    const stored = await blobs.put(...args)
    if (dying) throw new Error('the process died')
    return stored
  }
  const dyingDeps = depsWith(server.deps, { blobs: { ...blobs, put } })
  const outcomes = await jobs.drain([measureSound], dyingDeps, { allowFailures: true })
  expect(outcomes.map(({ result }) => result)).toContain('retried')
  expect((await status()).status).toBe('processing')
  const stored = await blobs.get(original ?? '')
  expect(stored && (await buffer(stored.stream)).equals(recording)).toBe(true)
  dying = false
  await jobs.drain(jobList, server.deps, { delayed: true })
  expectMuted(await download())
  expect(await files()).not.toContain(original)
})

it('is retried if the storage fails, however long it takes', async () => {
  const { upload, status, download } = await open()
  await upload()
  const slow = new AbortController()
  const original = AbortSignal.timeout
  const timeout = vi
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation((ms) => (ms === 5 * 60_000 ? slow.signal : original.call(AbortSignal, ms)))
  try {
    const put: typeof blobs.put = () => {
      slow.abort()
      throw new Error('the storage is unavailable')
    }
    await jobs.drain([measureSound], depsWith(server.deps, { blobs: { ...blobs, put } }), { allowFailures: true })
  } finally {
    timeout.mockRestore()
  }
  expect(await status()).toEqual({ status: 'processing', failure: null })
  await jobs.drain(jobList, server.deps, { delayed: true })
  expectMuted(await download())
})

it('redacts nothing twice if the transcript changes meanwhile', async () => {
  const { upload, send, files, download } = await open({ soundRedaction: 'mute' }, { transcript: harmless })
  await upload()
  const put: typeof blobs.put = async (...args) => {
    const stored = await blobs.put(...args)
    await send({ transcript: transcript() })
    return stored
  }
  await jobs.drain([measureSound], depsWith(server.deps, { blobs: { ...blobs, put } }), { allowFailures: true })
  await server.drain()
  expectMuted(await download())
  expect(await files()).toHaveLength(1)
})
